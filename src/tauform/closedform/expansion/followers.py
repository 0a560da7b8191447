"""Terms of joints that follow others: q_tree = F q + offset, as polynomials in functions of the joints that lead.

With x = scale q, so that all joints which turn follow by whole multiples k, exp(i theta) is the product of the
(cos x + i sin x)^k and of a constant: cosine and sine of a follower are its real and imaginary part. sin^2 x is written
as 1 - cos^2 x, so that every function has one form, and like terms are added up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.closedform.generators import Generators
from tauform.description.joint_types import JointType
from tauform.description.transform import exact_sin_cos
from tauform.errors import ModelError

# Exponents of x, sin x, cos x of each leading joint, one after the other.
Monomial = tuple[int, ...]
Polynomial = Mapping[Monomial, float]
# Multiples of a leading joint's angle: its functions have twice this degree, and no digits are left beyond.
MOST_TURNS = 24
# Ratios of joints that follow one are fractions to this accuracy.
RATIO_TOLERANCE = 1e-12
# What cancels leaves this share of what was added up at most.
MAX_CANCELLED_SHARE = 1e-12


class Followed(NamedTuple):
    """Terms of the leading joints.

    Attributes:
        exponents: (5 n, p) of x, sin x, cos x, qd, qdd.
        matrix: (n p, n_parameters) coefficients of the standard parameters in each torque.
        scale: (n,) x = scale q.
    """

    exponents: NDArray[np.int8]
    matrix: scipy.sparse.csr_array
    scale: Array


class Following(NamedTuple):
    """How joints of a tree follow those of q.

    Attributes:
        F: (n_bodies, n) q_tree = F q + offset, and torques tau = F^T tau_tree.
        rates: (n_bodies, n) F without the columns of joints that are fixed.
        offset: (n_bodies,) of positions, what fixed joints add included.
        types: of the tree's joints.
    """

    F: Array
    rates: Array
    offset: Array
    types: tuple[JointType, ...]

    @classmethod
    def of(cls, F: Array, offset: Array, types: Sequence[JointType], fixed: Mapping[int, float]) -> Following:
        """Joints that follow where some of q are fixed at positions."""
        rates, held = np.array(F), np.array(offset)
        for a, position in fixed.items():
            # A fixed coordinate moves from F q into the offset, and its followers with it.
            held, rates[:, a] = held + F[:, a] * position, 0.0
        return cls(F, rates, held, tuple(types))


def followed(exponents: NDArray[np.int8], placed: scipy.sparse.csr_array, following: Following) -> Followed:
    """Terms of a tree (5 n_bodies, p), with coefficients (n_bodies p, n_parameters), as terms of the joints that lead.

    Raises:
        ModelError: joints follow one at ratios that are no fractions, or by too many turns.
    """
    F = following.F
    n, p, tree = F.shape[1], exponents.shape[1], Generators(len(F))
    expand = FollowerFunctions(following)
    scale = expand.scale
    # Each tree term is a sum of terms of the leading joints: column j of T.
    rows: dict[tuple[Monomial, Monomial], int] = {}
    entries: list[tuple[int, int, float]] = []
    for j, column in enumerate(exponents.T.tolist()):
        for rate, weight in expand.rates(tuple(column[tree.rates])).items():
            for monomial, value in expand.monomial(tuple(column[tree.functions])).items():
                key = (rate, monomial)
                entries.append((rows.setdefault(key, len(rows)), j, weight * value))
    # Duplicates add up when the matrix is made.
    row, column_of, values = np.array(entries).reshape(-1, 3).T
    T = scipy.sparse.coo_array((values, (row.astype(int), column_of.astype(int))), shape=(len(rows), p)).tocsr()
    blocks = [placed[i * p : (i + 1) * p] for i in range(len(F))]
    torques = []
    for a in range(n):
        # tau = F^T tau_tree; what cancels is judged against what was added up.
        felt, size = (
            sum(f(F[i, a]) * (S @ g) for i, g in enumerate(parts) if F[i, a])
            for f, S, parts in ((float, T, blocks), (abs, abs(T), [abs(block) for block in blocks]))
        )
        torques.append(felt.multiply(abs(felt) > MAX_CANCELLED_SHARE * size).tocsr())
    return _sorted(list(rows), torques, n, scale)


def _sorted(
    keys: list[tuple[Monomial, Monomial]], torques: list[scipy.sparse.csr_array], n: int, scale: Array
) -> Followed:
    """Terms that are left, in the order gravity, accelerations, velocities; within each by their functions."""
    # A term that cancelled in every torque is none.
    used = sum(np.diff(matrix.indptr) for matrix in torques) > 0
    order = sorted(np.flatnonzero(used).tolist(), key=lambda k: (_rank(keys[k][0], n), keys[k][1]))
    rows = Generators(n)
    E = np.zeros((rows.size, len(order)), dtype=np.int8)
    for column, k in enumerate(order):
        rate, monomial = keys[k]
        # (joint, function) to the paper's rows: all q, then all sines, all cosines.
        E[rows.functions, column] = np.reshape(monomial, (n, 3)).T.reshape(-1)
        E[rows.rates, column] = rate
    stacked = scipy.sparse.vstack([matrix[order] for matrix in torques]).tocsr()
    stacked.sort_indices()
    return Followed(E, stacked, scale)


def _rank(rate: Monomial, n: int) -> tuple[int, Monomial]:
    velocities, accelerations = rate[:n], rate[n:]
    # As `term_kinds` numbers them, without building E first.
    kind = 0 if not any(rate) else 1 if any(accelerations) else 2 if 2 in velocities else 3
    return kind, tuple(-x for x in rate)


def scales(F: Array, types: Sequence[JointType]) -> Array:
    """(n,) the largest angles of which all joints that turn with a leading joint follow by whole multiples.

    Raises:
        ModelError: their ratios are no fractions of small numbers.
    """
    found = np.ones(F.shape[1])
    turning = [i for i, own in enumerate(types) if own.is_angle]
    for a in range(F.shape[1]):
        own = [float(F[i, a]) for i in turning if F[i, a]]
        if not own:
            continue
        # Gears have some hundred teeth at most; a larger denominator is a rounded decimal.
        ratios = [Fraction(x / own[0]).limit_denominator(1000) for x in own]
        if any(
            abs(float(r) - x / own[0]) > RATIO_TOLERANCE * abs(x / own[0]) for r, x in zip(ratios, own, strict=True)
        ):
            raise ModelError("derive: joints follow one joint at ratios that are no fractions; lock one of them")
        # gcd of fractions: of numerators over the common denominator.
        common = lcm(*(r.denominator for r in ratios))
        found[a] = abs(own[0]) * reduce(gcd, (abs(int(r * common)) for r in ratios)) / common
    return found


class FollowerFunctions:
    """Monomials and rates of the tree as polynomials of the leading joints; each is made once.

    Raises:
        ModelError: joints follow one at ratios that are no fractions, or by too many turns.
    """

    def __init__(self, following: Following) -> None:
        self.F, self.n = following.rates, following.rates.shape[1]
        self.scale = scales(self.F, following.types)
        self.one: Polynomial = {(0,) * (3 * self.n): 1.0}
        rows = enumerate(zip(following.offset.tolist(), following.types, strict=True))
        self.functions = [self._functions(i, offset, own, self.scale) for i, (offset, own) in rows]
        self._known: dict[Monomial, Polynomial] = {}

    def monomial(self, exponents: Monomial) -> Polynomial:
        """Polynomial of exponents of all q, all sines and all cosines of the tree's joints."""
        rows = Generators(len(self.F))
        total: Polynomial = self.one
        prefix: tuple[int, ...] = ()
        # Joint by joint: monomials that begin alike share their products.
        for i in range(rows.n):
            powers = [exponents[k] for k in rows.of_joint(i)]
            prefix = (*prefix, *powers)
            if any(powers):
                if prefix not in self._known:
                    found = total
                    for function, power in zip(self.functions[i], powers, strict=True):
                        for _ in range(power):
                            found = _times(found, function)
                    self._known[prefix] = found
                total = self._known[prefix]
        return total

    def rates(self, exponents: Monomial) -> Polynomial:
        """Polynomial of exponents of all qd and qdd: qdd_tree = F qdd, products of two velocities likewise."""
        n_bodies, total = len(self.F), {(0,) * (2 * self.n): 1.0}
        for row, power in enumerate(exponents):
            for _ in range(power):
                factor = {}
                # Rows of qd, then of qdd: both follow by the same F.
                for a in np.flatnonzero(self.F[row % n_bodies]).tolist():
                    # Velocities stand before accelerations.
                    unit = [0] * (2 * self.n)
                    unit[a + (self.n if row >= n_bodies else 0)] = 1
                    factor[tuple(unit)] = float(self.F[row % n_bodies, a])
                total = _summed((_added(x, y), u * v) for x, u in total.items() for y, v in factor.items())
        return total

    def _functions(
        self, i: int, offset: float, own: JointType, scale: Array
    ) -> tuple[Polynomial, Polynomial, Polynomial]:
        """q, sine and cosine of joint i."""
        leads = np.flatnonzero(self.F[i]).tolist()
        position = {self._unit(a, 0): float(self.F[i, a]) / float(scale[a]) for a in leads}
        if offset:
            position[next(iter(self.one))] = offset
        if not own.is_angle:
            return position, {}, {}
        # Exact at quarter turns: their rounding would be terms of its own.
        s, c = exact_sin_cos(offset)
        real, imaginary = _scaled(self.one, c), _scaled(self.one, s)
        for a in leads:
            # Whole by the choice of the scale.
            turns = round(float(self.F[i, a]) / float(scale[a]))
            if abs(turns) > MOST_TURNS:
                raise ModelError(
                    f"derive: a joint turns {abs(turns)} times as far as the common part of all that follow with it; "
                    f"at most {MOST_TURNS}"
                )
            sine, cosine = {self._unit(a, 1): float(np.sign(turns))}, {self._unit(a, 2): 1.0}
            for _ in range(abs(turns)):
                # e^(i k x) = (cos x + i sin x)^k, one turn at a time: powers stay polynomials.
                real, imaginary = (
                    _plus(_times(real, cosine), _scaled(_times(imaginary, sine), -1.0)),
                    _plus(_times(real, sine), _times(imaginary, cosine)),
                )
        return position, imaginary, real

    def _unit(self, a: int, function: int) -> Monomial:
        unit = [0] * (3 * self.n)
        unit[3 * a + function] = 1
        return tuple(unit)


