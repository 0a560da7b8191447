"""What work of the studio returns: small enough to cross processes, complete enough to draw a page from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.identification.motion.trajectory import Trajectory
from tauform.identification.regression.residuals import Errors
from tauform.identification.verdict.judge import Verdict
from tauform.realtime.reduction.reduce import Reduction
from tauform.report.html.plot import Plot

# Of a log, that the page maps to columns.
FIELDS = ("t", "q", "qd", "tau")


@dataclass(frozen=True)
class LogLook:
    """A log before it is identified.

    Attributes:
        head: samples, rate and duration in a line.
        columns: rows of name, field and range.
        guess: field ("t", "q", "qd", "tau") -> columns that are read as it.
        findings: sentences on what it holds and lacks; a log of another robot says so here.
        plots: figures by name, decimated for the eye; none where the log cannot be read for the robot.
        units: what its numbers seem to be in, other than SI.
    """

    head: str
    columns: tuple[Mapping[str, str], ...]
    guess: Mapping[str, list[str]]
    findings: tuple[str, ...]
    plots: Mapping[str, Plot]
    units: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Playback:
    """Frames of the motion that a fit was judged on.

    Attributes:
        t: (F,) time [s].
        q: (F, n) positions.
        errors: (F, n) torque error over the joint's RMS torque.
    """

    t: Array
    q: Array
    errors: Array


@dataclass(frozen=True, eq=False)
class FitLook:
    """A fit as the page shows it; the fit itself, whose recordings may be larger than memory, stays in a file.

    Attributes:
        path: file that later work reads the fit from.
        method: estimator, in words.
        n_values: how many values were estimated.
        verdict: grade and reasons.
        next_steps: what to do next.
        unseen: errors that the verdict rests on.
        findings: sentences about the recordings.
        identified_robot: the robot with everything that was found.
        plots: figures by name, decimated for the eye; what the fit has nothing of is left out.
        playback: None where no recording is there to play.
    """

    path: Path
    method: str
    n_values: int
    verdict: Verdict
    next_steps: tuple[str, ...]
    unseen: Errors
    findings: tuple[str, ...]
    identified_robot: Robot
    plots: Mapping[str, Plot]
    playback: Playback | None


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
