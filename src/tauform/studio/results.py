"""What work of the studio returns: small enough to cross processes, complete enough to draw a page from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tauform.arrays import Array
from tauform.identification.motion.trajectory import Trajectory
from tauform.realtime.reduction.reduce import Reduction
from tauform.report.html.plot import Plot


@dataclass(frozen=True)
class LogLook:
    """A log before it is identified.

    Attributes:
        head: samples, rate and duration in a line.
        columns: rows of name, field and range.
        guess: field ("t", "q", "qd", "tau") -> columns that are read as it.
        findings: sentences on what it holds and lacks; a log of another robot says so here.
        plots: figures by name, decimated for the eye; none where the log cannot be read for the robot.
    """

    head: str
    columns: tuple[Mapping[str, str], ...]
    guess: Mapping[str, list[str]]
    findings: tuple[str, ...]
    plots: Mapping[str, Plot]


@dataclass(frozen=True)
class ShownReduction:
    """A reduction, and nanoseconds per state of the exact and the reduced program on this machine."""

    found: Reduction
    exact_time: float
    reduced_time: float


@dataclass(frozen=True)
class PlannedMotion:
    """A planned motion with the distances between links along it.

    Attributes:
        rows: (F,) samples of the trajectory that are shown.
        distances: (F,) least distance of two links there [m]; empty where nothing was guarded.
        nearest: the pair that comes nearest, in words.
    """

    trajectory: Trajectory
    rows: list[int]
    distances: Array
    nearest: str
