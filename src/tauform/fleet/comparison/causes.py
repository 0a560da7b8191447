"""Causes: which fault explains best why a unit deviates, and since when: friction, gain, offset, payload, exchange.

A healthy unit has values x ~ N(mu, M + T), mu known to M, so that its weighted rows leave r = y - A mu ~ N(0, S) with
S = I + A (M + T) A^T. A fault adds D b along known columns D; generalized least squares give b, its covariance, and how
much of r it explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from scipy import special

from tauform.arrays import AnyArray, Array
from tauform.closedform.threads import on_one_thread
from tauform.fleet.comparison.reference import Reference
from tauform.fleet.evidence.condensed import Plan
from tauform.fleet.evidence.courses import CONSTANT, DRIFT, STEP, USUAL_SHARES, Course, widened
from tauform.fleet.evidence.faults import faults_of
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
    """

    name: str
    joints: tuple[int, ...]
    size: float
    deviation: float
    p_value: float
    course: str = CONSTANT
    at: float = 0.0
    surprise: float = 0.0

    def __str__(self) -> str:
        where = "all joints" if len(self.joints) > 2 else " and ".join(f"joint {j + 1}" for j in self.joints)
        when = f" since {told(self.at)}" if self.course == STEP else ", drifting" if self.course == DRIFT else ""
        if self.name == "payload":
            return f"payload {self.size:+.2f} kg{when}"
        if self.name == "swap":
            return f"torques of {where} exchanged"
        if self.name == "offset":
            return f"offset of {where} {self.size:+.3g} N m or N{when}"
        return f"{self.name} of {where} {100 * self.size:+.0f} %{when}"


@dataclass(frozen=True, eq=False)
class _Hypothesis:
    """A fault in the coordinates of the table: (columns, k) directions, of which the first is its size."""

    name: str
    joints: tuple[int, ...]
    directions: Array
    course: str = CONSTANT
    at: float = 0.0
    n_tried: int = 1
    colour: float = 1.0


@dataclass(frozen=True, eq=False)
class _Healthy:
    """What a healthy unit leaves: A, r, and S as a Cholesky factor; (n,) norms of the torques that are predicted."""

    A: Array
    left: Array
    root: tuple[Array, bool]
    reference: Reference
    torques: Array

    @classmethod
    def of(cls, table: Array, reference: Reference, n: int) -> _Healthy:
        p = len(reference.mean)
        A, left = table[:, :p], table[:, -1] - table[:, :p] @ reference.mean
        torques = np.linalg.norm(table[:, [p + n * j + j for j in range(n)]], axis=0)
        # S = I + A (M + T) A^T
        spread = reference.uncertainty + np.diag(reference.between**2)
        return cls(A, left, scipy.linalg.cho_factor(np.eye(len(A)) + A @ spread @ A.T), reference, torques)

    def solved(self, D: Array) -> Array:
        """S^-1 D."""
        found: Array = scipy.linalg.cho_solve(self.root, D)
        return found

    def freedom(self, weights: Array, variance: Array) -> Array:
        """(m,) degrees of freedom of variances that the spread between units is a part of (Satterthwaite 1946).

        Args:
            weights: (m, r) h of sizes b = h^T r.
            variance: (m,) of these sizes, h^T S h.
        """
        # Spreads of one group are known from each other, so that their errors add up.
        parts = (weights @ self.A) ** 2 @ (self.reference.between**2 / np.sqrt(self.reference.freedom))
        found: Array = (variance / np.maximum(parts, 1e-300)) ** 2
        return found