def _added(x: Monomial, y: Monomial) -> Monomial:
    return tuple(i + j for i, j in zip(x, y, strict=True))


def _summed(pairs: Iterable[tuple[Monomial, float]]) -> dict[Monomial, float]:
    total: dict[Monomial, float] = defaultdict(float)
    for key, value in pairs:
        total[key] += value
    return {key: value for key, value in total.items() if value}


def _scaled(x: Polynomial, factor: float) -> Polynomial:
    return {key: factor * value for key, value in x.items()} if factor else {}


def _plus(x: Polynomial, y: Polynomial) -> Polynomial:
    return _summed([*x.items(), *y.items()])


def _times(x: Polynomial, y: Polynomial) -> Polynomial:
    """The product, with sin^2 written as 1 - cos^2."""
    return _summed(pair for i, u in x.items() for j, v in y.items() for pair in _canonical(_added(i, j), u * v))


def _canonical(monomial: Monomial, value: float) -> list[tuple[Monomial, float]]:
    for at in range(1, len(monomial), 3):
        # One form for every function, or equal terms would not be found to be equal.
        if monomial[at] >= 2:
            lower = list(monomial)
            lower[at] -= 2
            higher = [*lower]
            higher[at + 1] += 2
            return [*_canonical(tuple(lower), value), *_canonical(tuple(higher), -value)]
    return [(monomial, value)]
