"""derive_from: the closed form of any torque function, by the paper's sampled search.  [Lloyd2021, sections 2.2, 3]

Torques of one acceleration at a time are sampled (Eq. 47) and solved for the functions that may make them up. Filters
make the systems small (section 3.1.2), refinement with long residuals makes zeros tell (section 3.4.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauform.arguments import Natural
from tauform.arrays import Array, read_only
from tauform.closedform.generators import Generators
from tauform.closedform.search.function_sets import Acceleration, FunctionSets, Monomial
from tauform.closedform.search.sampled_model import SampledModel, values_of
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.portable.factorization import in_order, solved
from tauform.portable.sampling import uniform
from tauform.wording import call

Torque = Callable[..., ArrayLike]
# A coefficient below this share of the largest is zero.  [Lloyd2021, section 3.4.3]
NEGLIGIBLE = 1e-9
# Torques at fresh states must be met to this share of the largest.
MAX_ERROR_AT_FRESH_STATES = 1e-8
# Deviation from linearity, over the torque.
MAX_NONLINEAR_SHARE = 1e-9
# A column that stands out of those before it by less than this share depends on them.
MIN_INDEPENDENT_SHARE = 1e-8
# Unknowns of one linear system: twice as many states are sampled, and its cost grows with the cube.
MOST_UNKNOWNS = 4000
N_CHECKED = 20
N_REFINEMENTS = 2


def derive_from(
    function: Torque,
    joints: Robot | str,
    parameters: Sequence[str] | Natural,
    *,
    degree: Natural = 2,
    seed: int = 0,
) -> SampledModel:
    """Closed form of a torque function, found by sampling it: for small robots of any kind.  [Lloyd2021, section 3.6]

    `derive` is quicker and exact for robots that are described; this one needs no description.

    Args:
        function: (q, qd, qdd, parameters) -> torques; q, qd, qdd are (n,), or (N, n) where it takes batches.
        joints: a robot, or its joints by letters, "RRP"; of a robot with loops the letters of the joints that q holds.
        parameters: names of the parameters, or their number.
        degree: of the functions of a joint; 2 for trees, more where several joints follow one.
        seed: of the samples.

    Returns:
        Terms, coefficients of each parameter, and base parameters.

    Raises:
        ModelError: the function is not linear in its parameters, has other terms, or returns other shapes.
    """
    sets = FunctionSets.of(joints)
    names = tuple(parameters) if not isinstance(parameters, int) else tuple(f"x{k + 1}" for k in range(parameters))
    search = _Search(_Sampled(function, sets.n, len(names)), sets, degree, np.random.default_rng(seed))
    search.check_linearity()
    # The filters of section 3.1.2 first; all functions where they leave out too much.
    for filtered in (True, False):
        # The first joint and derivatives of the mass matrix may be left out of a robot on a base that is at rest.
        found = search.run(names, filtered)
        error = search.error(found)
        if error <= MAX_ERROR_AT_FRESH_STATES:
            return found
    raise ModelError(
        f"derive_from: torques hold more than products of q, sin q, cos q up to degree {degree} with g, qdd and qd qd: "
        f"at random states {error:.1g} of the torque is left; raise degree, or leave friction out of the function"
    )


@dataclass(frozen=True, eq=False)
class _Sampled:
    """The user's function on batches of states."""

    function: Torque
    n: int
    n_parameters: int

    def __call__(self, q: Array, qd: Array, qdd: Array, x: Array) -> Array:
        try:
            torques = np.asarray(self.function(q, qd, qdd, x), dtype=float)
        except Exception:  # it may take single states only
            torques = np.empty(0)
        # Any other shape: the function takes single states.
        if torques.shape != q.shape:
            rows = zip(q, qd, qdd, strict=True)
            torques = np.array([self._one(*row, x) for row in rows]).reshape(q.shape)
        if not np.isfinite(torques).all():
            raise ModelError("derive_from: the function returned a value that is not finite; mend it at that state")
        return torques

    def _one(self, q: Array, qd: Array, qdd: Array, x: Array) -> Array:
        torque = np.asarray(self.function(q, qd, qdd, x), dtype=float)
        if torque.shape != (self.n,):
            raise ModelError(
                f"derive_from: the function returned shape {torque.shape} for {self.n} joints; return ({self.n},)"
            )
        return torque

    def isolated(self, q: Array, acceleration: Acceleration, x: Array) -> Array:
        """Torque of one acceleration alone.  [Lloyd2021, Eq. 47]"""
        zero = np.zeros_like(q)
        # tau(q, 0, 0): weight, which every other sample holds too.
        weight = self(q, zero, zero, x)
        rates, last = np.array(acceleration[: self.n], dtype=float), np.array(acceleration[self.n :], dtype=float)
        if last.any():
            # qdd alone: column of the mass matrix.
            return self(q, zero, zero + last, x) - weight
        moving = np.flatnonzero(rates)
        if not len(moving):
            return weight
        # qd_i^2 alone; of a product qd_i qd_j both squares are taken off.
        alone = [self(q, zero + np.eye(self.n)[i], zero, x) - weight for i in moving]
        return alone[0] if len(moving) == 1 else self(q, zero + rates, zero, x) - weight - alone[0] - alone[1]


