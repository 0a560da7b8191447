"""Regression on the momentum equation: what is unknown of a robot, from positions, velocities and torques alone.

    d/dt (p + P x) = u + B x,   u = tau - friction + C^T qd - g

with the momentum p of the model and columns P, B of what is sought. A filter F = 1/(s + rate) removes the derivative:

    F[u + rate p] - p = (P - F[B + rate P]) x,   y = W x

so that no acceleration is needed. Least squares with forgetting, each joint weighted by the deviation of its torque.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import AnyArray

# Of values without any excitation: they stay at zero.
PRIOR = 1e-6
# Velocity over which Coulomb friction turns round in the columns of the friction estimator [rad/s, m/s].
WIDTH = 0.02


@dataclass(frozen=True)
class Settings:
    """What a user chooses: rate of the filter and of forgetting [1/s], period [s], torque deviations of the joints."""

    rate: Any
    forgetting: Any
    period: Any
    deviation: AnyArray


@dataclass(frozen=True)
class StateLayout:
    """Places in the state of an estimator of m values from n joints; a fresh state is zero."""

    n: int
    m: int

    @property
    def size(self) -> int:
        return self.n + self.n * self.m + self.m * (self.m + 1) // 2 + self.m + 2

    def parts(self, state: AnyArray) -> list[AnyArray]:
        """G of u + rate p and of B + rate P (n, m), triangle of W^T W, W^T y, and y^T y with the time."""
        sizes = (self.n, self.n * self.m, self.m * (self.m + 1) // 2, self.m, 2)
        return np.split(state, np.cumsum(sizes)[:-1])

    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Within which a state can be one of a motion: the triangle is that of a definite matrix."""
        n_filters = self.n + self.n * self.m
        triangle = [(20.0, 30.0) if i == j else (-1.0, 1.0) for i in range(self.m) for j in range(i + 1)]
        return tuple([(-1.0, 1.0)] * n_filters + triangle + [(-1.0, 1.0)] * self.m + [(20.0, 30.0), (1.0, 2.0)])


@dataclass(frozen=True)
class OnlineEstimate:
    """Values, their standard deviations, and the state for the next step."""

    values: AnyArray
    spread: AnyArray
    state: AnyArray


def step(
    layout: StateLayout, p: AnyArray, u: AnyArray, P: AnyArray, B: AnyArray, old: AnyArray, chosen: Settings
) -> OnlineEstimate:
    """One step of an estimator, on any scalar.

    Args:
        p, u: (n,) momentum and its rate, of the model.
        P, B: (n, m) columns of what is sought.
        old: (layout.size,) state.
        chosen: settings.
    """
    filtered, columns, triangle, moments, sums = layout.parts(old)
    rate, period = chosen.rate, chosen.period
    # The filter by the trapezoidal rule: F_k = (G_k-1 + T/2 v_k) / (1 + rate T/2), and the state holds
    # G_k = (1 - rate T/2) F_k + T/2 v_k, what the next step needs of this one.
    half = 0.5 * period
    decay, hold = 1 / (1 + rate * half), 1 - rate * half
    flow, flows = half * (u + rate * p), half * (B + rate * P)
    F, Fs = (filtered + flow) * decay, (columns.reshape(layout.n, layout.m) + flows) * decay
    # a fresh state begins with y = 0 and W = 0, also in the middle of a motion; time tells, without a branch
    fresh = 1 - _sign(sums[1])
    F, Fs = F + fresh * (p - F), Fs + fresh * (P - Fs)
    filtered, columns = hold * F + flow, hold * Fs + flows
    weight = 1 / chosen.deviation
    y, W = weight * (F - p), weight[:, None] * (P - Fs)
    keep = 1 / (1 + chosen.forgetting * period)
    pairs = [(i, j) for i in range(layout.m) for j in range(i + 1)]
    triangle = keep * triangle + period * np.array([(W[:, i] * W[:, j]).sum() for i, j in pairs])
    moments = keep * moments + period * np.array([(W[:, i] * y).sum() for i in range(layout.m)])
    sums = keep * sums + period * np.array([(y * y).sum(), layout.n * (1 + 0 * rate)])
    values, variances = _solved(layout.m, triangle, moments)
    # what is left of y, per joint and time; a filtered torque repeats itself for about 2/rate
    left = abs(sums[0] - (moments * values).sum()) / sums[1]
    spread = _roots(variances * (left * 2 / rate))
    state = np.concatenate([filtered, columns.ravel(), triangle, moments, sums])
    return OnlineEstimate(values, spread, state)


def _solved(m: int, triangle: AnyArray, moments: AnyArray) -> tuple[AnyArray, AnyArray]:
    """x of R x = b, and the diagonal of the inverse of R, by the factors L D L^T."""
    R = dict(zip(((i, j) for i in range(m) for j in range(i + 1)), triangle, strict=True))
    L: dict[tuple[int, int], Any] = {}
    inverse: list[Any] = []
    for i in range(m):
        pivot = R[i, i] + PRIOR
        for j in range(i):
            # R_ij = sum_k L_ik D_k L_jk
            entry = R[i, j] - sum(L[i, k] * L[j, k] / inverse[k] for k in range(j))
            L[i, j] = entry * inverse[j]
            pivot = pivot - L[i, j] * entry
        inverse.append(1 / pivot)
    z = _forward(m, L, moments)
    x: list[Any] = [None] * m
    for i in reversed(range(m)):
        x[i] = z[i] * inverse[i] - sum((L[k, i] * x[k] for k in range(i + 1, m)), start=0.0)
    diagonal = []
    for column in range(m):
        unit = [1.0 if i == column else 0.0 for i in range(m)]
        diagonal.append(sum(a * a * d for a, d in zip(_forward(m, L, unit), inverse, strict=True)))
    return np.array(x), np.array(diagonal)


def _forward(m: int, L: dict[tuple[int, int], Any], b: AnyArray | list[float]) -> list[Any]:
    """z of L z = b."""
    z: list[Any] = []
    for i in range(m):
        z.append(b[i] - sum((L[i, k] * z[k] for k in range(i)), start=0.0))
    return z


def _roots(values: AnyArray) -> AnyArray:
    """Square roots of numbers or symbols."""
    return np.array([v.sqrt() if hasattr(v, "sqrt") else np.sqrt(v) for v in values])


def _sign(value: Any) -> Any:
    """The sign of a number or a symbol."""
    return value.sign() if hasattr(value, "sign") else np.sign(value)