@dataclass(frozen=True, eq=False)
class Tested:
    """A fault as one unit shows it, before it is known how much healthy units show of it.

    Attributes:
        cause: its chance is not yet known.
        seen: how much of the residuals it explains, chi-squared of `n_directions` for a healthy unit.
        freedom: degrees of freedom of the variance behind that.
        count: faults that were tried beside it.
        n_tried: places of a step that were tried, of which this is the best.
    """

    cause: Cause
    seen: float
    n_directions: int
    freedom: float
    count: int
    n_tried: int

    @property
    def key(self) -> tuple[str, tuple[int, ...], str]:
        """The same fault in other units."""
        return self.cause.name, self.cause.joints, self.cause.course

    def judged(self, scatter: float) -> Cause:
        """The cause with its chance.

        Args:
            scatter: variance of what healthy units show of it, over the one that was expected.
        """
        k, seen = self.n_directions, self.seen / scatter
        # A survival function that underflows to zero would make all grave faults alike: it stops before.
        chance = max(float(special.fdtrc(k, self.freedom, seen / k)), 1e-300 / max(seen, 1.0))
        deviation = self.cause.deviation * float(np.sqrt(scatter))
        return replace(self.cause, p_value=min(1.0, self.count * chance), deviation=deviation)


def scatters(units: Sequence[Sequence[Tested]]) -> dict[object, float]:
    """By `Tested.key`: how much more healthy units scatter along a fault than their spreads, one by one, explain.

    Spreads of values are taken as independent. Those of masses are not: heavier castings look like a small payload, or
    like a gain of all joints. So the fleet itself says what is usual, by quantiles that a few faults do not move.
    """
    found: dict[object, float] = {}
    for share in USUAL_SHARES:
        shown: dict[object, list[float]] = {}
        for unit in units:
            for one in unit:
                # Of the best of several places, as if these were independent.
                usual = float(special.chdtri(one.n_directions, 1 - share ** (1 / one.n_tried)))
                shown.setdefault(one.key, []).append(one.seen / usual)
        for key, ratios in shown.items():
            # Who does not show it at all shows none of it.
            filled = ratios + [0.0] * (len(units) - len(ratios))
            found[key] = max(found.get(key, 1.0), widened(float(np.quantile(filled, share)), len(units)))
    return found


@on_one_thread
def tested_faults(summary: UnitSummary, reference: Reference, plan: Plan) -> list[Tested]:
    """All faults that a unit may show."""
    healthy = _Healthy.of(summary.table, reference, len(plan.weights))
    width = summary.table.shape[1] - 1
    always, later = _always(plan, width), _later(plan, width, summary.courses)
    found = []
    # Two families of the same weight: a unit with many recordings must not lose faults that it always had.
    for family in filter(None, (always, later)):
        count = 2 * sum(fault.n_tried for fault in family)
        # All columns at once: one solution with S for all faults.
        D = summary.table[:, :-1] @ np.concatenate([fault.directions for fault in family], axis=1)
        solved = healthy.solved(D)
        for alike, columns in _alike(family, D):
            found += _tested(alike, D[:, columns], solved[:, columns], healthy, count)
    return found


def _alike(family: Sequence[_Hypothesis], D: Array) -> Iterator[tuple[list[_Hypothesis], AnyArray]]:
    """Faults with as many directions that the unit shows, and (m, k) their columns of D; small matrices go in stacks.

    What the motion does not show of a fault is left out of it; without its first direction nothing is left.
    """
    size = np.linalg.norm(D, axis=0)
    groups: dict[int, list[tuple[_Hypothesis, AnyArray]]] = {}
    first = 0
    for fault in family:
        own = np.arange(first, first + fault.directions.shape[1])
        first += len(own)
        shown = size[own] > MIN_SHOWN * max(float(size[own].max()), 1e-300)
        if shown[0]:
            groups.setdefault(int(shown.sum()), []).append((fault, own[shown]))
    for pairs in groups.values():
        yield [fault for fault, _ in pairs], np.array([columns for _, columns in pairs])


