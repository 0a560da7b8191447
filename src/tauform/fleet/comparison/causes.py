"""Causes: which fault explains best why a unit deviates, and since when: friction, gain, offset, payload, exchange.

A healthy unit has values x ~ N(mu, M + T), mu known to M, so that its weighted rows leave r = y - A mu ~ N(0, S) with
S = I + A (M + T) A^T. A fault adds D b along known columns D; generalized least squares give b, its covariance, and how
much of r it explains.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import scipy.linalg
from scipy import special

from tauform.arrays import AnyArray, Array
from tauform.fleet.comparison.reference import Reference
from tauform.fleet.evidence.condensed import Plan
from tauform.fleet.evidence.courses import CONSTANT, DRIFT, STEP, USUAL_SHARES, Course, Key, widened
from tauform.fleet.evidence.summary import UnitSummary
from tauform.fleet.sources.keys import told

# An exchange of columns has the size 1; further off it is no exchange.
MAX_SWAP_OFF = 0.3
# Of a joint's torque: what a model leaves unexplained of a healthy unit, beside noise, and may look like any fault.
LEAST_SHARE = 0.005
# Directions of a fault that show less than this share of the strongest one are open.
MIN_SHOWN = 1e-9


@dataclass(frozen=True)
class Cause:
    """A fault that would explain a unit.

    Attributes:
        name: "friction", "gain", "offset", "payload" or "swap".
        joints: of the robot, counted from 0.
        size: relative change of the friction or the gain, torque of an offset, mass of the payload [kg], 1 for columns
            that are exchanged.
        deviation: standard deviation of the size.
        p_value: probability that a healthy unit looks as much like it; one of many causes that were tried.
        course: "constant" in all recordings, a "step" between two of them, or a "drift" from the first to the last.
        at: start of the first recording with the fault [s].
        surprise: how much it explains, as -log of the chance where the spread of the fleet is known exactly; causes
            are ranked by it.
        unit: of the size of an offset.
    """

    name: str
    joints: tuple[int, ...]
    size: float
    deviation: float
    p_value: float
    course: str = CONSTANT
    at: float = 0.0
    surprise: float = 0.0
    unit: str = ""

    def __str__(self) -> str:
        where = "all joints" if len(self.joints) > 2 else " and ".join(f"joint {j + 1}" for j in self.joints)
        when = f" since {told(self.at)}" if self.course == STEP else ", drifting" if self.course == DRIFT else ""
        if self.name == "payload":
            return f"payload {self.size:+.2f} kg{when}"
        if self.name == "swap":
            return f"torques of {where} exchanged"
        if self.name == "offset":
            return f"offset of {where} {self.size:+.3g} {self.unit}{when}"
        return f"{self.name} of {where} {100 * self.size:+.0f} %{when}"


@dataclass(frozen=True, eq=False)
class Constant:
    """Faults that may be there in all recordings, the same for every unit.

    Attributes:
        faults: with the columns of `directions` that each has; the first is its size.
        directions: (p + n^2, m) of the columns of a unit's table.
    """

    faults: tuple[Course, ...]
    directions: Array

    @classmethod
    def of(cls, plan: Plan) -> Constant:
        """Friction and gain of each joint, a payload, exchanged torques of a pair."""
        n, p = len(plan.weights), len(plan.values)
        found: list[tuple[str, tuple[int, ...], Array, float]] = []
        for fault, colour in zip(plan.faults, plan.colour.of_faults, strict=True):
            # Offsets of healthy units differ as they like; one that stays is a value like any other.
            if fault.name != "offset":
                directions = np.zeros((p + n * n, fault.directions.shape[1]))
                directions[:p] = fault.directions[:p]
                for j in fault.joints:
                    directions[p + n * j : p + n * j + n] = fault.directions[p:]
                found.append((fault.name, fault.joints, directions, float(colour)))
        # All at once: another unit of torque, or a supply that gives less.
        everywhere = _place(p + n * n, {p + n * j + j: 1.0 for j in range(n)})
        found.append(("gain", tuple(range(n)), everywhere, float(plan.colour.of_gains.max())))
        # Joint i shows the torque of joint k instead of its own, and the other way round.
        for i, k in itertools.combinations(range(n), 2):
            exchange = {p + n * i + k: 1.0, p + n * i + i: -1.0, p + n * k + i: 1.0, p + n * k + k: -1.0}
            found.append(("swap", (i, k), _place(p + n * n, exchange), 1.0))
        faults, first = [], 0
        for name, joints, directions, colour in found:
            columns = range(first, first := first + directions.shape[1])
            faults.append(Course(name, joints, CONSTANT, 0.0, columns, 1, colour, np.inf))
        return cls(tuple(faults), np.concatenate([directions for _, _, directions, _ in found], axis=1))


@dataclass(frozen=True, eq=False)
class _Healthy:
    """What a healthy unit leaves: A, r, and S of its first rows as a Cholesky factor.

    A unit's table is triangular. Below its first p rows A is nothing, and S is one.
    """

    A: Array
    left: Array
    root: tuple[Array, bool]
    reference: Reference

    @classmethod
    def of(cls, table: Array, reference: Reference) -> _Healthy:
        p = len(reference.mean)
        A, left = table[:p, :p], table[:, -1].copy()
        left[: len(A)] -= A @ reference.mean
        # S = I + A (M + T) A^T
        spread = reference.uncertainty + np.diag(reference.between**2)
        root = scipy.linalg.cho_factor(np.eye(len(A)) + A @ spread @ A.T, check_finite=False)
        return cls(A, left, root, reference)

    def solved(self, D: Array) -> Array:
        """S^-1 D."""
        found = D.copy()
        found[: len(self.A)] = scipy.linalg.cho_solve(self.root, D[: len(self.A)], check_finite=False)
        return found

    def freedom(self, weights: Array, variance: Array) -> Array:
        """(m,) degrees of freedom of variances that the spread between units is a part of (Satterthwaite 1946).

        Args:
            weights: (m, r) h of sizes b = h^T r.
            variance: (m,) of these sizes, h^T S h.
        """
        # Spreads of one group are known from each other, so that their errors add up.
        felt = weights[:, : len(self.A)] @ self.A
        parts = felt**2 @ (self.reference.between**2 / np.sqrt(self.reference.freedom))
        found: Array = (variance / np.maximum(parts, 1e-300)) ** 2
        return found


@dataclass(frozen=True, eq=False)
class Tested:
    """Faults as one unit shows them, before it is known how much healthy units show of them; (m,) each.

    Attributes:
        faults: those that were tried.
        counts: how many were tried beside each, twice for two families of them.
        sizes, deviations: of the faults.
        surprise: see `Cause`.
        seen: how much of the residuals each explains, chi-squared of `n_directions` for a healthy unit.
        freedom: degrees of freedom of the variance behind that, and of its tails.
    """

    faults: tuple[Course, ...]
    counts: Array
    sizes: Array
    deviations: Array
    surprise: Array
    seen: Array
    n_directions: Array
    freedom: Array

    def chances(self, usual: Mapping[Key, float]) -> Array:
        """(m,) probabilities that a healthy unit looks as much like it.

        Args:
            usual: variance of what healthy units show of a fault, over the one that was expected.
        """
        seen = self.seen / [usual.get(fault.key, 1.0) for fault in self.faults]
        chance = special.fdtrc(self.n_directions, self.freedom, seen / self.n_directions)
        # A survival function that underflows to zero would make all grave faults alike: it stops before.
        found: Array = np.minimum(1.0, self.counts * np.maximum(chance, 1e-300 / np.maximum(seen, 1.0)))
        return found

    def cause(self, usual: Mapping[Key, float], torque_units: Sequence[str]) -> Cause | None:
        """The fault that explains most; None where none is shown.

        Args:
            torque_units: (n,) of the joints.
        """
        if not self.faults:
            return None
        k = int(np.argmax(self.surprise))
        fault, p_value = self.faults[k], float(self.chances(usual)[k])
        deviation = float(self.deviations[k] * np.sqrt(usual.get(fault.key, 1.0)))
        size, surprise = float(self.sizes[k]), float(self.surprise[k])
        unit = torque_units[fault.joints[0]] if fault.name == "offset" else ""
        return Cause(fault.name, fault.joints, size, deviation, p_value, fault.course, fault.at, surprise, unit)


def scatters(units: Sequence[Tested]) -> dict[Key, float]:
    """By `Course.key`: how much more healthy units scatter along a fault than their spreads, one by one, explain.

    Spreads of values are taken as independent. Those of masses are not: heavier castings look like a small payload, or
    like a gain of all joints. So the fleet itself says what is usual, by quantiles that a few faults do not move.
    """
    places: dict[Key, int] = {}
    held = np.array([places.setdefault(fault.key, len(places)) for unit in units for fault in unit.faults], dtype=int)
    tried = np.array([fault.n_tried for unit in units for fault in unit.faults], dtype=int)
    rows = np.repeat(np.arange(len(units)), [len(unit.faults) for unit in units])
    seen = np.concatenate([unit.seen for unit in units])
    # Few kinds of faults for many units: the inverse of chi-squared takes longer than all else here.
    kinds, which = np.unique(
        [np.concatenate([unit.n_directions for unit in units]), tried], axis=1, return_inverse=True
    )
    found = np.ones(len(places))
    for share in USUAL_SHARES:
        # Of the best of several places, as if these were independent.
        usual = special.chdtri(kinds[0], 1 - share ** (1 / kinds[1]))
        # Who does not show a fault at all shows none of it.
        ratios = np.zeros((len(units), len(places)))
        ratios[rows, held] = seen / usual[which]
        found = np.maximum(found, widened(np.quantile(ratios, share, axis=0), len(units)))
    return dict(zip(places, found.tolist(), strict=True))


def tested_faults(summary: UnitSummary, reference: Reference, constant: Constant, n: int) -> Tested:
    """All faults that a unit of n joints may show: those that it always had, and those that came with time."""
    healthy, first = _Healthy.of(summary.table, reference), len(constant.directions)
    faults = constant.faults + summary.courses
    # Two families of the same weight: a unit with many recordings must not lose faults that it always had.
    weights = [2 * sum(fault.n_tried for fault in family) for family in (constant.faults, summary.courses)]
    counts = np.repeat(weights, [len(constant.faults), len(summary.courses)])
    # All columns at once: one solution with S for all faults.
    D = np.concatenate([summary.table[:, :first] @ constant.directions, summary.table[:, first:-1]], axis=1)
    solved = healthy.solved(D)
    p = len(reference.mean)
    squares = (summary.table[:, [p + n * j + j for j in range(n)]] ** 2).sum(axis=0)
    # Torques of the joints that a fault acts on.
    torques = np.sqrt(_acted_on(tuple(fault.joints for fault in faults), n) @ squares)
    figures = np.zeros((6, len(faults)))
    for own, columns in _alike(faults, D):
        tried = np.array([faults[k].n_tried for k in own])
        colours = np.array([faults[k].colour for k in own])
        figures[:, own] = _tested(D[:, columns], solved[:, columns], healthy, torques[own], tried, colours)
    # Columns are exchanged or they are not: half of it is something else.
    swap = np.array([fault.name == "swap" for fault in faults])
    kept = (figures[4] > 0) & ~(swap & (np.abs(figures[0] - 1) > MAX_SWAP_OFF))
    shown = tuple(fault for fault, is_kept in zip(faults, kept, strict=True) if is_kept)
    found = Tested(shown, counts[kept], *figures[:, kept])
    # What was always there is a mean over all recordings; what came with time hangs on single ones.
    tails = np.array([np.inf if fault.course == CONSTANT else fault.tails for fault in shown])
    return replace(found, freedom=1.0 / (1.0 / found.freedom + 1.0 / tails))


def _alike(faults: Sequence[Course], D: Array) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Indices of faults with as many directions that the unit shows, and (m, k) their columns of D, for stacks.

    What the motion does not show of a fault is left out of it; without its first direction nothing is left.
    """
    lengths = np.array([len(fault.columns) for fault in faults])
    starts = np.cumsum(lengths) - lengths
    size = np.linalg.norm(D, axis=0)
    largest = np.maximum(np.maximum.reduceat(size, starts), 1e-300)
    shown = size > MIN_SHOWN * np.repeat(largest, lengths)
    counts = np.where(shown[starts], np.add.reduceat(shown.astype(int), starts), 0)
    for k in np.unique(counts[counts > 0]).tolist():
        yield np.flatnonzero(counts == k), np.flatnonzero(shown & np.repeat(counts == k, lengths)).reshape(-1, k)


