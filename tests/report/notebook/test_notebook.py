"""What notebooks show: every type users hold displays itself, figures hold the numbers of the package."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from hostile_names import NAMES, renamed
from tauform.errors import ShapeError, UnknownNameError
from tauform.report.notebook.plots import FIT_PLOTS
from tauform.report.notebook.summaries import SUMMARIES
from tools.simulated_logs import simulated_log


@cache
def fit() -> tf.Fit:
    """A two-link arm with friction, identified from one simulated log and judged on another."""
    robot = tf.load("two_link")
    values = np.array(robot.parameters)
    robot.layout.by_joint(values)[:, 1:3] = (2.0, 1.0), (3.0, 1.5)
    real = robot.with_parameters(values)
    return tf.identify(robot, simulated_log(real, 1), validate=simulated_log(real, 2))


@cache
def held() -> dict[str, Any]:
    """One value of each type that a notebook may show."""
    robot = tf.load("two_link")
    program = tf.generate(robot, "inverse_dynamics")
    return {
        "Robot": robot,
        "Recording": simulated_log(robot, 3),
        "RecordingSummary": tf.inspect_recording(robot, simulated_log(robot, 3)),
        "Fit": fit(),
        "Program": program,
        "Kernel": tf.compile(program),
        "ClosedFormModel": tf.derive(robot),
        "BaseParameters": tf.base_parameters(robot),
        "Reduction": tf.reduce(robot, tolerance=0.05, n_fresh=2000),
        "MultiRate": tf.multirate(robot),
        "Motion": tf.simulate(robot, np.zeros(2), np.zeros(2), None, 0.1, step=0.01),
    }


class Cells(HTMLParser):
    """Texts of a piece of HTML, and whether its tags close."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("br", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("kind", [kind.__name__ for kind in SUMMARIES])
def test_every_type_displays_itself(kind: str) -> None:
    value = held()[kind]
    parsed = Cells(value._repr_html_())
    assert not parsed.open
    assert len(parsed.texts) > 4
    assert "<script" not in value._repr_html_()


def test_numbers_stand_right_and_rounding_is_told_as_zero() -> None:
    """A joint that stands still moves by 1e-17 in a simulation; its heading stands where its numbers do."""
    still = held()["Motion"]
    still = replace(still, q=still.q * 1e-17)
    html = still._repr_html_()
    assert "e-17" not in html
    assert '<td style="text-align: left">joint1</td><td style="text-align: right">0</td>' in html
    assert html.count('<th style="text-align: right">') == 4


def test_a_fit_begins_with_its_verdict() -> None:
    texts = " ".join(Cells(fit()._repr_html_()).texts)
    assert fit().verdict.grade in texts
    assert f"{100 * fit().unseen.total:.2g} %" in texts


def test_names_stay_text() -> None:
    robot = renamed(tf.load("two_link"), NAMES["script"])
    assert "<script" not in robot._repr_html_()


@pytest.mark.parametrize("what", FIT_PLOTS)
def test_figures_of_a_fit(what: str) -> None:
    figure = fit().plot(what)
    assert figure.data
    assert all(len(trace.x) == len(trace.y) > 0 for trace in figure.data)
    assert figure.layout.title.text


def test_numbers_beside_bars_have_room() -> None:
    """Plotly would shrink them with their bars; margins and legend take a third of the height."""
    figure = fit().plot("sensitivity")
    bars = sum(len(trace.y) for trace in figure.data)
    assert {(trace.constraintext, trace.textfont.size) for trace in figure.data} == {("none", 10)}
    assert (2 / 3) * figure.layout.height / bars >= 10


def test_the_drawn_torques_are_those_of_the_verdict() -> None:
    figure = fit().plot()
    panels = len(figure.layout.updatemenus[0].buttons)
    assert panels == 2
    curves = [
        {trace.name: np.array(trace.y, dtype=float) for trace in part} for part in np.split(np.array(figure.data), 2)
    ]
    error = sum(((c["measured"] - c["predicted"]) ** 2).sum() for c in curves)
    torque = sum((c["measured"] ** 2).sum() for c in curves)
    assert np.sqrt(error / torque) == pytest.approx(fit().unseen.total, rel=0.05)


def test_recordings_motions_reductions_and_breakdowns_draw_themselves() -> None:
    robot, motion = held()["Robot"], held()["Motion"]
    figure = motion.plot()
    labels = [button.label for button in figure.layout.updatemenus[0].buttons]
    assert labels[0].startswith("position")
    assert labels[-1].startswith("energy")
    np.testing.assert_allclose(np.array(figure.data[0].y, dtype=float), motion.q[:, 0], atol=1e-5)
    assert held()["Recording"].plot().data
    tried = held()["Reduction"].plot().data
    *points, limit = ([float(x) for x in trace.x] for trace in tried)
    assert limit[0] <= min(map(min, points)) <= max(map(max, points)) <= limit[-1]
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 30, 2))
    parts = tf.derive(robot).bind(robot).breakdown(q, qd, qdd).plot()
    total = next(trace for trace in parts.data if trace.name == "total")
    np.testing.assert_allclose(
        np.array(total.y, dtype=float), tf.inverse_dynamics(robot, q, qd, qdd)[:, 0], rtol=1e-4, atol=1e-4
    )


def test_a_robot_is_viewed_with_a_motion(tmp_path: Path) -> None:
    robot, motion = held()["Robot"], held()["Motion"]
    page = robot.view(motion).save(tmp_path / "robot.html").read_text(encoding="utf-8")
    assert "robot-view" in page
    played = re.search(r'"motion":\{"t":\[0(?:\.0)?,0\.01,', page)
    assert played
    assert "srcdoc=" in robot.view()._repr_html_()
    with pytest.raises(ShapeError, match="motion"):
        robot.view(np.zeros((4, 3)))


def test_a_figure_that_does_not_exist_is_refused() -> None:
    with pytest.raises((UnknownNameError, tf.errors.TauformError), match="frict"):
        fit().plot("frictions")
