"""Trends: friction, offsets, gains and payload of a unit, window by window, and where they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.fleet.evidence.condensed import Plan, Window
from tauform.fleet.evidence.courses import DRIFT, STEP, best_line, best_step, left_of, ramp, two_sided
from tauform.fleet.evidence.faults import load_directions

# Of all series of a healthy fleet, the share in which a change is found by chance.
FALSE_ALARM = 0.01


@dataclass(frozen=True, eq=False)
class Change:
    """A value that is another before and after a window, or that drifts.

    Attributes:
        value: its name.
        at: start of the first window after a step, of the first of all for a drift [s].
        before, after: means of the value, or where its straight line begins and ends.
        p_value: probability of a change as large by chance, all windows considered.
        course: "step" or "drift".
    """

    unit: str
    value: str
    at: float
    before: float
    after: float
    p_value: float
    course: str = STEP


@dataclass(frozen=True, eq=False)
class Trend:
    """A value of a unit over its windows, all others as they are in the unit as a whole: (w,) each."""

    unit: str
    value: str
    start: Array
    values: Array
    deviations: Array


def trends(unit: str, windows: Sequence[Window], held: Array, plan: Plan, noise: Array) -> list[Trend]:
    """Friction, offsets, gains and payload over time: each window is fitted with the links of the unit held.

    Args:
        held: (p + n) of the unit as a whole, see `left_of`.
        noise: (n,) standard deviation of its rows, as if they were independent.
    """
    if len(windows) < 2:
        return []
    design = plan.source.design
    # Viscous and Coulomb friction and offsets: what wears, warms and drifts; links keep their mass.
    moving = list(plan.colour.moving)
    names = [*(design.names[k] for k in moving), *(f"gain_{j + 1}" for j in range(len(plan.weights))), "payload"]
    p, load = len(plan.values), load_directions(design)
    found, spread = [], []
    for window in windows:
        A, left = _left(window, held, p, noise)
        friction = _changes(A, left, np.eye(p)[:, moving])
        # Of a load, its mass; first moments take what else it does.
        mass = [part[:1] for part in _changes(A, left, load)]
        parts = (friction, _gains(window, held, p, left, noise), mass)
        found.append(np.concatenate([x for x, _ in parts]))
        spread.append(np.concatenate([d for _, d in parts]))
    start = np.array([window.start for window in windows])
    x, d = np.array(found), np.array(spread)
    # On the whole a joint has its own share and, by its gain, one of all that is predicted for it.
    joints = [design.kinds[k][1][0] for k in moving]
    x[:, : len(moving)] += held[moving] + held[p:][joints] * plan.values[moving]
    # Slow noise is felt by what changes as slowly: an offset more than friction.
    d *= np.sqrt(np.concatenate([plan.colour.of_moving, plan.colour.of_gains, plan.colour.of_load]))
    return [Trend(unit, name, start, x[:, i], d[:, i]) for i, name in enumerate(names)]


def _left(window: Window, held: Array, p: int, noise: Array) -> tuple[Array, Array]:
    """(n, rows, p) A and (n, rows) what is left of the torques once the unit as a whole is taken off; of unit noise."""
    R = window.evidence.triangles[0]
    return R[:, :, :p] / noise[:, None, None], left_of(R, held, p) / noise[:, None]


def _changes(A: Array, left: Array, directions: Array) -> tuple[Array, Array]:
    """Sizes of some directions of the values, and their deviations."""
    return _solved((A @ directions).reshape(-1, directions.shape[1]), left.reshape(-1))


def _gains(window: Window, held: Array, p: int, left: Array, noise: Array) -> tuple[Array, Array]:
    """Measured over predicted torque of each joint: 1 where its drive is as it is on the whole."""
    R = window.evidence.triangles[0]
    predicted = R[:, :, :p] @ held[:p] / noise[:, None]
    # One joint, one column: g - 1 = (m . e) / (m . m).
    squares = np.maximum((predicted**2).sum(axis=1), 1e-300)
    return 1.0 + (predicted * left).sum(axis=1) / squares, 1.0 / np.sqrt(squares)


def _solved(A: Array, left: Array) -> tuple[Array, Array]:
    change, *_ = np.linalg.lstsq(A, left, rcond=None)
    # Pseudo-inverse: a window in which a joint rests leaves its friction open.
    variances = np.diag(np.linalg.pinv(A.T @ A))
    return np.asarray(change, dtype=np.float64), np.sqrt(np.maximum(variances, 0.0))


def change_of(trend: Trend, n_series: int) -> Change | None:
    """The step or the straight line that explains a series best, where chance does not; Bonferroni over all tried."""
    # Weighted by precision; a tiny floor keeps exact values from infinite weight.
    x, w = trend.values, 1.0 / np.maximum(trend.deviations, 1e-300) ** 2
    (z, k), course = best_step(x, w), STEP
    line, was, now = best_line(x, w, ramp(trend.start))
    if line > z:
        z, k, course = line, 0, DRIFT
    else:
        was, now = (float(np.average(x[part], weights=w[part])) for part in (slice(None, k), slice(k, None)))
    # Every place of the step and the line, in every series, is one trial.
    p_value = min(1.0, len(x) * n_series * two_sided(z))
    if p_value >= FALSE_ALARM:
        return None
    return Change(trend.unit, trend.value, float(trend.start[k]), was, now, p_value, course)