def _tested(faults: Sequence[_Hypothesis], D: Array, solved: Array, healthy: _Healthy, count: int) -> list[Tested]:
    """Faults with their columns D and S^-1 D, (r, m, k); of exchanges, those that are one."""
    D, solved = np.moveaxis(D, 0, 1), np.moveaxis(solved, 0, 1)
    size, k = np.linalg.norm(D, axis=1), D.shape[-1]
    normal = np.swapaxes(D, 1, 2) @ solved
    # Of unit columns: a kilogram and a kilogram metre are not comparable.
    scale = size[:, :, None] * size[:, None, :]
    covariance = np.linalg.pinv(normal / scale, rcond=MIN_SHOWN, hermitian=True) / scale
    b = np.einsum("mij,mj->mi", covariance, healthy.left @ solved)
    # Of the variance, the part that is noise grows with the colour that each fault feels.
    weights, plain = np.einsum("mrk,mk->mr", solved, covariance[:, :, 0]), covariance[:, 0, 0]
    variance = plain + (np.array([fault.colour for fault in faults]) - 1) * (weights**2).sum(axis=1)
    # Its torque beside that of its joints, all of them for a payload.
    whole = np.array([np.linalg.norm(healthy.torques[list(fault.joints) or slice(None)]) for fault in faults])
    variance += (LEAST_SHARE * whole / size[:, 0]) ** 2
    explained = np.einsum("mi,mij,mj->m", b, normal, b)
    seen = explained * plain / variance
    freedom = np.minimum(healthy.freedom(weights, variance), 1e9)
    # -log of the tail of chi-squared, for large numbers: few units must not turn the order of causes, nor colours that
    # are estimates themselves.
    half = np.maximum(explained, 1.0) / 2
    tried = np.log([fault.n_tried for fault in faults])
    surprise = half - (k / 2 - 1) * np.log(half) + special.gammaln(k / 2) - tried
    figures = zip(b[:, 0], np.sqrt(variance), surprise, seen, freedom, strict=True)
    found = []
    for fault, row in zip(faults, figures, strict=True):
        first, deviation, much, explains, free = map(float, row)
        # Columns are exchanged or they are not: half of it is something else.
        if fault.name != "swap" or abs(first - 1) <= MAX_SWAP_OFF:
            cause = Cause(fault.name, fault.joints, first, deviation, 1.0, fault.course, fault.at, much)
            found.append(Tested(cause, explains, k, free, count, fault.n_tried))
    return found


def _always(plan: Plan, width: int) -> list[_Hypothesis]:
    """What may be wrong in all recordings: friction and gain of each joint, a payload, exchanged torques of a pair."""
    n, p = len(plan.weights), len(plan.values)
    found = []
    for fault, colour in zip(faults_of(plan.source.design, plan.values), plan.colour.of_faults, strict=True):
        # Offsets of healthy units differ as they like; one that stays is a value like any other.
        if fault.name != "offset":
            directions = np.zeros((width, fault.directions.shape[1]))
            directions[:p] = fault.directions[:p]
            for j in fault.joints:
                directions[p + n * j : p + n * j + n] = fault.directions[p:]
            found.append(_Hypothesis(fault.name, fault.joints, directions, colour=float(colour)))
    # All at once: another unit of torque, or a supply that gives less.
    everywhere = _place(width, {p + n * j + j: 1.0 for j in range(n)})
    found.append(_Hypothesis("gain", tuple(range(n)), everywhere, colour=float(plan.colour.of_gains.max())))
    # Joint i shows the torque of joint k instead of its own, and the other way round.
    pairs = [(i, k) for i in range(n) for k in range(i + 1, n)]
    for i, k in pairs:
        exchange = {p + n * i + k: 1.0, p + n * i + i: -1.0, p + n * k + i: 1.0, p + n * k + k: -1.0}
        found.append(_Hypothesis("swap", (i, k), _place(width, exchange)))
    return found


def _later(plan: Plan, width: int, courses: Sequence[Course]) -> list[_Hypothesis]:
    """What may have come with time."""
    first, found = len(plan.values) + len(plan.weights) ** 2, []
    for own in courses:
        directions = np.zeros((width, len(own.columns)))
        for k, column in enumerate(own.columns):
            directions[first + column, k] = 1.0
        found.append(_Hypothesis(own.name, own.joints, directions, own.course, own.at, own.n_tried, own.colour))
    return found


def _place(width: int, entries: dict[int, float]) -> Array:
    found = np.zeros((width, 1))
    for row, value in entries.items():
        found[row] = value
    return found
