"""Trends: friction, offsets, gains and payload of a unit, window by window, and where they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tauform.arrays import Array
from tauform.description.inertia import parameter_transform
from tauform.fleet.condensed import Plan, Window

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


def trends(unit: str, windows: Sequence[Window], values: Array, plan: Plan, sigma: Array) -> list[Trend]:
    """Friction, offsets, gains and payload over time: each window is fitted with the links of the unit held.

    Args:
        values: (p,) of the unit as a whole.
        sigma: (n,) standard deviation of its residuals: what its model does not explain must not pass for a change.
    """
    if len(windows) < 2:
        return []
    design = plan.source.design
    # Viscous and Coulomb friction and offsets: what wears, warms and drifts; links keep their mass.
    moving = [k for k, (kind, _) in enumerate(design.kinds) if kind in ("Fv", "Fc", "Fo")]
    names = [*(design.names[k] for k in moving), *(f"gain_{j + 1}" for j in range(len(plan.weights))), "payload"]
    load = load_directions(plan)
    # Per row, as if rows were independent.
    noise = np.maximum(sigma, 1.0 / plan.weights) * np.sqrt(plan.inflation)
    found, spread = [], []
    for window in windows:
        friction = _friction(window, values, moving, noise)
        parts = (friction, _gains(window, values, noise), _load(window, values, load, noise))
        found.append(np.concatenate([x for x, _ in parts]))
        spread.append(np.concatenate([d for _, d in parts]))
    start = np.array([window.start for window in windows])
    x, d = np.array(found), np.array(spread)
    return [Trend(unit, name, start, x[:, i], d[:, i]) for i, name in enumerate(names)]


def _weighted(window: Window, values: Array, noise: Array) -> tuple[Array, Array]:
    """[A], and what is left of the torque once all values are taken off; rows of unit noise."""
    p = len(values)
    R = window.evidence.stacked(1.0 / noise)
    return R[:, :p], R[:, -1] - R[:, :p] @ values


def _friction(window: Window, values: Array, moving: Sequence[int], noise: Array) -> tuple[Array, Array]:
    """Values of some columns where all others are held."""
    A, left = _weighted(window, values, noise)
    change, deviations = _solved(A[:, list(moving)], left)
    return values[list(moving)] + change, deviations


def _gains(window: Window, values: Array, noise: Array) -> tuple[Array, Array]:
    """Measured over predicted torque of each joint: 1 where its drive is as it is on the whole."""
    R, p = window.evidence.triangles[0], len(values)
    predicted, measured = R[:, :, :p] @ values, R[:, :, -1]
    # One joint, one column: g = (m . y) / (m . m).
    squares = np.maximum((predicted**2).sum(axis=1), 1e-300)
    return (predicted * measured).sum(axis=1) / squares, noise / np.sqrt(squares)


def _load(window: Window, values: Array, load: Array, noise: Array) -> tuple[Array, Array]:
    """Mass at the tool [kg] beyond what the unit carries on the whole."""
    A, left = _weighted(window, values, noise)
    change, deviations = _solved(A @ load, left)
    return change[:1], deviations[:1]


def _solved(A: Array, left: Array) -> tuple[Array, Array]:
    change, *_ = np.linalg.lstsq(A, left, rcond=None)
    # Pseudo-inverse: a window in which a joint rests leaves its friction open.
    variances = np.diag(np.linalg.pinv(A.T @ A))
    return np.asarray(change, dtype=np.float64), np.sqrt(np.maximum(variances, 0.0))


def load_directions(plan: Plan) -> Array:
    """(p, 4) change of the values by a body at the tool, per kilogram and per first moment."""
    robot, base = plan.source.design.robot, plan.source.design.base
    place = robot.tool
    # A tool on the base carries nothing that moves.
    found = np.zeros((len(plan.values), 4))
    if place.link < 0:
        return found
    link_from_tool = parameter_transform(place.link_from_frame)
    for k in range(4):
        body = np.zeros(robot.layout.n)
        body[robot.layout.link(place.link)] = link_from_tool[:, k]
        found[: base.n, k] = base.values(body)
    return found


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
