"""Trajectories: functions of time that they are sums of, moves between points, and tables of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import make_interp_spline

from tauform.arguments import checked_methods
from tauform.arrays import LARGEST, Array
from tauform.deferred import deferred
from tauform.description.robot import Robot
from tauform.errors import IdentificationError, RecordingError
from tauform.escaping.tables import csv_line
from tauform.files.file import fresh_file
from tauform.identification.logs.column_names import listed
from tauform.identification.logs.formats.csv_head import header_names
from tauform.identification.logs.formats.tables import open_csv
from tauform.identification.motion.bounds import Bounds
from tauform.messages import counted


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Positions, velocities and accelerations over time.

    Attributes:
        t: (N,) [s].
        q, qd, qdd: (N, n).
        joint_names: of the columns.
        condition: of the base columns along it, where it was computed: largest over smallest singular value, in SI
            units, neither scaled nor weighted.
        findings: sentences, such as which limit made it slower.
        alternatives: further motions that were planned with it.
        bounds: limits that it was planned within.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    joint_names: tuple[str, ...]
    condition: float | None = None
    findings: tuple[str, ...] = ()
    alternatives: tuple[Trajectory, ...] = ()
    bounds: Bounds | None = None

    @property
    def duration(self) -> float:
        """Seconds."""
        return float(self.t[-1] - self.t[0])

    def save_csv(self, path: str | Path) -> Path:
        """Write t, q_, qd_ and qdd_ columns, one per joint; nothing is left behind when writing fails.

        Raises:
            IdentificationError: the disk refuses.
        """
        path = Path(path)
        # Objects, so that %r prints Python's digits and not NumPy's.
        table = np.column_stack([self.t, self.q, self.qd, self.qdd]).astype(object)
        header = csv_line(_header(self.joint_names)).rstrip("\n")
        with fresh_file(path, IdentificationError) as file:
            # Python's own floats print the shortest decimals that read back as the same numbers
            np.savetxt(file, table, delimiter=",", header=header, comments="", fmt="%r", encoding="utf-8")
        return path

    @classmethod
    def read_csv(cls, path: str | Path, robot: Robot) -> Trajectory:
        """Read what `save_csv` wrote, for the same joints.

        Raises:
            IdentificationError: not such a table, or of another robot.
        """
        path, expected = Path(path), header_names(csv_line(_header(robot.joint_names)))[0]
        try:
            log = open_csv(path)
            if list(log.widths) != expected:
                raise IdentificationError(f"{path}: not a motion of {robot.name}; expected columns {listed(expected)}")
            # In pieces, through the reader of logs: its checks of tables hold here too.
            pieces = [np.column_stack([part[name] for name in expected]) for part in log.chunks(expected, 100_000)]
        except (OSError, RecordingError) as error:
            raise IdentificationError(f"{path}: not a table of a motion ({error})") from None
        table = np.concatenate(pieces) if pieces else np.empty((0, len(expected)))
        t = table[:, 0]
        # A motor follows this table: a row that was repaired or skipped is a jump.
        if log.findings or len(t) < 2 or not (np.abs(table) < LARGEST).all() or not (np.diff(t) > 0).all():
            raise IdentificationError(f"{path}: cut off or damaged; write it again")
        q, qd, qdd = np.split(table[:, 1:], 3, axis=1)
        return cls(t, q, qd, qdd, robot.joint_names)

    def plot(self, path: str | Path, robot: Robot) -> Path:
        """Draw positions, velocities, accelerations and torques with their limits: .html, .png, .svg or .pdf.

        Raises:
            IdentificationError: the file's name has another ending, or it cannot be written.
            MissingExtraError: pictures need matplotlib.
        """
        return deferred("Trajectory.plot")(self, robot, Path(path))

    def __repr__(self) -> str:
        known = "" if self.condition is None else f", condition {self.condition:.3g}"
        rate = 1 / (self.t[1] - self.t[0])
        return f"Trajectory({counted(self.q.shape[1], 'joint')}, {self.duration:.1f} s at {rate:.0f} Hz{known})"


def _header(names: Sequence[str]) -> list[str]:
    return ["t", *(f"{field}_{name}" for field in ("q", "qd", "qdd") for name in names)]


@dataclass(frozen=True, eq=False)
class Basis:
    """Functions of time that motions are sums of, at rest at both ends.

    q = q(0) + amplitudes @ values, and the same with rates and accelerations for its derivatives.  The values do not
    depend on the duration: the same amplitudes in more time are the same path.

    Attributes:
        t: (N,) [s].
        values, rates, accelerations: (functions, N).
    """

    t: Array
    values: Array
    rates: Array
    accelerations: Array

    @classmethod
    def fourier(cls, duration: float, harmonics: int, rate: float) -> Basis:
        """Sines and cosines up to a harmonic, combined so that velocity and acceleration vanish at both ends."""
        t = _times(duration, rate)
        w = 2 * np.pi / duration
        k = np.arange(1, harmonics + 1)[:, None]
        s, c = np.sin(k * w * t), np.cos(k * w * t)
        # Functions of equal speed, so that amplitudes mean the same for every harmonic.
        q = np.concatenate([s / k, (1 - c) / k])
        by_phase = np.concatenate([c, s])
        twice = np.concatenate([-k * s, k * c])
        # Velocities and accelerations at t = 0, both of similar size; a periodic motion ends as it starts.
        at_start = np.column_stack([by_phase[:, 0], twice[:, 0] / k.mean()])
        # The left null space of the two conditions: combinations that start at rest.
        free = np.linalg.svd(at_start)[0][:, 2:].T
        return cls(t, free @ q, w * free @ by_phase, w**2 * free @ twice)

    @classmethod
    def quintic(cls, duration: float, moves: int, rate: float) -> Basis:
        """One function a move: from 0 to 1 within its part of the time, at rest before and after."""
        t = _times(duration, rate)
        each = duration / moves
        # Before its move a function is 0, after it 1: motions are sums of steps.
        s = np.clip((t - each * np.arange(moves)[:, None]) / each, 0.0, 1.0)
        values, slopes, curvatures = _rest_to_rest(s)
        return cls(t, values, slopes / each, curvatures / each**2)

    @property
    def n(self) -> int:
        """Functions."""
        return len(self.values)


def _rest_to_rest(s: Array) -> tuple[Array, Array, Array]:
    """10 s^3 - 15 s^4 + 6 s^5 and its first two derivatives."""
    # The lowest polynomial from 0 to 1 whose velocity and acceleration vanish at both ends.
    return (
        10 * s**3 - 15 * s**4 + 6 * s**5,
        30 * s**2 - 60 * s**3 + 30 * s**4,
        60 * s - 180 * s**2 + 120 * s**3,
    )


def _times(duration: float, rate: float) -> Array:
    return np.linspace(0.0, duration, max(2, round(duration * rate) + 1))


def polynomial_through(points: ArrayLike, duration: float, rate: float, joint_names: Sequence[str]) -> Trajectory:
    """A motion through points at equal times, smooth up to jerk, at rest at both ends.  [Izaguirre1992, section 7]"""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or len(points) < 2:
        raise IdentificationError(f"points: expected (k, n) with at least two of them, got shape {points.shape}")
    still = np.zeros(points.shape[1])
    # First and second derivative zero at both ends.
    at_rest = [(1, still), (2, still)]
    knots = np.linspace(0.0, duration, len(points))
    # Degree 5: continuous up to the fourth derivative, one beyond jerk.
    q = make_interp_spline(knots, points, k=5, bc_type=(at_rest, at_rest))
    t = np.arange(0.0, duration, 1 / rate)
    return Trajectory(t, q(t), q(t, 1), q(t, 2), tuple(joint_names))


def quintic(points: ArrayLike, durations: Sequence[float], rate: float, joint_names: Sequence[str]) -> Trajectory:
    """Moves between points, at rest at each: q = a + (b - a)(10 s^3 - 15 s^4 + 6 s^5)."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or len(points) != len(durations) + 1:
        raise IdentificationError("quintic: give one duration per move: one less than there are points")
    parts: list[list[Array]] = [[], [], [], []]
    start = 0.0
    for a, b, duration in zip(points[:-1], points[1:], durations, strict=True):
        # Without the last sample, which is the first of the next move.
        s = np.arange(0, duration, 1 / rate)[:, None] / duration
        move = b - a
        values, slopes, curvatures = _rest_to_rest(s)
        shapes = a + move * values, move * slopes / duration, move * curvatures / duration**2
        for column, values in zip(parts, (start + s[:, 0] * duration, *shapes), strict=True):
            column.append(values)
        start += duration
    t, q, qd, qdd = (np.concatenate(column) for column in parts)
    return Trajectory(t, q, qd, qdd, tuple(joint_names))
