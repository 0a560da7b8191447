"""Trends: friction, offsets, gains and payload of a unit, window by window, and where they change."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from tauform.arrays import Array
from tauform.fleet.evidence.condensed import Plan, Window
from tauform.fleet.evidence.courses import (
    DRIFT,
    STEP,
    USUAL_SHARES,
    best_line,
    best_step,
    heavy_tailed,
    ramp,
    two_sided,
    widened,
)
from tauform.fleet.evidence.estimates import changes, left_in

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
    """A value of a unit over its windows, all others as they are in the unit as a whole: (w,) each.

    Attributes:
        tails: degrees of freedom of the deviations; infinite where all of them is noise.
    """

    unit: str
    value: str
    start: Array
    values: Array
    deviations: Array
    tails: float = np.inf


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
    p, load = len(plan.values), plan.load
    found, spread = [], []
    for window in windows:
        A, left = left_in(window, held, p, noise)
        friction = changes(A, left, np.eye(p)[:, moving])
        # Of a load, its mass; first moments take what else it does.
        mass = [part[:1] for part in changes(A, left, load)]
        parts = (friction, _gains(window, held, p, left, noise), mass)
        found.append(np.concatenate([x for x, _ in parts]))
        spread.append(np.concatenate([d for _, d in parts]))
    start = np.array([window.start for window in windows])
    x, d = np.array(found), np.array(spread)
    # On the whole a joint has its own share and, by its gain, one of all that is predicted for it.
    joints = [design.kinds[k][1][0] for k in moving]
    x[:, : len(moving)] += held[moving] + held[p:][joints] * plan.values[moving]
    # Slow noise is felt by what changes as slowly: an offset more than friction.
    slow, colour = plan.colour.slow, np.concatenate([plan.colour.of_moving, plan.colour.of_gains, plan.colour.of_load])
    d *= np.sqrt(colour)
    tails = heavy_tailed(colour * [*slow[joints], *slow, slow.max()])
    return [Trend(unit, name, start, x[:, i], d[:, i], float(tails[i])) for i, name in enumerate(names)]


def _gains(window: Window, held: Array, p: int, left: Array, noise: Array) -> tuple[Array, Array]:
    """Measured over predicted torque of each joint: 1 where its drive is as it is on the whole."""
    R = window.evidence.triangles[0]
    predicted = R[:, :, :p] @ held[:p] / noise[:, None]
    # One joint, one column: g - 1 = (m . e) / (m . m).
    squares = np.maximum((predicted**2).sum(axis=1), 1e-300)
    return 1.0 + (predicted * left).sum(axis=1) / squares, 1.0 / np.sqrt(squares)


def usual_trends(series: Sequence[Trend], deviating: Collection[str]) -> list[Trend]:
    """The series with deviations as large as windows scatter in the fleet, where that is more than was expected.

    Args:
        deviating: units that say nothing about what is usual.
    """
    scatter: dict[tuple[str, int], list[float]] = {}
    for _, alike in _by_length([trend for trend in series if trend.unit not in deviating]):
        x, w = np.array([trend.values for trend in alike]), _precision(alike)
        off = x - (w * x).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
        for trend, square in zip(alike, (w * off**2).sum(axis=1).tolist(), strict=True):
            scatter.setdefault((trend.value, len(off[0])), []).append(square)
    # Of series of one value and length: chi-squared of one less than their windows.
    found = {
        (name, count): max(
            float(widened(np.quantile(seen, share) / special.chdtri(count - 1, 1 - share), len(seen)))
            for share in USUAL_SHARES
        )
        for (name, count), seen in scatter.items()
    }
    ratios = [found.get((trend.value, len(trend.values)), 1.0) for trend in series]
    return [replace(t, deviations=t.deviations * np.sqrt(ratio)) for t, ratio in zip(series, ratios, strict=True)]


def changes_of(series: Sequence[Trend], n_series: int) -> list[Change]:
    """The step or the straight line that explains a series best, where chance does not; Bonferroni over all tried."""
    found: list[tuple[int, Change]] = []
    for places, alike in _by_length(series):
        x, w = np.array([trend.values for trend in alike]), _precision(alike)
        (z, k), (line, was, now) = best_step(x, w), best_line(x, w, ramp(np.array([trend.start for trend in alike])))
        # Every place of the step and the line, in every series, is one trial.
        p_values = np.minimum(
            1.0, x.shape[1] * n_series * two_sided(np.maximum(z, line), np.array([trend.tails for trend in alike]))
        )
        for i in np.flatnonzero(p_values < FALSE_ALARM).tolist():
            trend, at, p_value, course = alike[i], int(k[i]), float(p_values[i]), STEP
            if line[i] > z[i]:
                at, course, before, after = 0, DRIFT, float(was[i]), float(now[i])
            else:
                before, after = (
                    float(np.average(x[i, part], weights=w[i, part])) for part in (slice(None, at), slice(at, None))
                )
            change = Change(trend.unit, trend.value, float(trend.start[at]), before, after, p_value, course)
            found.append((places[i], change))
    # In the order of the series.
    return [change for _, change in sorted(found, key=lambda pair: pair[0])]


def _by_length(series: Sequence[Trend]) -> list[tuple[list[int], list[Trend]]]:
    """Series of as many windows, which go in stacks, and their places."""
    found: dict[int, list[int]] = {}
    for place, trend in enumerate(series):
        found.setdefault(len(trend.values), []).append(place)
    return [(places, [series[place] for place in places]) for places in found.values()]


def _precision(alike: Sequence[Trend]) -> Array:
    # A tiny floor keeps exact values from infinite weight.
    found: Array = 1.0 / np.maximum(np.array([trend.deviations for trend in alike]), 1e-300) ** 2
    return found
