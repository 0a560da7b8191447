"""Evaluation of many monomials by shared products: each is an earlier one times a function of one joint."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tauform.arrays import AnyArray, Array
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.generators import Generators
from tauform.portable.elementwise import sin_cos

Indices = NDArray[np.int64]

# States are evaluated in slices whose products stay near the cache.
VALUES_PER_SLICE, SLICE_BOUNDS = 800_000, (16, 128)
# Exponents of a column are packed into integers: so many bits of them, the rest for the columns told apart before.
CODE_BITS = 31


@dataclass(frozen=True, eq=False)
class ProductStage:
    """Monomials up to one joint: parent times one function of this joint.

    Attributes:
        joint: index of the joint.
        functions: (3, k) exponents of q, sin q, cos q of the functions used.
        parents: (m,) index into the monomials of the stage before.
        factors: (m,) index into functions.
    """

    joint: int
    functions: NDArray[np.int8]
    parents: Indices
    factors: Indices


@dataclass(frozen=True, eq=False)
class TermProducts:
    """Terms as (monomial in q) times (acceleration), each distinct one evaluated once.

    Attributes:
        n: joints.
        stages: how the monomials are multiplied together.
        monomial: (p,) the monomial of each term.
        acceleration: (p,) the acceleration of each term.
        rates: (2 n, a) exponents of qd and qdd in each distinct acceleration.
        coordinates: what functions are taken of.
    """

    n: int
    stages: tuple[ProductStage, ...]
    monomial: Indices
    acceleration: Indices
    rates: NDArray[np.int8]
    coordinates: Coordinates

    @classmethod
    def of(cls, exponents: NDArray[np.int8], coordinates: Coordinates | None = None) -> TermProducts:
        """Monomials of the exponent matrix E (5 n, p), of q itself if no coordinates are given."""
        rows = Generators.of(exponents)
        n = rows.n
        place = np.zeros(exponents.shape[1], dtype=np.int64)
        stages = []
        for i in range(n):
            functions, factor = distinct_columns(exponents[rows.of_joint(i)])
            # A joint that no term depends on (the first about a vertical axis) adds no stage.
            if not functions.any():
                continue
            # One digit per joint: a monomial is known by that of the joints before it and its function of this one.
            distinct, place = np.unique(place * functions.shape[1] + factor, return_inverse=True)
            parents, factors = np.divmod(distinct, functions.shape[1])
            stages.append(ProductStage(i, functions, parents, factors))
        rates, acceleration = distinct_columns(exponents[rows.rates])
        return cls(n, tuple(stages), place, acceleration, rates, coordinates or Coordinates.plain(n))

    @property
    def n_monomials(self) -> int:
        return len(self.stages[-1].parents) if self.stages else 1

    def monomials(self, q: AnyArray) -> AnyArray:
        """(n_monomials, N) at q (n, N)."""
        table: AnyArray = np.ones((1, q.shape[1]), dtype=q.dtype)
        # Joint by joint the table grows; each monomial costs one product.
        for stage in self.stages:
            x = self.coordinates.of(stage.joint, q[stage.joint])
            values = _functions(stage.functions, x)
            # In place: the table of the stage before is no longer needed.
            table = np.take(table, stage.parents, axis=0)
            table *= np.take(values, stage.factors, axis=0)
        return table

    def accelerations(self, qd: AnyArray, qdd: AnyArray) -> AnyArray:
        """(a, N) products of velocities, or an acceleration, or 1."""
        both = np.concatenate([qd, qdd])
        result = np.ones((self.rates.shape[1], both.shape[1]), dtype=both.dtype)
        # At most n + n (n + 1) / 2 distinct products: qdd_i, qd_i qd_j, and 1.
        for k, exponents in enumerate(self.rates.T):
            for i in np.flatnonzero(exponents):
                result[k] *= both[i] ** int(exponents[i])
        return result

    def terms(self, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> AnyArray:
        """(p, N) the value of every term."""
        return self.monomials(q)[self.monomial] * self.accelerations(qd, qdd)[self.acceleration]

    @cached_property
    def states_per_slice(self) -> int:
        """States whose products fit the cache."""
        return _slice_for(len(self.monomial))


@dataclass(frozen=True, eq=False)
class Projection:
    """Torque coefficients of each acceleration as a function of q: tau = sum_a G[:, a](q) acceleration_a."""

    products: TermProducts
    matrix: scipy.sparse.csr_array

    @classmethod
    def of(cls, exponents: NDArray[np.int8], coefficients: Array, coordinates: Coordinates) -> Projection:
        """Sums of the monomials of E (5 n, p) with (n, p) coefficients."""
        products = TermProducts.of(exponents, coordinates)
        joint, term = np.nonzero(coefficients)
        n_rates = products.rates.shape[1]
        # One sparse product for all joints: rows are (joint, acceleration), columns are monomials.
        rows = joint * n_rates + products.acceleration[term]
        shape = (len(coefficients) * n_rates, products.n_monomials)
        triplets = (coefficients[joint, term], (rows, products.monomial[term]))
        return cls(products, scipy.sparse.coo_array(triplets, shape=shape).tocsr())

    def at(self, q: AnyArray) -> AnyArray:
        """(n, a, N)."""
        G = self.matrix @ self.products.monomials(q)
        n_rates = self.products.rates.shape[1]
        return G.reshape(q.shape[0], n_rates, q.shape[1])  # a model of friction alone has no rates

    def torque(self, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> AnyArray:
        """(n, N) sum of all terms."""
        # Sum over the accelerations of each joint.
        torque: AnyArray = (self.at(q) * self.products.accelerations(qd, qdd)).sum(axis=1)
        return torque

    @cached_property
    def states_per_slice(self) -> int:
        """States of one slice that fit the cache."""
        return _slice_for(max(self.products.n_monomials, self.matrix.shape[0]))


def differentiated(
    exponents: NDArray[np.int8], coefficients: Array, coordinates: Coordinates
) -> tuple[NDArray[np.int8], Array]:
    """E and coefficients of d/dt of terms whose rates stay as they are: each term by each joint, times its velocity."""
    rows = Generators.of(exponents)
    # Empty beginnings keep the shapes where there is nothing to differentiate.
    columns, factors = [exponents[:, :0]], [coefficients[:, :0]]
    for i in range(rows.n):
        q, s, c = rows.of_joint(i)
        # x' = scale qd, sin' = cos x', cos' = -sin x'
        for source, target, sign in ((q, None, 1.0), (s, c, 1.0), (c, s, -1.0)):
            present = np.flatnonzero(exponents[source])
            slopes = exponents[:, present].copy()
            # d/dt x^k = k x^(k-1) x': one power less, times the inner derivative and the velocity.
            slopes[source] -= 1
            slopes[rows.velocity(i)] += 1
            if target is not None:
                slopes[target] += 1
            columns.append(slopes)
            factors.append(sign * coordinates.scale[i] * coefficients[:, present] * exponents[source, present])
    return np.concatenate(columns, axis=1), np.concatenate(factors, axis=1)


def distinct_columns(exponents: NDArray[np.int8]) -> tuple[NDArray[np.int8], Indices]:
    """The distinct columns, ordered by their last row first, and the place of each column among them."""
    # Columns become integers: sorting these is many times faster than sorting columns.
    base = int(exponents.max(initial=0)) + 1
    rows = max(1, CODE_BITS // max(1, (base - 1).bit_length()))
    weights = base ** np.arange(rows, dtype=np.int64)
    place = np.zeros(exponents.shape[1], dtype=np.int64)
    first = place[:1]
    # the last rows weigh most, so that columns come in the same order however many rows fit into an integer
    for end in range(len(exponents), 0, -rows):
        digits = exponents[max(end - rows, 0) : end].astype(np.int64)
        # What was told apart before weighs most, so that groups are only split further.
        codes = place * base ** len(digits) + weights[: len(digits)] @ digits
        _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    return exponents[:, first], place


def _slice_for(n_values: int) -> int:
    least, most = SLICE_BOUNDS
    # Between 16 and 128 states: fewer waste calls of NumPy, more leave the cache.
    return min(most, max(least, VALUES_PER_SLICE // max(n_values, 1)))


def _functions(exponents: NDArray[np.int8], x: AnyArray) -> AnyArray:
    # One sine and one cosine per joint, whatever the number of monomials.
    s, c = sin_cos(x)
    return np.stack([x ** int(a) * s ** int(b) * c ** int(d) for a, b, d in exponents.T])
