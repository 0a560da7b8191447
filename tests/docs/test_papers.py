"""docs/papers.md: each row's call is made, and its result is the one that stands there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from example_scripts import example
from tools import linearization_counting, operation_counting, paper_figures
from tools.operation_counting import Tally

PAGE = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
ROW = re.compile(r"^\| (?P<item>[^|]+) \| `(?P<call>[^`]+)` \| (?P<paper>[^|]*) ?\| (?P<ours>[^|]+) \|", re.MULTILINE)
ROWS = [match.groupdict() for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


@cache
def names() -> dict[str, Any]:
    """What the page's block of code defines, and the tools that count."""
    block = re.search(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert block is not None
    space: dict[str, Any] = {"counting": operation_counting, "linearizing": linearization_counting}
    space |= {"figures": paper_figures}
    space |= {"campaign": example("04_puma260_campaign"), "open_loop": example("14_puma260_open_loop")}
    exec(block.group(1), space)
    return space


def shown(value: Any) -> str:
    if isinstance(value, Tally):
        value = value.multiplications, value.additions
    if isinstance(value, tuple):
        return ", ".join(map(shown, value))
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


# Rows that take a second, and whose law a test in its own room holds by day: a search, programs of fewer terms,
# arbitrary loads.
LONG = ("the parallelogram by `derive`", "section 4.3: operations fall", "with an arbitrary")
CASES = [
    pytest.param(
        row,
        id=f"{k}: {row['item'][:40]}",
        marks=pytest.mark.nightly if any(words in row["item"] for words in LONG) else (),
    )
    for k, row in enumerate(ROWS)
]


@pytest.mark.parametrize("row", CASES)
def test_the_call_gives_what_the_page_says(row: dict[str, str]) -> None:
    assert shown(eval(row["call"], names())) == row["ours"].strip()


def test_every_table_row_is_a_call() -> None:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| (?!item)[^-]", line)]
    assert len(lines) == len(ROWS) > 25


def test_every_redrawn_figure_is_shown() -> None:
    shown = set(re.findall(r"pictures/papers/(\w+)\.svg", PAGE.read_text(encoding="utf-8")))
    drawn = {path.stem for path in paper_figures.FOLDER.glob("*.svg")}
    assert shown == drawn == set(paper_figures.FIGURES)
