"""Units beside the fleet: a hierarchical estimate, and who deviates by how much.

Unit u has values x_u with covariance C_u from its own logs. Values differ between units: x_u ~ N(mu, T). The mean mu
and the spread T are found from all units (method of moments), and what a unit's motion leaves open is taken from the
fleet: posterior precision = C_u^-1 + T^-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tauform.arrays import Array
from tauform.fleet.causes import Cause, causes
from tauform.fleet.condensed import Plan
from tauform.fleet.summary import UnitSummary

# Of all units of a healthy fleet, the share that is called deviating by chance.
FALSE_ALARM = 0.01
# Spread of values between units, relative to their fleet value, that is never taken to be smaller: no two are alike.
LEAST_SPREAD = 0.005
# Units that a spread is estimated from at least; fewer take the least one.
FEWEST_UNITS = 4


@dataclass(frozen=True, eq=False)
class UnitFit:
    """A unit beside the fleet.

    Attributes:
        values: (p,) shrunk towards the fleet where its own logs leave a value open.
        deviations: (p,) standard deviations of these.
        from_logs: (p,) share of each value that the unit's own logs decide, 0 to 1.
        z: (p,) deviation from the fleet, in standard deviations of what a healthy unit shows.
        error: of its own values on its logs, RMS error over RMS torque.
        fleet_error: the same of the fleet's values.
        p_value: probability of a deviation as large in a healthy unit, all values together.
        is_deviating: whether it deviates at the stated rate of false alarms.
        cause: the fault that explains the deviation best, where it deviates.
    """

    unit: str
    values: Array
    deviations: Array
    from_logs: Array
    z: Array
    error: float
    fleet_error: float
    p_value: float
    is_deviating: bool
    cause: Cause | None = None

    def largest(self, names: tuple[str, ...], count: int = 3) -> list[tuple[str, float]]:
        """The values that deviate most, with their z."""
        # A stable sort: equal deviations keep the order of the parameters.
        order = np.argsort(-np.abs(self.z), kind="stable")[:count]
        return [(names[k], float(self.z[k])) for k in order]


@dataclass(frozen=True, eq=False)
class Spread:
    """The fleet: (p,) mean of the values and standard deviation between units."""

    mean: Array
    between: Array


def compare_units(plan: Plan, units: Sequence[UnitSummary]) -> tuple[Spread, list[UnitFit]]:
    """The fleet's spread, and every unit beside it, most deviating first."""
    spread = _spread(plan, units)
    # Bonferroni over the units: the rate of false alarms is that of the whole fleet.
    alarms = FALSE_ALARM / max(1, len(units))
    fits = [_beside(unit, spread, plan, alarms) for unit in units]
    return spread, sorted(fits, key=lambda fit: fit.p_value)


def _spread(plan: Plan, units: Sequence[UnitSummary]) -> Spread:
    """Median of the units and their spread beyond what noise explains; robust: a few faulty units do not widen it."""
    values, variances = np.array([u.values for u in units]), np.array([np.diag(u.covariance) for u in units])
    least = LEAST_SPREAD * np.abs(plan.values)
    # A spread of three numbers is a guess: the fleet's values and the least spread stand in.
    if len(units) < FEWEST_UNITS:
        return Spread(plan.values, least)
    # A median weighs units whose logs leave a value open as much as others: these are left out of it.
    known = variances <= 4 * np.median(variances, axis=0)
    mean = np.array([np.median(values[known[:, k], k]) for k in range(values.shape[1])])
    scatter = np.array([stats.median_abs_deviation(values[known[:, k], k], scale="normal") for k in range(len(mean))])
    # Seen scatter = spread between units + noise of the estimates; below zero noise explains all of it.
    between = np.sqrt(np.maximum(scatter**2 - np.median(variances, axis=0), 0.0))
    return Spread(mean, np.maximum(between, least))


def _beside(unit: UnitSummary, spread: Spread, plan: Plan, alarms: float) -> UnitFit:
    x, C, T = unit.values, unit.covariance, spread.between**2
    # x_u = mu + T (C + T)^-1 (x - mu): the unit's own word counts by how much more it knows than the fleet
    # gain = T (C + T)^-1; both are symmetric, so solving and transposing avoids an inverse.
    gain = np.linalg.solve(C + np.diag(T), np.diag(T)).T
    values = spread.mean + gain @ (x - spread.mean)
    covariance = np.diag(T) - gain @ np.diag(T)
    z = (x - spread.mean) / np.sqrt(np.maximum(np.diag(C) + T, 1e-300))
    faults = causes(unit, spread.mean, spread.between, plan)
    # Each value is tested, and each known fault: the smallest probability counts for all of them (Bonferroni).
    by_value = 2 * float(stats.norm.sf(np.abs(z).max()))
    p_value = min(1.0, 2 * len(z) * by_value, *(2 * fault.p_value for fault in faults))
    is_deviating = p_value < alarms
    return UnitFit(
        unit=unit.unit,
        values=values,
        deviations=np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        # The gain's diagonal: 1 where a unit's own logs decide, 0 where the fleet does.
        from_logs=np.clip(np.diag(gain), 0.0, 1.0),
        z=z,
        error=unit.error(values),
        fleet_error=unit.error(spread.mean),
        p_value=p_value,
        is_deviating=is_deviating,
        cause=faults[0] if is_deviating and faults else None,
    )