@dataclass(frozen=True, eq=False)
class _Search:
    torque: _Sampled
    sets: FunctionSets
    degree: int
    rng: np.random.Generator

    def _states(self, n_states: int) -> Array:
        reach = np.array([own.generic_range for own in self.sets.types])
        return uniform(self.rng, -1.0, 1.0, (n_states, self.sets.n)) * reach

    def check_linearity(self) -> None:
        q, qd, qdd = self._states(3), *uniform(self.rng, -2.0, 2.0, (2, 3, self.sets.n))
        x, y = uniform(self.rng, -1.0, 1.0, (2, self.torque.n_parameters))
        parts = self.torque(q, qd, qdd, x), self.torque(q, qd, qdd, y)
        # Factors whose sum is not one: a constant in the torque shows too.
        whole = self.torque(q, qd, qdd, 2.0 * x - 3.0 * y)
        size = np.abs(parts).max()
        off = np.abs(whole - (2.0 * parts[0] - 3.0 * parts[1])).max()
        if not off <= MAX_NONLINEAR_SHARE * size:
            raise ModelError(
                f"derive_from: torques are not linear in the parameters: those of 2 x - 3 y differ by {off:.2g} N m "
                f"from 2 tau(x) - 3 tau(y), which is {size:.2g} N m large; give first moments and inertias about the "
                "links' origins, and no constants"
            )

    def run(self, names: tuple[str, ...], filtered: bool) -> SampledModel:
        # Positive and apart from zero: terms of different parameters do not cancel.
        x = uniform(self.rng, 0.5, 1.5, (len(names),))
        terms: list[tuple[Monomial, Acceleration]] = []
        inertial: set[Monomial] = set()
        sizes: list[Array] = []
        for acceleration in self.sets.accelerations():
            functions = self._functions(acceleration, filtered, inertial)
            rows = self._solved(functions, acceleration, [x])[0] if functions else np.zeros((0, self.sets.n))
            found = np.abs(rows).max(axis=1, initial=0.0)
            sizes.append(found)
            # Over all accelerations so far: a set of pure noise has no large term of its own.
            largest = max(size.max(initial=0.0) for size in sizes)
            kept = [f for f, size in zip(functions, found, strict=True) if size > NEGLIGIBLE * largest]
            # Functions of the mass matrix, whose derivatives make the velocity terms.
            if any(acceleration[self.sets.n :]):
                inertial |= set(kept)
            terms += [(f, acceleration) for f in kept]
        return self._model(names, terms)

    def _functions(self, acceleration: Acceleration, filtered: bool, inertial: set[Monomial]) -> list[Monomial]:
        """Functions of q that may stand with an acceleration: the pre-filters of section 3.1.2."""
        weight = not any(acceleration)
        # Weight is linear in placements, the mass matrix quadratic: half the degree, rounded up.
        degree = -(-self.degree // 2) if weight and filtered else self.degree
        if filtered and any(acceleration[: self.sets.n]):
            # Coriolis terms are derivatives of the mass matrix (Christoffel).  [Lloyd2021, Eq. 10]
            found: set[Monomial] = set()
            for monomial in inertial:
                found |= derivatives(monomial, self.sets)
            functions = sorted(found)
        else:
            # On a base at rest the mass matrix does not depend on the first joint.
            functions = self.sets.upsilon(degree, independent=True, without=(0,) if filtered and not weight else ())
        if len(functions) > MOST_UNKNOWNS:
            raise ModelError(
                f"derive_from: {len(functions)} functions of q would be searched for one acceleration, more than "
                f"{MOST_UNKNOWNS}; take fewer joints, or {call('derive', 'robot')} of the description"
            )
        return functions

    def _solved(self, functions: Sequence[Monomial], acceleration: Acceleration, xs: Sequence[Array]) -> Array:
        """(len(xs), functions, n) coefficients; twice as many states as functions."""
        q = self._states(2 * len(functions))
        Y = values_of(np.array(functions, dtype=np.int8), q)
        # All right-hand sides at once: one factorisation.
        torques = [self.torque.isolated(q, acceleration, x) for x in xs]
        right = np.concatenate(torques, axis=1)
        found = solved(Y, right)
        for _ in range(N_REFINEMENTS):
            # Residuals in long doubles give back what the factorization lost.
            long = (Y.astype(np.longdouble)[:, :, None] * found.astype(np.longdouble)[None]).sum(axis=1)
            found = found + solved(Y, (right - long).astype(float))
        return np.moveaxis(found.reshape(len(functions), len(xs), self.sets.n), 1, 0)

    def _model(self, names: tuple[str, ...], terms: list[tuple[Monomial, Acceleration]]) -> SampledModel:
        n, m = self.sets.n, len(names)
        coefficients = np.zeros((n, len(terms), m))
        for acceleration in dict.fromkeys(a for _, a in terms):
            places = [k for k, (_, a) in enumerate(terms) if a == acceleration]
            # One unit parameter at a time: a column of Psi each.
            own = self._solved([terms[k][0] for k in places], acceleration, list(np.eye(m)))
            coefficients[:, places] = own.transpose(2, 1, 0)
        largest = np.abs(coefficients).max(initial=0.0)
        # What is left of zeros after solving would look like terms.
        coefficients[np.abs(coefficients) <= NEGLIGIBLE * largest] = 0.0
        exponents = np.array([(*np.array(f).T.ravel(), *a) for f, a in terms], dtype=np.int8).reshape(
            len(terms), Generators(n).size
        )
        pivots, grouping = _grouped(coefficients.reshape(-1, m))
        frozen = read_only_exponents(exponents.T)
        return SampledModel(names, frozen, read_only(coefficients), pivots, read_only(grouping))

    def error(self, model: SampledModel) -> float:
        """Largest error at fresh states, over the largest torque."""
        q, qd, qdd = self._states(N_CHECKED), *uniform(self.rng, -2.0, 2.0, (2, N_CHECKED, self.sets.n))
        x = uniform(self.rng, 0.5, 1.5, (self.torque.n_parameters,))
        tau = self.torque(q, qd, qdd, x)
        # A torque of zeros is met exactly: no division by zero.
        return float(np.abs(model.inverse_dynamics(q, qd, qdd, x) - tau).max() / max(np.abs(tau).max(), 1e-300))


def derivatives(monomial: Monomial, sets: FunctionSets) -> set[Monomial]:
    """Functions that partial derivatives of a function are sums of, sin^2 written as 1 - cos^2.  [Lloyd2021, Eq. 10]"""
    found: set[Monomial] = set()
    for i, (power, a, b) in enumerate(monomial):
        slopes = []
        if not sets.types[i].is_angle:
            slopes = [(power - 1, 0, 0)] if power else []
        else:
            # d(sin^a cos^b) = a sin^(a-1) cos^(b+1) - b sin^(a+1) cos^(b-1)
            slopes += [(0, a - 1, b + 1)] if a else []
            slopes += [(0, a + 1, b - 1)] if b else []
        for _, s, c in slopes if sets.types[i].is_angle else []:
            # sin^2 = 1 - cos^2 keeps the functions independent.
            both = [(0, s, c)] if s < 2 else [(0, s - 2, c), (0, s - 2, c + 2)]
            found |= {(*monomial[:i], one, *monomial[i + 1 :]) for one in both}
        if not sets.types[i].is_angle:
            found |= {(*monomial[:i], one, *monomial[i + 1 :]) for one in slopes}
    return found


def read_only_exponents(exponents: NDArray[np.int8]) -> NDArray[np.int8]:
    """The exponents, frozen."""
    frozen = np.ascontiguousarray(exponents)
    frozen.setflags(write=False)
    return frozen


def _grouped(W: Array) -> tuple[tuple[int, ...], Array]:
    """Independent columns, first ones first, and (l, m) what all columns are in these.  [Lloyd2021, Eqs. 38 to 42]"""
    sizes: Any = np.sqrt((W * W).sum(axis=0))
    acting = sizes > NEGLIGIBLE * sizes.max(initial=0.0)
    # Columns of unit length: independence does not hang on units.
    scaled = W[:, acting] / sizes[acting]
    columns = np.flatnonzero(acting)
    triangle = in_order(scaled, MIN_INDEPENDENT_SHARE)
    chosen = columns[triangle.chosen]
    grouping = np.zeros((len(chosen), W.shape[1]))
    if len(chosen):
        grouping[:, acting] = solved(W[:, chosen], W[:, acting])
    grouping[np.abs(grouping) <= NEGLIGIBLE * np.abs(grouping).max(initial=0.0)] = 0.0
    return tuple(chosen.tolist()), grouping
