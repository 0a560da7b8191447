"""Texts are escaped, numbers are aligned and short, and data cannot end the script that holds it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tauform.report.html.document import Section, document
from tauform.report.html.elements import Marked, data_script, facts, rounded, shown, table
from tauform.report.html.plot import Panel, Plot, Series, short_names
from tauform.report.notebook.plotly_figure import plotly_figure

EVIL = "</script><script>alert(1)</script> & \"'"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        ("text", "text"),
        (3, "3"),
        (np.int64(3), "3"),
        (True, "True"),
        (1.23456789, "1.235"),
        (-0.0, "0"),
        (np.inf, "–"),
        (np.array([0.5, 2.0]), "0.5  2"),
        (Marked("good", "good"), "good"),
    ],
)
def test_values_as_text(value: object, expected: str) -> None:
    assert shown(value) == expected


def test_curves_of_one_figure_differ_without_colours() -> None:
    """Eight joints by their order alone; who chose a style or a colour keeps it. Pages and notebooks draw the same."""
    joints = [Series(f"joint {j}", [0, 1], style="thin") for j in range(8)]
    chosen = Series("limits", [1, 1], style="dashed", colour=7)
    plot = Plot("Residuals", [Panel("", [*joints, chosen])], "time [s]", "torque [N m]", x=[0, 1])
    data = json.loads(re.findall(r"<script[^>]*>(.*?)</script>", plot.html, re.DOTALL)[0])
    drawn = [(s["line"], s["symbol"]) for s in data["panels"][0]["series"]]
    assert len({line["dash"] for line, _ in drawn[:8]}) == len({symbol for _, symbol in drawn[:8]}) == 8
    assert drawn[8][0]["dash"] == "dash"
    notebook = [(trace.line.to_plotly_json(), trace.marker.symbol) for trace in plotly_figure(plot).data]
    assert [({k: line[k] for k in ("width", "dash")}, symbol) for line, symbol in notebook] == drawn


def test_names_lose_the_words_that_they_share() -> None:
    assert short_names(["panda_joint1", "panda_joint2"]) == ["joint1", "joint2"]
    assert short_names(["shoulder_pan_joint", "elbow_joint"]) == ["shoulder_pan", "elbow"]
    assert short_names(["lwr_0_joint", "lwr_1_joint"]) == ["joint 0", "joint 1"]
    assert short_names(["joint1", "joint2"]) == ["joint1", "joint2"]
    assert short_names(["a", "a_b"]) == ["a", "a_b"]
    assert short_names(["arm_joint"]) == ["arm_joint"]


def test_text_stands_left_and_numbers_right() -> None:
    html = table(("name", "value", "unit"), [("m_1", 1.0, "kg")], text_columns=(0, 2))
    assert '<td data-label="name">m_1</td>' in html
    assert '<td class="number" data-label="value">1</td>' in html
    assert '<td data-label="unit">kg</td>' in html


def test_a_marked_cell_has_its_tone() -> None:
    assert '<td class="number bad" data-label="b">9</td>' in table(("a", "b"), [("x", Marked("9", "bad"))])
    assert '<dd class="good">yes</dd>' in facts({"fits": Marked("yes", "good")})


@pytest.mark.parametrize(
    "html",
    [
        table((EVIL,), [(EVIL,)], caption=EVIL),
        facts({EVIL: EVIL}),
        data_script({EVIL: EVIL}),
        Plot(EVIL, [Panel(EVIL, [Series(EVIL, [1.0])])], x=[0.0], xlabel=EVIL, ylabel=EVIL).html,
    ],
)
def test_no_text_becomes_markup(html: str) -> None:
    assert "<script>alert" not in html
    assert html.count("</script>") == html.count("<script")


def test_a_title_is_escaped() -> None:
    page = document(EVIL, EVIL, [Section("a", EVIL, "")])
    assert "<script>alert" not in page


def test_data_reads_back_short_and_finite() -> None:
    text = data_script({"y": np.array([1 / 3, np.nan, np.inf]), "n": 4})
    match = re.search(r">(.*)</script>", text)
    assert match
    assert json.loads(match.group(1)) == {"y": [0.333333, None, None], "n": 4}


def test_digits_are_significant_ones() -> None:
    assert rounded([1.23456789e-9, 123456.789]) == [1.23457e-9, 123457.0]
