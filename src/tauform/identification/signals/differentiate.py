"""Differentiation: from positions to velocities and accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.recording.segments import Segment
from tauform.identification.signals.filters import Filters, central_difference, lowpass, lowpass_kernel
from tauform.identification.signals.fir import CENTRAL, FIVE_POINTS, decimation, filtered, with_derivatives
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
    from scipy import signal

    # A cubic window of 2m+1 points has its -3 dB point near (degree + 1) / (3.2 m - 4.6) half-rates (Schafer 2011).
    half = max(3, round(((POLYNOMIAL_DEGREE + 1) * (rate / 2) / cutoff + 4.6) / 3.2))
    window = min(2 * half + 1, len(q) - (len(q) + 1) % 2)
    q0, q1, q2 = (signal.savgol_filter(q, window, POLYNOMIAL_DEGREE, deriv=k, delta=1 / rate, axis=0) for k in range(3))
    return q0, q1, q2


def spline(q: Array, rate: float, cutoff: float) -> tuple[Array, Array, Array]:
    """Quintic least-squares splines with two knots a period of the cut-off."""
    from scipy import interpolate

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


# Rauch-Tung-Striebel smoother of positions: a triple integrator driven by white jerk.
#
# The gains settle within a few samples, so the steady-state ones are used throughout; the ratio of process to
# measurement noise is set by the cut-off that is asked for.


def smoothed(q: Array, rate: float, cutoff: float) -> tuple[Array, Array, Array]:
    """(q, qd, qdd) smoothed; `cutoff` [Hz] is the frequency up to which the motion is trusted."""
    h = 1.0 / rate
    F = np.array([[1, h, h * h / 2], [0, 1, h], [0, 0, 1]])
    drive = np.array([h**3 / 6, h**2 / 2, h])[:, None]
    # For continuous white jerk of density q and measurement density r, |H|^2 = 1 / (1 + w^6 r / q): half at w = w_c.
    # In samples, with unit measurement noise, the density of the jerk per sample is w_c^6.
    Q = (2 * np.pi * cutoff) ** 6 * (drive @ drive.T)
    H = np.array([[1.0, 0, 0]])
    P = scipy.linalg.solve_discrete_are(F.T, H.T, Q, np.array([[1.0]]))
    gain = P @ H.T / (H @ P @ H.T + 1.0)
    updated = P - gain @ H @ P
    backward = updated @ F.T @ np.linalg.inv(P)
    start = np.stack([q[0], (q[1] - q[0]) / h, np.zeros_like(q[0])])
    x = _recursion((np.eye(3) - gain @ H) @ F, gain, q, start)
    # x_s[k] = x[k] + C (x_s[k+1] - F x[k]): the same kind of recursion, run backwards.
    back = _recursion(backward, np.eye(3) - backward @ F, x[::-1], x[-1])[::-1]
    return back[:, 0], back[:, 1], back[:, 2]


def _recursion(A: Array, B: Array, u: Array, start: Array) -> Array:
    """x[k] = A x[k-1] + B u[k] with x[0] = start, each column of u on its own; (N, 3, n)."""
    from scipy import signal

    # A linear recursion is diagonal in the eigenvectors of A: three first-order filters, run in compiled code.
    values, V = np.linalg.eig(A)
    inputs = np.einsum("ij,kjn->kin", np.linalg.solve(V, B.astype(complex)), u.reshape(len(u), -1, start.shape[1]))
    modes = np.empty((len(u), 3, start.shape[1]), dtype=complex)
    first = np.linalg.solve(V, start.astype(complex))
    for i, pole in enumerate(values):
        modes[0, i] = first[i]
        state = (pole * first[i])[None]
        modes[1:, i], _ = signal.lfilter([1.0], [1.0, -pole], inputs[1:, i], axis=0, zi=state)
    return np.real(np.einsum("ij,kjn->kin", V, modes))
