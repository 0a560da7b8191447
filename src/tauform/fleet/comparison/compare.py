"""Units beside the fleet: a hierarchical estimate, and who deviates by how much.

What a unit's motion leaves open is taken from the fleet: posterior precision = C_u^-1 + T^-1. It deviates where the
other units, of which it is none, do not explain it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from tauform.arrays import AnyArray, Array
from tauform.closedform.threads import on_one_thread
from tauform.fleet.comparison.causes import Cause, Constant, Tested, scatters, tested_faults
from tauform.fleet.comparison.reference import FEWEST_UNITS, Peers, Reference, alone
from tauform.fleet.comparison.scatter import as_they_scatter
from tauform.fleet.comparison.unexplained import Unexplained, unexplained
from tauform.fleet.evidence.condensed import Plan
from tauform.fleet.evidence.summary import UnitSummary

# Probability that any unit of a healthy fleet is called deviating by chance.
FALSE_ALARM = 0.01
# Passes in which it settles who is healthy.
N_PASSES = 3


@dataclass(frozen=True, eq=False)
class UnitFit:
    """A unit beside the fleet.

    Attributes:
        values: (p,) shrunk towards the fleet where its own logs leave a value open.
        deviations: (p,) standard deviations of these.
        from_logs: (p,) share of each value that the unit's own logs decide, 0 to 1.
        z: (p,) deviation from the other units, in standard deviations of what a healthy unit shows.
        error: of its own values on its logs, RMS error over RMS torque.
        fleet_error: the same of the fleet's values.
        p_value: probability of a deviation as large in a healthy unit, values, known faults and residuals together;
            1 in fleets of fewer than three units.
        is_deviating: whether it deviates at the stated rate of false alarms.
        cause: the fault that explains the deviation of its values best, where these deviate.
        unexplained: torques that no values explain, where they are far more than those of other units.
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
    unexplained: Unexplained | None = None

    @property
    def why(self) -> str:
        """Why it deviates, in words; empty where it does not."""
        if not self.is_deviating:
            return ""
        found = [str(part) for part in (self.cause, self.unexplained) if part is not None]
        return "; ".join(found) or "values deviate"

    def largest(self, names: tuple[str, ...], count: int = 3) -> list[tuple[str, float]]:
        """The values that deviate most, with their z."""
        # A stable sort: equal deviations keep the order of the parameters.
        order = np.argsort(-np.abs(self.z), kind="stable")[:count]
        return [(names[k], float(self.z[k])) for k in order]


@on_one_thread
def compare_units(plan: Plan, units: Sequence[UnitSummary]) -> tuple[Reference, list[UnitFit]]:
    """The fleet, and every unit beside it, most deviating first."""
    units = as_they_scatter(units, plan)
    if len(units) < FEWEST_UNITS:
        found = [_beside(unit, alone(plan), _deviations(unit, alone(plan))[0], 1.0) for unit in units]
        return alone(plan), found
    constant, n = Constant.of(plan), len(plan.weights)
    # Bonferroni over the units: the rate of false alarms is that of the whole fleet.
    alarms = FALSE_ALARM / len(units)
    odd = unexplained(units)
    by_residual = [1.0 if own is None else own.p_value for own in odd]
    faulty: AnyArray = np.zeros(len(units), dtype=bool)
    for _ in range(N_PASSES):
        peers = Peers(plan, units, faulty)
        # What a unit shows first, then what is usual among all of them.
        shown = [_Shown.of(unit, peers.beside(k), constant, n) for k, unit in enumerate(units)]
        usual = scatters([own.faults for own, is_healthy in zip(shown, peers.healthy, strict=True) if is_healthy])
        # Values and known faults: the smallest probability counts for both, and for residuals (Bonferroni).
        by_values = [min([1.0, 3 * own.by_value, *(3 * own.faults.chances(usual))]) for own in shown]
        chances = [min(own, 3 * other) for own, other in zip(by_values, by_residual, strict=True)]
        deviate = np.array(chances) < alarms
        # Who deviates hides others like him, where he was taken for healthy.
        if not (deviate & peers.healthy & ~faulty).any():
            break
        faulty |= deviate
    fits = [
        replace(
            _beside(unit, peers.fleet, own.z, chance),
            is_deviating=chance < alarms,
            cause=own.faults.cause(usual, plan.torque_units) if by_value < alarms else None,
            unexplained=left if left is not None and 3 * left.p_value < alarms else None,
        )
        for unit, own, chance, by_value, left in zip(units, shown, chances, by_values, odd, strict=True)
    ]
    return peers.fleet, sorted(fits, key=lambda fit: fit.p_value)


@dataclass(frozen=True, eq=False)
class _Shown:
    """A unit beside the other ones: (p,) z of its values, the least likely one's chance, and faults that were tried."""

    z: Array
    by_value: float
    faults: Tested

    @classmethod
    def of(cls, unit: UnitSummary, others: Reference, constant: Constant, n: int) -> _Shown:
        return cls(*_deviations(unit, others), tested_faults(unit, others, constant, n))


def _beside(unit: UnitSummary, fleet: Reference, z: Array, p_value: float) -> UnitFit:
    """Its estimate, shrunk towards the fleet; nothing is said of whether it deviates."""
    x, C, T = unit.values, unit.covariance, fleet.between**2
    # x_u = mu + T (C + T)^-1 (x - mu): the unit's own word counts by how much more it knows than the fleet
    # gain = T (C + T)^-1; both are symmetric, so solving and transposing avoids an inverse.
    gain = np.linalg.solve(C + np.diag(T), np.diag(T)).T
    values = fleet.mean + gain @ (x - fleet.mean)
    covariance = np.diag(T) - gain @ np.diag(T)
    return UnitFit(
        unit=unit.unit,
        values=values,
        deviations=np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        # The gain's diagonal: 1 where a unit's own logs decide, 0 where the fleet does.
        from_logs=np.clip(np.diag(gain), 0.0, 1.0),
        z=z,
        error=unit.error(values),
        fleet_error=unit.error(fleet.mean),
        p_value=p_value,
        is_deviating=False,
    )


def _deviations(unit: UnitSummary, others: Reference) -> tuple[Array, float]:
    """(p,) z of each value, and the probability of the least likely one, all values considered."""
    T = others.between**2
    variance = np.maximum(np.diag(unit.covariance) + np.diag(others.uncertainty) + T, 1e-300)
    # Of the variance only T is a guess: Satterthwaite's degrees of freedom, T known with its own.
    freedom = others.freedom * (variance / np.maximum(T, 1e-300)) ** 2
    z = (unit.values - others.mean) / np.sqrt(variance)
    return z, len(z) * 2 * float(special.stdtr(np.clip(freedom, 1.0, 1e9), -np.abs(z)).min())
