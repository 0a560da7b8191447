"""Thermal: friction over temperature, learnt from some units, so that a cold morning is no fault.

Friction of a unit's windows is regressed on their temperatures, each unit beside its own mean, so that differences
between units do not count. What temperature explains is then taken off every window: all later estimates are those at
one temperature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.threads import on_one_thread
from tauform.fleet.evidence.condensed import Plan, Thermal, UnitLogs, Window
from tauform.fleet.evidence.estimates import friction_columns, friction_of, held_of

# Fewer windows say nothing about a slope.
FEWEST_WINDOWS = 3
# Friction of gears with grease changes by some percent per kelvin at most; wider is noise.
LIKELY_SLOPE = 0.03
# Slopes of units differ from the fleet's by this share at most.
SLOPE_SPREAD = 0.3
# Slopes that chance may explain are none: standard deviations.
MIN_SEEN = 3.0


@on_one_thread
def thermal_of(units: Sequence[UnitLogs], plan: Plan) -> Thermal | None:
    """How friction changes with temperature; None where no unit was recorded at several."""
    found = [_Slopes.of(warm, plan) for unit in units if len(warm := _warm(unit)) >= FEWEST_WINDOWS]
    if not found:
        return None
    slopes, information = (np.array([getattr(one, name) for one in found]) for name in ("slopes", "information"))
    usual = np.array([_weighted_median(s, w) for s, w in zip(slopes.T, information.T, strict=True)])
    total = information.sum(axis=0)
    columns = list(friction_columns(plan))
    # A prior around none: what the windows do not show stays small.
    prior = 1.0 / np.maximum(LIKELY_SLOPE * np.abs(plan.values[columns]), 1e-300) ** 2
    shrunk = np.where(np.abs(usual) * np.sqrt(total) > MIN_SEEN, usual * total / (total + prior), 0.0)
    whole = np.zeros(len(plan.values))
    whole[columns] = shrunk
    seen = np.array([window.temperature for unit in units for window in _warm(unit)])
    return Thermal(seen.mean(axis=0), whole, seen.min(axis=0), seen.max(axis=0))


def at_reference(windows: Sequence[Window], plan: Plan) -> list[Window]:
    """The windows of a unit as if its joints had had the reference temperature."""
    thermal = plan.thermal
    if thermal is None:
        return list(windows)
    found = [_moved(window, plan, thermal, thermal.slopes) for window in windows]
    warm = [window for window in found if len(window.temperature)]
    if len(warm) < FEWEST_WINDOWS:
        return found
    # Units differ in this too, as far as they usually do; what goes beyond is a fault that came with the weather.
    columns, further = list(friction_columns(plan)), np.zeros(len(thermal.slopes))
    own, most = _Slopes.of(warm, plan), SLOPE_SPREAD * np.abs(thermal.slopes[columns])
    shrunk = own.slopes * own.information / (own.information + 1 / np.maximum(most, 1e-150) ** 2)
    further[columns] = np.clip(shrunk, -most, most)
    return [_moved(window, plan, thermal, further) for window in found]


def _moved(window: Window, plan: Plan, thermal: Thermal, slopes: Array) -> Window:
    """A window without what (p,) slopes say of its temperature."""
    if not len(window.temperature):
        return window
    # Beyond what was seen a straight line is a guess.
    off = np.clip(window.temperature, thermal.lowest, thermal.highest) - thermal.reference
    joints = [joints[0] if joints else 0 for _, joints in plan.source.design.kinds]
    change = slopes * off[joints]
    triangles = window.evidence.triangles.copy()
    # tau = A (x + change) + noise, and R has the same products as all rows.
    triangles[..., -1] -= triangles[..., : len(change)] @ change
    return replace(window, evidence=replace(window.evidence, triangles=triangles))


def _warm(unit: UnitLogs) -> list[Window]:
    return [window for window in unit.windows if len(window.temperature)]


@dataclass(frozen=True, eq=False)
class _Slopes:
    """Slopes of one unit's friction, (k,) each with its information 1 / variance."""

    slopes: Array
    information: Array

    @classmethod
    def of(cls, windows: Sequence[Window], plan: Plan) -> _Slopes:
        held = held_of(windows, plan)
        noise = np.maximum(held.sigma, 1.0 / plan.weights) * np.sqrt(plan.inflation)
        columns = friction_columns(plan)
        found = [friction_of(window, held.values, plan, noise, columns) for window in windows]
        x, deviations = (np.array(part) for part in zip(*found, strict=True))
        # Never infinitely sure: exact logs have no noise.
        w = 1.0 / np.maximum(deviations, 1e-9 * np.abs(plan.values[list(columns)]) + 1e-300) ** 2
        T = np.array([window.temperature for window in windows])[:, _joints(plan, columns)]
        T = T - np.average(T, axis=0, weights=w)
        information = (w * T**2).sum(axis=0)
        return cls((w * T * x).sum(axis=0) / np.maximum(information, 1e-300), information)


def _joints(plan: Plan, columns: Sequence[int]) -> list[int]:
    return [plan.source.design.kinds[k][1][0] for k in columns]


def _weighted_median(values: Array, weights: Array) -> float:
    """One unit that wears while it warms must not speak for all."""
    order: AnyArray = np.argsort(values, kind="stable")
    sums = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(sums, 0.5 * sums[-1])])
