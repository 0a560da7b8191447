"""Figures of reduced models as PNG: contributions of terms, accuracy against time.  [Lloyd2021, Figures 2 and 7]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.profile import Profile
from tauform.closedform.reduction.contribution import Contributions, contributions, known_profile
from tauform.closedform.reduction.tradeoff import Tradeoff
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import GenerationError, MissingExtraError, ModelError
from tauform.escaping.shown import file_name
from tauform.escaping.tables import csv_line
from tauform.files.checks import check_folder
from tauform.files.file import fresh_file
from tauform.files.folder import add_to_folder
from tauform.messages import Progress
from tauform.realtime.reduction.figures import Cell, accuracy_table, tradeoff
from tauform.realtime.reduction.reduce import ROUTES
from tauform.report.figures.terms import contribution_figure, tradeoff_figure

# Contributions of single terms do not run in kernels; as in the paper they get fewer states than the accuracy.
CONTRIBUTION_SHARE, MOST_CONTRIBUTIONS = 10, 1_000_000
TABLE_HEADINGS = (
    *("profile", "error", "share", "operations", "exact", "ns", "exact ns", "reduction", "route"),
    *(f"{route} route" for route in ROUTES),
    *("paper us", "paper reduction"),
)


def write_figures(
    bound: BoundModel,
    folder: Path,
    n_states: int = 1_000_000,
    threads: int = 1,
    progress: Progress | None = None,
    force: bool = False,
) -> list[Path]:
    """Figures 2 and 7 and Table 3 of a robot, slow and fast profiles, with the numbers behind them as CSV.

    Args:
        folder: what was written there before stays.
        n_states: fresh states for accuracies; contributions of terms take a tenth of them, a million at most.
        force: also write into a folder that holds other files.

    Raises:
        GenerationError: the folder is not ours or cannot be written.
        MissingExtraError: matplotlib is not installed.
        ModelError: no state or no thread.
    """
    for name, number in (("n_states", n_states), ("threads", threads)):
        if number < 1:
            raise ModelError(f"{name}: expected at least 1, got {number}")

    def tell(sentence: str) -> None:
        if progress:
            progress(f"{bound.name}, {sentence}")

    # Before hours of states: a missing library is known at once.
    check_figures()
    check_folder(folder, force)
    profiles = known_profile(bound, "slow"), known_profile(bound, "fast")
    # A thousand at the least: medians and maxima of fewer states jump.
    n_contributions = min(max(1000, n_states // CONTRIBUTION_SHARE), MOST_CONTRIBUTIONS)
    shares = [_contributions(bound, profile, n_contributions, threads, tell) for profile in profiles]
    # each part is written as soon as it is measured: with many states the whole takes long
    parts: dict[str, Any] = {
        "figure_2.png": contribution_figure(shares),
        "figure_2.csv": _csv(_CONTRIBUTION_HEADINGS, _contribution_rows(shares)),
    }
    files = add_parts(bound, folder, parts, force)
    curves = [tradeoff(bound, profile, n_states=n_states, threads=threads, progress=tell) for profile in profiles]
    parts = {
        "figure_7.png": tradeoff_figure(curves),
        "figure_7.csv": _csv(_TRADEOFF_HEADINGS, _tradeoff_rows(curves)),
    }
    files += add_parts(bound, folder, parts, force)
    # Table 3 needs a search per cell, the longest part: it comes last.
    cells = list(accuracy_table(bound.as_robot(), profiles, n_fresh=n_states, threads=threads, progress=tell))
    table = _csv(TABLE_HEADINGS, [table_row(cell) for cell in cells])
    return files + add_parts(bound, folder, {"table_3.csv": table}, force)


def check_figures(robots: Sequence[Robot] = ()) -> None:
    """Whether figures of these robots can be drawn, before what they show is computed.

    Raises:
        MissingExtraError: matplotlib is not installed.
        ModelError: a robot has no closed form.
    """
    if find_spec("matplotlib") is None:
        raise MissingExtraError("figures need matplotlib; install tauform[plot]")
    for robot in robots:
        if isinstance(robot.closure, GeneralClosure):
            raise ModelError(
                f"{robot.name}: figures show closed forms, which loops that bend do not have; leave it out"
            )


def add_parts(bound: BoundModel, folder: Path, parts: Mapping[str, Any], force: bool) -> list[Path]:
    """Write figures and texts under names that begin with the robot's."""
    start = file_name(bound.name)

    def fill(fresh: Path) -> list[str]:
        for name, part in parts.items():
            with fresh_file(fresh / f"{start}_{name}", GenerationError) as file:
                # Text without a platform's line ends: the same bytes everywhere.
                file.write(part.encode()) if isinstance(part, str) else part.savefig(file, format="png", dpi=150)
        return []

    return add_to_folder(folder, fill, force)


def _contributions(bound: BoundModel, profile: Profile, n_states: int, threads: int, tell: Progress) -> Contributions:
    def done(n_done: int) -> None:
        tell(f"{profile.name}: contributions of terms at {n_done} of {n_states} states")

    return contributions(bound, profile, n_states, threads=threads, progress=done)


def table_row(cell: Cell) -> tuple[Any, ...]:
    """One line of Table 3, ours and the paper's."""
    paper = "" if cell.paper is None else cell.paper
    # Relative, since the paper's times are of its own machine.
    less = "" if cell.paper is None or cell.paper_exact is None else f"{1 - cell.paper / cell.paper_exact:.0%}"
    exact, found = cell.reduction.exact.n_operations, cell.reduction.program.n_operations
    return (
        cell.profile,
        f"{cell.tolerance:.1%}",
        f"{cell.confidence:.1%}",
        found,
        exact,
        round(cell.nanoseconds, 1),
        round(cell.exact_nanoseconds, 1),
        f"{1 - found / exact:.0%}",
        cell.reduction.route,
        *(cell.routes.get(route, "") for route in ROUTES),
        paper,
        less,
    )


_CONTRIBUTION_HEADINGS = ("profile", "term", "mean", "median", "maximum", "states")
_TRADEOFF_HEADINGS = ("profile", "terms", "removed", "digits 95 %", "digits 99.9 %", "operations", "ns", "states")


def _contribution_rows(shares: Sequence[Contributions]) -> list[tuple[Any, ...]]:
    return [
        (found.profile, found.names[k], *(f"{value:.4e}" for value in values), found.n_states)
        for found in shares
        for k, values in enumerate(zip(found.mean, found.median, found.maximum, strict=True))
    ]


def _tradeoff_rows(curves: Sequence[Tradeoff]) -> list[tuple[Any, ...]]:
    return [
        (c.profile, int(kept), f"{removed:.4f}", *np.round(digits, 3), int(operations), round(ns, 1), c.n_states)
        for c in curves
        for kept, removed, digits, operations, ns in zip(
            c.n_kept, c.removed, c.digits, c.operations, c.nanoseconds, strict=True
        )
    ]


def _csv(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return "".join(map(csv_line, [headings, *rows]))
