"""Trends: friction and offsets of a unit, window by window, and where they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tauform.arrays import Array
from tauform.fleet.condensed import Window
from tauform.identification.fit import Fit

# Of all series of a healthy fleet, the share in which a change is found by chance.
FALSE_ALARM = 0.01


@dataclass(frozen=True, eq=False)
class Change:
    """A value that is another before and after a window.

    Attributes:
        value: its name.
        at: start of the first window after the change [s].
        before, after: means of the value.
        p_value: probability of a step as large without a change, all windows considered.
    """

    unit: str
    value: str
    at: float
    before: float
    after: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Trend:
    """A value of a unit over its windows, all others as they are in the unit as a whole: (w,) each."""

    unit: str
    value: str
    start: Array
    values: Array
    deviations: Array


def trends(unit: str, windows: Sequence[Window], values: Array, pooled: Fit) -> list[Trend]:
    """Friction and offsets over time: each window is fitted with the links of the unit held."""
    # Viscous and Coulomb friction and offsets: what wears, warms and drifts; links keep their mass.
    moving = [k for k, (kind, _) in enumerate(pooled.design.kinds) if kind in ("Fv", "Fc", "Fo")]
    if len(windows) < 2 or not moving:
        return []
    series = [_window_values(window, values, moving, pooled) for window in windows]
    start = np.array([window.start for window in windows])
    found, spread = np.array([x for x, _ in series]), np.array([d for _, d in series])
    return [Trend(unit, pooled.names[k], start, found[:, i], spread[:, i]) for i, k in enumerate(moving)]


def _window_values(window: Window, values: Array, moving: Sequence[int], pooled: Fit) -> tuple[Array, Array]:
    """Values of some columns where all others are held: their residual is what is left to explain."""
    # Ones where the fit did not weigh the joints.
    weights = np.ones(window.evidence.n_joints) if pooled.weights is None else pooled.weights
    R = window.evidence.stacked(weights)
    held = [k for k in range(len(values)) if k not in set(moving)]
    # What is left of the torque once the links of the unit are taken off.
    right = R[:, -1] - R[:, held] @ values[held]
    A = R[:, list(moving)]
    solution, *_ = np.linalg.lstsq(A, right, rcond=None)
    inflation = 1.0 if pooled.inflation is None else float(np.mean(pooled.inflation))
    # rows are weighted to unit variance
    # Pseudo-inverse: a window in which a joint rests leaves its friction open.
    variances = inflation * np.diag(np.linalg.pinv(A.T @ A))
    return np.asarray(solution, dtype=np.float64), np.sqrt(np.maximum(variances, 0.0))


def change_of(trend: Trend, n_series: int) -> Change | None:
    """The one step that explains a series best, where chance does not: a scan over all places, with Bonferroni."""
    # Weighted by precision; a tiny floor keeps exact values from infinite weight.
    x, w = trend.values, 1.0 / np.maximum(trend.deviations, 1e-300) ** 2
    best: tuple[float, int] = (0.0, 0)
    for k in range(1, len(x)):
        before, after = np.average(x[:k], weights=w[:k]), np.average(x[k:], weights=w[k:])
        # Difference of two weighted means over its standard deviation.
        z = abs(after - before) / np.sqrt(1 / w[:k].sum() + 1 / w[k:].sum())
        best = max(best, (float(z), k))
    z, k = best
    # Every place of the step in every series is one trial.
    p_value = min(1.0, (len(x) - 1) * n_series * 2 * float(stats.norm.sf(z)))
    if p_value >= FALSE_ALARM:
        return None
    was, now = (float(np.average(x[part], weights=w[part])) for part in (slice(None, k), slice(k, None)))
    return Change(trend.unit, trend.value, float(trend.start[k]), was, now, p_value)