def _tested(D: Array, solved: Array, healthy: _Healthy, torques: Array, tried: Array, colours: Array) -> Array:
    """(6, m) figures of faults with their columns D and S^-1 D, (r, m, k): the fields of `Tested` from `sizes` on."""
    D, solved = np.moveaxis(D, 0, 1), np.moveaxis(solved, 0, 1)
    size, k = np.linalg.norm(D, axis=1), D.shape[-1]
    normal = np.swapaxes(D, 1, 2) @ solved
    # Of unit columns: a kilogram and a kilogram metre are not comparable.
    scale = size[:, :, None] * size[:, None, :]
    covariance = np.linalg.pinv(normal / scale, rcond=MIN_SHOWN, hermitian=True) / scale
    b = (covariance @ (healthy.left @ solved)[..., None])[..., 0]
    # Of the variance, the part that is noise grows with the colour that each fault feels.
    weights, plain = (solved @ covariance[:, :, :1])[..., 0], covariance[:, 0, 0]
    # What its torque beside that of its joints may be, all of them for a payload.
    variance = plain + (colours - 1) * (weights**2).sum(axis=1) + (LEAST_SHARE * torques / size[:, 0]) ** 2
    explained = np.einsum("mi,mij,mj->m", b, normal, b)
    freedom = np.minimum(healthy.freedom(weights, variance), 1e9)
    # -log of the tail of chi-squared, for large numbers: few units must not turn the order of causes, nor colours that
    # are estimates themselves.
    half = np.maximum(explained, 1.0) / 2
    surprise = half - (k / 2 - 1) * np.log(half) + special.gammaln(k / 2) - np.log(tried)
    seen = explained * plain / variance
    return np.array([b[:, 0], np.sqrt(variance), surprise, seen, np.full(len(b), float(k)), freedom])


@cache
def _acted_on(joints: tuple[tuple[int, ...], ...], n: int) -> Array:
    """(m, n) 1 where a fault acts on a joint; one of no joints, a payload, acts on all."""
    found = np.zeros((len(joints), n))
    for row, own in zip(found, joints, strict=True):
        row[list(own) or slice(None)] = 1.0
    return found


def _place(width: int, entries: dict[int, float]) -> Array:
    found = np.zeros((width, 1))
    for row, value in entries.items():
        found[row] = value
    return found
