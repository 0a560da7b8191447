"""Differentiation: from positions to velocities and accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import interpolate, signal

from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.recording.segments import Segment
from tauform.identification.signals.filters import Filters, central_difference, lowpass, lowpass_kernel
from tauform.identification.signals.fir import CENTRAL, FIVE_POINTS, decimation, filtered, with_derivatives
from tauform.identification.signals.kalman import smoothed
from tauform.wording import argument

SmootherName = Literal["lowpass", "central", "savitzky_golay", "spline", "kalman"]
SMOOTHERS: tuple[SmootherName, ...] = ("lowpass", "central", "savitzky_golay", "spline", "kalman")
POLYNOMIAL_DEGREE = 3


@dataclass(frozen=True)
class Smoother:
    """Method by which states are estimated.

    "lowpass" is the zero-phase filter with derivatives of fourth order, "central" the same filter with central
    differences; "savitzky_golay" fits polynomials, "spline" splines, "kalman" is a Rauch-Tung-Striebel smoother.
    """

    name: SmootherName = "lowpass"

    def __post_init__(self) -> None:
        if self.name not in SMOOTHERS:
            sentence = f"{argument('smoother')} is one of {', '.join(SMOOTHERS)}, not {self.name!r}"
            raise RecordingError(sentence, argument="smoother", value=self.name)

    def states(
        self, segment: Segment, part: slice, filters: Filters | None, stride: int = 1
    ) -> tuple[Array, Array, Array]:
        """(q, qd, qdd) at every stride-th of some samples; what was measured is smoothed, what was not is derived."""
        measured = [
            None if x is None else np.asarray(x[part], dtype=np.float64) for x in (segment.q, segment.qd, segment.qdd)
        ]
        states: list[Array] = []
        for k, values in enumerate(measured):
            if values is not None:
                following = next((m for m in range(k + 1, 3) if measured[m] is not None), 3)
                states += self.derived(values, following - k, segment.rate, filters, stride)
        q, qd, qdd = states
        return q, qd, qdd

    def derived(self, values: Array, count: int, rate: float, filters: Filters | None, stride: int) -> Sequence[Array]:
        """`count` in all: the values and their derivatives."""
        if filters is None:
            derivatives = [values]
            while len(derivatives) < count:
                derivatives.append(central_difference(derivatives[-1], rate))
            return [x[::stride] for x in derivatives]
        if self.name not in ("lowpass", "central"):
            return [x[::stride] for x in _WAYS[self.name](values, rate, filters.position)[:count]]
        slope = CENTRAL if self.name == "central" else FIVE_POINTS
        if stride == 1:
            kernels = with_derivatives(lowpass_kernel(rate, filters.position), rate, slope)
            states = filtered(values, kernels[:count])
        else:
            # Derivatives at the full rate, the filter itself at the rate that is left: a tenth of the work.
            decimated = filtered(values, with_derivatives(decimation(stride), rate, slope)[:count], stride)
            states = lowpass(decimated, rate / stride, filters.position)
        return [states[:, k] for k in range(count)]


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
