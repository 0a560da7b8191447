"""Residuals: what a fit leaves unexplained at its rows, and errors on other data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tauform.arrays import Array


@dataclass(frozen=True, eq=False)
class Residuals:
    """Measured and predicted torque at the rows of the problem, filtered alike.

    Attributes:
        t: (N,) time [s].
        measured, predicted: (N, n) [N m or N].
        recording: (N,) index of the recording.
        rate: rows per second.
    """

    t: Array
    measured: Array
    predicted: Array
    recording: Array
    rate: float

    @property
    def error(self) -> Array:
        """(N, n) measured minus predicted."""
        return self.measured - self.predicted

    @property
    def relative(self) -> Array:
        """(n,) RMS error over RMS torque."""
        return relative_error(self.measured, self.predicted)

    @property
    def total(self) -> float:
        """RMS error over RMS torque, all joints together."""
        return float(relative_error(self.measured, self.predicted, None))


# Two kinds of data that a fit has not seen, always by these names: blocks of the recordings that it is fitted to, left
# out in turn, and recordings of their own that are only predicted.
HELD_OUT, VALIDATION = "held-out blocks", "validation recordings"


@dataclass(frozen=True, eq=False)
class Errors:
    """Relative errors, and where they come from.

    Attributes:
        joints: (n,) RMS error over RMS torque of each joint.
        total: the same over all joints together.
        rms: (n,) RMS error [N m or N].
        source: what they were measured on: HELD_OUT, VALIDATION, or "unfiltered torques".
        unlike: (what, remedy) of what sets validation recordings apart from the fitted ones.
        elsewhere: the total that is expected where joints move as on held-out blocks, but in other postures; None where
            nobody asked.
        unfiltered: the same against torques as they were measured, without any filter, where they were computed.
    """

    joints: Array
    total: float
    rms: Array
    source: str
    unfiltered: Errors | None = None
    unlike: tuple[tuple[str, str], ...] = ()
    elsewhere: float | None = None

    @property
    def expected(self) -> float:
        """The total on a motion that nobody has seen."""
        return max(self.total, self.elsewhere or 0.0)

    @classmethod
    def between(cls, measured: Array, predicted: Array, source: str) -> Errors:
        """Errors of predicted torques (N, n)."""
        rms = np.sqrt(((measured - predicted) ** 2).mean(axis=0))
        return cls(relative_error(measured, predicted), float(relative_error(measured, predicted, None)), rms, source)

    @classmethod
    def of_squares(cls, squares: Array, torque_squares: Array, n_rows: Array, source: str) -> Errors:
        """Errors from sums of squares (n,) of residuals and torques, and numbers (n,) of rows."""
        torque = np.maximum(torque_squares, 1e-300)
        total = float(np.sqrt(squares.sum() / torque.sum()))
        return cls(np.sqrt(squares / torque), total, np.sqrt(squares / n_rows), source)

    def enlarged(self, factor: float) -> Errors:
        """Errors that many times as large."""
        elsewhere = None if self.elsewhere is None else factor * self.elsewhere
        total, rms = factor * self.total, factor * self.rms
        return replace(self, joints=factor * self.joints, total=total, rms=rms, elsewhere=elsewhere)


def relative_error(measured: Array, predicted: Array, axis: int | None = 0) -> Any:
    """RMS error over RMS torque, per joint (axis 0) or of all joints (None)."""
    squares = ((measured - predicted) ** 2).sum(axis=axis)
    return np.sqrt(squares / np.maximum((measured**2).sum(axis=axis), 1e-300))
