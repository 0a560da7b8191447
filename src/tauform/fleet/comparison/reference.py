"""Reference: what healthy units have in common, how they differ, and how well a fleet of this size knows both.

The random-effects model of meta-analysis: unit u has values x_u with covariance C_u from its own logs, and healthy
units differ, x_u ~ N(mu, C_u + T). Few units say little about T. So a value's own spread is moderated by the usual one
of its kind, and the degrees of freedom of both enter every test (moderated t-statistics, Smyth 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tauform.arrays import AnyArray, Array
from tauform.closedform.threads import on_one_thread
from tauform.fleet.evidence.condensed import Plan
from tauform.fleet.evidence.faults import FRICTION
from tauform.fleet.evidence.summary import UnitSummary

# Spread of values between units, relative to their size, that is never taken to be smaller: no two are alike.
LEAST_SPREAD = 0.005
# The usual spread of its kind counts in a value's own like so many further units.
PRIOR_FREEDOM = 4.0
# What is expected before any unit is seen counts like so many values of one unit.
LIKELY_SPREAD, LIKELY_FREEDOM = 0.03, 2.0
# A value's variance between units counts in its group up to so many times the usual one.
LARGEST_RATIO = 9.0
# Units that a spread can be told from: two others beside the one that is judged.
FEWEST_UNITS = 3
# Share of healthy units that is left out of the mean and the spread together with the faulty ones.
LEFT_OUT = 1e-3
# Of a standard deviation from absolute deviations about a median, in degrees of freedom of the usual one.
MEDIAN_EFFICIENCY = 0.37
# Pooled values are off by this share at most where logs of a unit say nothing.
LIKELY_OFF = 0.1
# Passes in which spreads and their groups settle.
N_PASSES = 4
# Kinds of values that spread alike, as assembly makes them; others are those of castings.
OF_FRICTION = FRICTION | {"Fo"}


@dataclass(frozen=True, eq=False)
class Reference:
    """What a unit is compared with.

    Attributes:
        mean: (p,) values of healthy units.
        uncertainty: (p, p) covariance of that mean; for a unit beside the others, of its noise alone.
        between: (p,) standard deviation of the values between units; for a unit beside the others, from their mean.
        freedom: (p,) degrees of freedom that this is known with.
    """

    mean: Array
    uncertainty: Array
    between: Array
    freedom: Array


@dataclass(frozen=True, eq=False)
class _Kinds:
    """Sizes of the values and what is alike: (p,) typical size, and label of the group."""

    size: Array
    group: AnyArray

    @classmethod
    def of(cls, plan: Plan, values: Array) -> _Kinds:
        """Sizes of some values, usual ones of the fleet."""
        design = plan.source.design
        # A value near zero (an offset, a product of inertia) spreads like its largest sibling, not like itself.
        places = list(zip(design.units, (joints for _, joints in design.kinds), strict=True))
        largest: dict[object, float] = {}
        for place, value in zip(places, values.tolist(), strict=True):
            largest[place] = max(largest.get(place, 0.0), abs(value))
        size = np.array([max(largest[place], 1e-300) for place in places])
        return cls(size, np.array([kind in OF_FRICTION for kind, _ in design.kinds]))

    def moderated(self, own: Array, noise: Array, count: Array | float) -> tuple[Array, Array]:
        """(..., p) variances between units and their degrees of freedom, from those that each value shows by itself.

        Args:
            own: (..., p) seen scatter beyond noise; may be negative.
            noise: (..., p) variance of the units' own estimates.
            count: degrees of freedom of the seen scatter.
        """
        least = (LEAST_SPREAD * self.size) ** 2
        prior = np.broadcast_to((LIKELY_SPREAD * self.size) ** 2, own.shape)
        for _ in range(N_PASSES):
            # Scatter that is mostly noise says little about the spread: (T / (T + C))^2 of its freedom.
            # One value that spreads like no other of its kind must not speak for all of them.
            shown = np.minimum(own, LARGEST_RATIO * prior)
            usual, known = self._usual(shown / self.size**2, count * (prior / (prior + noise)) ** 2)
            prior = np.maximum(usual * self.size**2, least)
        # A value counts by itself as far as chance does not explain that it spreads more than its group.
        chance = (prior + noise) * np.sqrt(2 / np.maximum(count, 1.0))
        shown = np.maximum(own - 2 * chance, prior)
        freedom = count * (shown / (shown + noise)) ** 2
        known = np.minimum(known, PRIOR_FREEDOM)
        found = (known * prior + freedom * np.maximum(own, 0.0)) / np.maximum(known + freedom, 1e-300)
        return np.maximum(found, least), np.maximum(known + freedom, 1.0)

    def _usual(self, relative: Array, freedom: Array) -> tuple[Array, Array]:
        """(..., p) mean over the group of each value, and the freedom of the whole group."""
        mean, known = np.zeros(relative.shape), np.zeros(relative.shape)
        for label in np.unique(self.group):
            own = self.group == label
            shown = (freedom[..., own] * relative[..., own]).sum(axis=-1, keepdims=True)
            total = freedom[..., own].sum(axis=-1, keepdims=True) + LIKELY_FREEDOM
            mean[..., own] = (shown + LIKELY_FREEDOM * LIKELY_SPREAD**2) / total
            known[..., own] = total
        return mean, known


class Peers:
    """A fleet whose units are judged by its healthy ones, nobody by himself.

    Covariances are taken unit by unit: those of ten thousand, and their inverses, would fill a memory.

    Attributes:
        healthy: (N,) who mean and spread are taken from.
    """

    @on_one_thread
    def __init__(self, plan: Plan, units: Sequence[UnitSummary], faulty: AnyArray) -> None:
        """Find who is healthy, their mean and their spread.

        Args:
            faulty: (N,) units that are known not to be healthy.
        """
        self.units = units
        x, noise = np.array([u.values for u in units]), np.array([np.diag(u.covariance) for u in units])
        middle = plan.values + np.median([_near(u, plan) for u in units], axis=0)
        kinds = _Kinds.of(plan, middle)
        self.T = _first_spread(x, noise, kinds)
        healthy = _healthy(units, middle, self.T)
        # Where too few would be left nobody knows who is the exception.
        self.healthy = healthy & ~faulty if (healthy & ~faulty).sum() >= _fewest(len(units)) else healthy
        # W_u = (C_u + T)^-1, mu = (sum W_u)^-1 sum W_u x_u: generalized least squares, for values are correlated.
        self.weight, self.pull = np.zeros((x.shape[1], x.shape[1])), np.zeros(x.shape[1])
        for k in np.flatnonzero(self.healthy):
            W = self._weight(int(k))
            self.weight, self.pull = self.weight + W, self.pull + W @ x[k]
        self.variances, self.freedom = _spreads(x, noise, self.T, self.healthy, kinds)

    @property
    def fleet(self) -> Reference:
        """All healthy units."""
        M = _inverse(self.weight)
        return Reference(M @ self.pull, M, np.sqrt(self.variances[-1]), self.freedom[-1])

    @on_one_thread
    def beside(self, k: int) -> Reference:
        """The other healthy units."""
        weight, pull, count = self.weight, self.pull, int(self.healthy.sum())
        if self.healthy[k]:
            W = self._weight(k)
            weight, pull, count = weight - W, pull - W @ self.units[k].values, count - 1
        M = _inverse(weight)
        # The mean of m units is uncertain by T / m beside its noise; whoever is compared with it adds that to T.
        between = np.sqrt(self.variances[k] * (1 + 1 / count))
        return Reference(M @ pull, M - np.diag(self.T / count), between, self.freedom[k])

    def _weight(self, k: int) -> Array:
        return _inverse(self.units[k].covariance + np.diag(self.T))


def _inverse(matrix: Array) -> Array:
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def alone(plan: Plan) -> Reference:
    """What stands for a fleet that is too small to tell a spread."""
    p = len(plan.values)
    return Reference(plan.values, np.zeros((p, p)), LEAST_SPREAD * _Kinds.of(plan, plan.values).size, np.zeros(p))


def _near(unit: UnitSummary, plan: Plan) -> Array:
    """(p,) how far a unit is from the pooled values; not at all where its logs leave a value open.

    Medians of single values do not know that these are correlated: what noise does to one it undoes in another.
    """
    wide = (LIKELY_OFF * plan.values) ** 2 + plan.deviations**2
    found: Array = wide * np.linalg.solve(unit.covariance + np.diag(wide), unit.values - plan.values)
    return found


def _first_spread(x: Array, noise: Array, kinds: _Kinds) -> Array:
    """(p,) variances between units by medians, which a few faulty ones do not widen."""
    # With the correction for few units of Croux and Rousseeuw (1992).
    scatter = (stats.median_abs_deviation(x, axis=0, scale="normal") * len(x) / (len(x) - 0.8)) ** 2
    typical = np.median(noise, axis=0)
    return kinds.moderated(scatter - typical, typical, MEDIAN_EFFICIENCY * (len(x) - 1))[0]


def _healthy(units: Sequence[UnitSummary], middle: Array, T: Array) -> AnyArray:
    """(N,) who does not stand out."""
    off = [unit.values - middle for unit in units]
    distance = np.array(
        [d @ np.linalg.solve(unit.covariance + np.diag(T), d) for d, unit in zip(off, units, strict=True)]
    )
    # In units of the median unit: the scale of a small fleet is a guess, its order is not.
    most = np.median(distance) * stats.chi2.isf(LEFT_OUT, len(T)) / stats.chi2.median(len(T))
    found: AnyArray = distance <= max(most, float(np.sort(distance)[_fewest(len(units)) - 1]))
    return found


def _fewest(n_units: int) -> int:
    """Units that mean and spread are taken from at least: half of them, and as many as a spread can be told from."""
    return max(FEWEST_UNITS, n_units // 2)


def _spreads(x: Array, noise: Array, T: Array, healthy: AnyArray, kinds: _Kinds) -> tuple[Array, Array]:
    """(N + 1, p) variances between healthy units and their freedom: without each unit in turn, then of all of them."""
    # Weighted method of moments (DerSimonian and Kacker 2007, eq. 6); sums, so that a unit is taken out by subtraction.
    w = healthy[:, None] / (noise + T)
    centred = x - np.average(x, axis=0, weights=np.maximum(w, 1e-300))
    sums = [w, w * centred, w * centred**2, w * noise, w**2, w**2 * noise, np.where(w > 0, 1.0, 0.0)]
    without = [np.concatenate([part.sum(axis=0) - part, part.sum(axis=0)[None]]) for part in sums]
    weight, first, second, wC, squares, wwC, count = without
    weight = np.maximum(weight, 1e-300)
    scatter = second - first**2 / weight
    own = (scatter - wC + wwC / weight) / np.maximum(weight - squares / weight, 1e-300)
    return kinds.moderated(own, wC / weight, np.maximum(count - 1, 0.0))
