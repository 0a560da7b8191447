"""Periodic trajectories that start and end at rest, and quintic moves between points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import checked_methods
from tauform.arrays import Array
from tauform.errors import IdentificationError


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """Positions, velocities and accelerations over time.

    Attributes:
        t: (N,) [s].
        q, qd, qdd: (N, n).
        joint_names: of the columns.
        condition: of the base regressor along it, where it was computed.
        findings: sentences, such as which limit it touches.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    joint_names: tuple[str, ...]
    condition: float | None = None
    findings: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """Seconds."""
        return float(self.t[-1] - self.t[0])

    def save_csv(self, path: str | Path) -> Path:
        """Write t, q_, qd_ and qdd_ columns, one a joint."""
        path = Path(path)
        header = ["t", *(f"{field}_{name}" for field in ("q", "qd", "qdd") for name in self.joint_names)]
        table = np.column_stack([self.t, self.q, self.qd, self.qdd])
        try:
            np.savetxt(path, table, delimiter=",", header=",".join(header), comments="", fmt="%.10g")
        except OSError as error:
            raise IdentificationError(f"{path}: cannot be written ({error.strerror})") from None
        return path

    def __repr__(self) -> str:
        known = "" if self.condition is None else f", condition {self.condition:.3g}"
        rate = 1 / (self.t[1] - self.t[0])
        return f"Trajectory({self.q.shape[1]} joints, {self.duration:.1f} s at {rate:.0f} Hz{known})"


@dataclass(frozen=True, eq=False)
class FourierBasis:
    """Periodic functions whose velocity and acceleration vanish at both ends.

    q = centre + amplitudes @ values, and the same with rates and accelerations for its derivatives.
    """

    t: Array
    values: Array
    rates: Array
    accelerations: Array

    @classmethod
    def of(cls, duration: float, harmonics: int, rate: float) -> FourierBasis:
        """Sines and cosines up to a harmonic, combined so that motion starts and ends at rest."""
        t = np.linspace(0.0, duration, max(2, round(duration * rate) + 1))
        w = 2 * np.pi / duration * np.arange(1, harmonics + 1)[:, None]
        s, c = np.sin(w * t), np.cos(w * t)
        # Columns of equal speed, so that amplitudes mean the same for every harmonic.
        q = np.concatenate([s / w, (1 - c) / w])
        qd = np.concatenate([c, s])
        qdd = np.concatenate([-w * s, w * c])
        at_start = np.column_stack([qd[:, 0], qdd[:, 0] / w.mean()])
        free = np.linalg.svd(at_start)[0][:, 2:].T
        return cls(t, free @ q, free @ qd, free @ qdd)

    @property
    def n(self) -> int:
        """Functions."""
        return len(self.values)


def quintic(points: ArrayLike, durations: Sequence[float], rate: float, joint_names: Sequence[str]) -> Trajectory:
    """Moves between points, at rest at each: q = a + (b - a)(10 s^3 - 15 s^4 + 6 s^5)."""
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or len(points) != len(durations) + 1:
        raise IdentificationError("quintic: give one duration a move: one less than there are points")
    parts: list[list[Array]] = [[], [], [], []]
    start = 0.0
    for a, b, duration in zip(points[:-1], points[1:], durations, strict=True):
        s = np.arange(0, duration, 1 / rate)[:, None] / duration
        move = b - a
        shapes = (
            a + move * (10 * s**3 - 15 * s**4 + 6 * s**5),
            move * (30 * s**2 - 60 * s**3 + 30 * s**4) / duration,
            move * (60 * s - 180 * s**2 + 120 * s**3) / duration**2,
        )
        for column, values in zip(parts, (start + s[:, 0] * duration, *shapes), strict=True):
            column.append(values)
        start += duration
    t, q, qd, qdd = (np.concatenate(column) for column in parts)
    return Trajectory(t, q, qd, qdd, tuple(joint_names))
