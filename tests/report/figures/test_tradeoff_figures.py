"""Figures of the trade-off: data are consistent, files are written."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.closedform.reduction.contribution import Contributions
from tauform.realtime.reduction.figures import PAPER_TIMES, Cell, accuracy_table, cheapest_for, tradeoff
from tauform.report.figures import reduction as reduction_figures
from tauform.report.figures.reduction import TABLE_HEADINGS, table_row, write_figures
from tauform.report.figures.terms import contribution_figure


@pytest.fixture(scope="module")
def bound() -> tf.BoundModel:
    robot = tf.load("two_link")
    return tf.derive(robot).bind(robot)


def test_more_terms_give_more_digits_and_all_terms_give_all(bound: tf.BoundModel) -> None:
    curve = tradeoff(bound, tf.Profile.fast(2), n_levels=5, n_states=5000)
    assert curve.digits[-1].min() > 10
    assert (curve.digits[:, 0] >= curve.digits[:, 1]).all()
    assert curve.removed[-1] == 0
    assert (np.diff(curve.n_kept) > 0).all()
    assert (curve.nanoseconds > 0).all()


@pytest.fixture(scope="module")
def cells() -> list[Cell]:
    return list(accuracy_table(tf.load("two_link"), n_fresh=5000, routes=("operations",)))


def test_every_cell_of_the_table_is_within_its_error_and_never_dearer_than_the_exact_program(cells: list[Cell]) -> None:
    assert {(c.profile, c.tolerance, c.confidence) for c in cells} == set(PAPER_TIMES["kr6_r700"])
    for cell in cells:
        assert cell.reduction.error <= cell.tolerance
        assert cell.reduction.program.n_operations <= cell.reduction.exact.n_operations
        assert len(table_row(cell)) == len(TABLE_HEADINGS)


def test_a_looser_demand_never_takes_more_operations(cells: list[Cell]) -> None:
    for loose, strict in product(cells, cells):
        looser = loose.tolerance >= strict.tolerance and loose.confidence <= strict.confidence
        if looser and loose.profile == strict.profile:
            assert loose.reduction.program.n_operations <= strict.reduction.program.n_operations


def test_a_looser_demand_takes_the_program_of_a_stricter_one(cells: list[Cell]) -> None:
    strict = next(c.reduction for c in cells if (c.profile, c.tolerance, c.confidence) == ("slow", 0.01, 0.999))
    dear = replace(strict, program=strict.exact, route="exact", tolerance=0.02, confidence=0.95)
    taken = cheapest_for(dear, [strict])
    assert taken.program is strict.program
    assert (taken.tolerance, taken.confidence) == (0.02, 0.95)
    assert taken.error == strict.error
    assert cheapest_for(strict, [replace(strict, tolerance=0.02)]) is strict


def test_figures_and_tables_are_written(
    bound: tf.BoundModel, cells: list[Cell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(reduction_figures, "accuracy_table", lambda *args, **options: cells)
    files = write_figures(bound, tmp_path / "figures", n_states=3000)
    assert [file.suffix for file in files] == [".csv", ".png", ".csv", ".png", ".csv"]
    assert all(file.stat().st_size > 0 for file in files)
    assert len(files[-1].read_text().splitlines()) == 9
    assert len(files[0].read_text().splitlines()) == 1 + 2 * bound.n_terms


def test_figures_of_one_profile_come_from_the_model(bound: tf.BoundModel, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    shares = bound.contributions("fast", 1500)
    text = shares.plot(tmp_path / "shares.svg").read_text()
    # Titles say of what and of how many states; medians are of fewer.
    for words in (
        f"two_link, fast profile: {bound.n_terms} terms",
        "median of 1,000 states",
        "maximum of 1,500 states",
    ):
        assert f"<!-- {words} -->" in text
    curve = bound.tradeoff("slow", n_levels=3, n_states=2000)
    assert "<!-- two_link, slow profile: 2,000 fresh states -->" in curve.plot(tmp_path / "curve.svg").read_text()
    with pytest.raises(tf.errors.ModelError, match="expected a file that ends in"):
        curve.plot(tmp_path / "curve.txt")
    with pytest.raises(tf.errors.ModelError, match="n_levels: expected at least 2"):
        bound.tradeoff(n_levels=1)


def test_every_term_is_in_the_histogram() -> None:
    """Shares above one are terms that cancel; they are drawn all the same."""
    pytest.importorskip("matplotlib")
    values = np.array([0.0, 1e-15, 1e-3, 1.0, 4.9, 300.0])
    figure = contribution_figure([Contributions("arm", "fast", ("",) * 6, values, values, values, 10)])
    for bars in figure.axes[0].containers:
        assert sum(bar.get_height() for bar in bars) == 6
