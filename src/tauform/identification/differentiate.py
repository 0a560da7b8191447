"""From positions to velocities and accelerations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import interpolate, signal

from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.filters import Filters, central_difference, lowpass, smooth_derivative
from tauform.identification.kalman import smoothed
from tauform.identification.segments import Segment

SmootherName = Literal["lowpass", "savitzky_golay", "spline", "kalman"]
SMOOTHERS: tuple[SmootherName, ...] = ("lowpass", "savitzky_golay", "spline", "kalman")
POLYNOMIAL_DEGREE = 3


@dataclass(frozen=True)
class Smoother:
    """How states are estimated; "lowpass" is the zero-phase filter, then differences of fourth order."""

    name: SmootherName = "lowpass"

    def __post_init__(self) -> None:
        if self.name not in SMOOTHERS:
            raise RecordingError(f"smoother: expected one of {', '.join(SMOOTHERS)}, got {self.name!r}")

    def states(self, segment: Segment, part: slice, filters: Filters | None) -> tuple[Array, Array, Array]:
        """(q, qd, qdd) of some samples; measured velocities and accelerations are used where there are any."""
        read = [
            None if x is None else np.asarray(x[part], dtype=np.float64) for x in (segment.q, segment.qd, segment.qdd)
        ]
        q, qd, qdd = read
        assert q is not None
        rate = segment.rate
        if filters is None:
            qd = central_difference(q, rate) if qd is None else qd
            return q, qd, central_difference(qd, rate) if qdd is None else qdd
        if self.name != "lowpass":
            return _WAYS[self.name](q, rate, filters.position)
        q = lowpass(q, rate, filters.position)
        qd = smooth_derivative(q, rate) if qd is None else lowpass(qd, rate, filters.position)
        return q, qd, smooth_derivative(qd, rate) if qdd is None else lowpass(qdd, rate, filters.position)


def savitzky_golay(q: Array, rate: float, cutoff: float) -> tuple[Array, Array, Array]:
    """Local cubic polynomials over a window with about the given cut-off."""
    # A cubic window of 2m+1 points has its -3 dB point near (degree + 1) / (3.2 m - 4.6) half-rates (Schafer 2011).
    half = max(3, round(((POLYNOMIAL_DEGREE + 1) * (rate / 2) / cutoff + 4.6) / 3.2))
    window = min(2 * half + 1, len(q) - (len(q) + 1) % 2)
    q0, q1, q2 = (signal.savgol_filter(q, window, POLYNOMIAL_DEGREE, deriv=k, delta=1 / rate, axis=0) for k in range(3))
    return q0, q1, q2


def spline(q: Array, rate: float, cutoff: float) -> tuple[Array, Array, Array]:
    """Quintic least-squares splines with two knots a period of the cut-off."""
    t = np.arange(len(q)) / rate
    count = max(2, min(int(2 * cutoff * t[-1]), len(q) // 3))
    knots = np.linspace(t[0], t[-1], count + 1)[1:-1]
    full = np.concatenate([np.full(6, t[0]), knots, np.full(6, t[-1])])
    fitted = interpolate.make_lsq_spline(t, q, full, k=5)
    return fitted(t), fitted.derivative(1)(t), fitted.derivative(2)(t)


def kalman(q: Array, rate: float, cutoff: float) -> tuple[Array, Array, Array]:
    """Kalman filter forwards, Rauch-Tung-Striebel smoother backwards, on a chain of integrators."""
    return smoothed(q, rate, cutoff)


_WAYS = {"savitzky_golay": savitzky_golay, "spline": spline, "kalman": kalman}
