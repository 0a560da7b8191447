"""Programs from closed forms, term by term.  [Lloyd2021, section 4.1]

Every term is a product of one function of each joint (1, sin, cos, sin cos, cos^2, or powers of a slide) and a
product of rates; `factoring` takes the common factors out. The mass matrix is symmetric, so every off-diagonal entry
that is made serves two torques.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import AnyArray, Array
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.generators import Generators
from tauform.closedform.model.beside import Beside
from tauform.closedform.model.geometry import Geometry
from tauform.closedform.terms.monomials import distinct_columns
from tauform.codegen.factored.factoring import Integers, Sums
from tauform.codegen.factored.nesting import Nesting
from tauform.codegen.minimal.vectors import cos, sin
from tauform.description.drives.friction import plain_functions

Powers = list[list[list[int]]]


class Terms(Protocol):
    """Protocol of a closed form with or without numbers: exponents (5 n, p)."""

    @property
    def exponents(self) -> NDArray[np.int8]: ...


class ClosedForm(Terms, Protocol):
    """Protocol of a BoundModel: coefficients (n, p), joint_coefficients (n, 3), and others."""

    @property
    def coefficients(self) -> Array: ...

    @property
    def joint_coefficients(self) -> Array: ...

    @property
    def coordinates(self) -> Coordinates: ...

    @property
    def geometry(self) -> Geometry: ...

    @property
    def moving(self) -> tuple[int, ...]: ...

    @property
    def beside(self) -> Beside: ...


# Nested torques of whole models, which their companions and their programs share; they live as long as the models.
_WHOLE: WeakKeyDictionary[ClosedForm, tuple[Nesting, Powers]] = WeakKeyDictionary()


def factored_torques(
    bound: ClosedForm, q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: AnyArray | None = None
) -> list[Any]:
    """Torques of a closed form, all drive terms included, on (n,) arrays of scalars."""
    # Nesting the terms costs far more than tracing them.
    nesting, powers = _WHOLE.get(bound) or _nested(bound, kinds_of(bound) >= 0)
    rigid = nesting.scalars(functions_of(powers, bound.coordinates.all_of(q), [*qd, *qdd]), len(q))
    torques = _with_friction(bound, rigid, qd)
    if not bound.beside:
        return torques
    beside = bound.beside.torque(*_columns(q, qd, temperature), np.array(rigid, dtype=object)[:, None])
    return [a + b for a, b in zip(torques, beside[:, 0], strict=True)]


def factored_rest(
    bound: ClosedForm, q: AnyArray, qd: AnyArray, tau: AnyArray, temperature: AnyArray | None = None
) -> AnyArray:
    """Torque that is left for accelerations."""
    # Without drive terms beside E, the rest follows from the torques at zero acceleration.
    if not bound.beside:
        return tau - np.array(factored_torques(bound, q, qd, 0 * qd), dtype=object)
    friction = np.array(_with_friction(bound, [0.0] * len(q), qd), dtype=object)
    driving = bound.beside.driving(*_columns(q, qd, temperature), (tau - friction)[:, None])[:, 0]
    return driving - np.array(_torques(bound, kinds_of(bound) >= 0, q, qd, 0 * qd), dtype=object)


def _columns(q: AnyArray, qd: AnyArray, temperature: AnyArray | None) -> tuple[AnyArray, AnyArray, AnyArray | None]:
    return q[:, None], qd[:, None], None if temperature is None else temperature[:, None]


def factored_velocity(bound: ClosedForm, q: AnyArray, qd: AnyArray) -> list[Any]:
    """Torques of velocities alone, without friction."""
    return _torques(bound, kinds_of(bound) == 2, q, qd, qd)


def factored_gravity(bound: ClosedForm, q: AnyArray) -> list[Any]:
    """Torques that hold the arm still, without friction."""
    return _torques(bound, kinds_of(bound) == 0, q, q, q)


def factored_mass_matrix(bound: ClosedForm, q: AnyArray) -> list[list[Any]]:
    """(n, n) mass matrix, rotors included."""
    n = len(q)
    # Terms in qdd alone: D is their coefficient matrix, entry by entry.
    row, term = np.nonzero(bound.coefficients * (kinds_of(bound) == 1))
    # The acceleration that a term multiplies names its column of the mass matrix.
    column = np.argmax(bound.exponents[Generators(n).accelerations, term], axis=0)
    # one of each symmetric pair; of a fixed joint the terms hold the row alone
    chosen = (row <= column) | ~np.isin(row, bound.moving)
    row, column, term = row[chosen], column[chosen], term[chosen]
    entry = np.minimum(row, column) * n + np.maximum(row, column)
    sums, powers = sums_of(bound, entry, term, bound.coefficients[row, term], with_rates=False)
    entries = Nesting.of(sums).scalars(functions_of(powers, bound.coordinates.all_of(q)), n * n)
    return [[entries[min(i, j) * n + max(i, j)] for j in range(n)] for i in range(n)]


def _torques(bound: ClosedForm, chosen: NDArray[np.bool_], q: AnyArray, qd: AnyArray, qdd: AnyArray) -> list[Any]:
    nesting, powers = _nested(bound, chosen)
    return nesting.scalars(functions_of(powers, bound.coordinates.all_of(q), [*qd, *qdd]), len(q))


def _nested(bound: ClosedForm, chosen: NDArray[np.bool_]) -> tuple[Nesting, Powers]:
    """The torques of some terms as nested sums, and the powers of each function."""
    sums, powers = _sums(bound, chosen)
    return Nesting.of(sums), powers


def _sums(bound: ClosedForm, chosen: NDArray[np.bool_]) -> tuple[Sums, Powers]:
    joint, term = np.nonzero(bound.coefficients * chosen)
    return sums_of(bound, joint, term, bound.coefficients[joint, term])


def cost_within(bound: ClosedForm, most: float) -> int | None:
    """Operations of the torques of a closed form, as estimated; None where they are more than that."""
    if bound not in _WHOLE:
        sums, powers = _sums(bound, kinds_of(bound) >= 0)
        if (nesting := Nesting.within(sums, most)) is None:
            return None
        _WHOLE[bound] = nesting, powers
    return _WHOLE[bound][0].cost


def companions(bound: ClosedForm) -> Callable[[NDArray[np.bool_]], NDArray[np.bool_]]:
    """Function of entries to keep, (n, p): those that leaving the others out makes no cheaper stay too.

    Terms left out one by one break up what many torques share; with their companions, programs shrink as terms leave.
    """
    joint, term = np.nonzero(bound.coefficients)
    if bound not in _WHOLE:
        _WHOLE[bound] = _nested(bound, kinds_of(bound) >= 0)
    nesting = _WHOLE[bound][0]

    def completed(entries: NDArray[np.bool_]) -> NDArray[np.bool_]:
        kept = nesting.completed(entries[joint, term])
        result = np.zeros_like(entries)
        result[joint[kept], term[kept]] = True
        return result

    return completed


def sums_of(
    bound: Terms, outputs: Integers, term: Integers, values: Array, with_rates: bool = True
) -> tuple[Sums, Powers]:
    """Entries over one variable for each joint and one for products of rates, and the powers of each function."""
    # Exponents are decoded once per term, not once per entry.
    used, place = np.unique(term, return_inverse=True)  # a term has an entry in several outputs
    rows, E = Generators.of(bound.exponents), bound.exponents[:, used]
    variables = [E[rows.of_joint(i)] for i in range(rows.n)] + [E[rows.rates]] * with_rates
    powers, digits = zip(*(_distinct(own) for own in variables), strict=True)
    return Sums(outputs, np.array(digits)[:, place], values), list(powers)


def functions_of(powers: Powers, q: AnyArray, rates: Sequence[Any] = ()) -> list[list[Any]]:
    """The functions of each variable as scalars."""
    generators = [[x, sin(x), cos(x)] for x in q] + [list(rates)] * bool(len(rates))
    return [
        [_product(scalars, exponents) for exponents in own] for scalars, own in zip(generators, powers, strict=True)
    ]


def _distinct(exponents: NDArray[np.int8]) -> tuple[list[list[int]], Integers]:
    """The different columns, first among them the zero column, and the place of each column."""
    with_zero = np.concatenate([np.zeros((len(exponents), 1), dtype=np.int8), exponents], axis=1)
    # Reversed twice: the function 1 sorts first, so that digit 0 always means no factor.
    columns, place = distinct_columns(with_zero[::-1])
    return columns[::-1].T.tolist(), place[1:]


def _product(scalars: Sequence[Any], exponents: Sequence[int]) -> Any:
    factors = [x for x, power in zip(scalars, exponents, strict=True) for _ in range(power)]
    result: Any = factors[0] if factors else 1.0
    for factor in factors[1:]:
        result = result * factor
    return result


def _with_friction(bound: ClosedForm, torques: list[Any], qd: AnyArray) -> list[Any]:
    total, velocities = [], bound.geometry.tree_velocities(qd, bound.moving)
    for a, torque in enumerate(torques):
        for i, weight in bound.geometry.acting_on(a):
            for own, function in zip(bound.joint_coefficients[i].tolist(), plain_functions(velocities[i]), strict=True):
                # Most joints of most robots have no friction: products with zero would be traced for nothing.
                if own:
                    torque = torque + weight * own * function
        total.append(torque)
    return total


def kinds_of(bound: Terms) -> Integers:
    """0 for gravity, 1 for accelerations, 2 for velocities."""
    # Terms are linear in qdd or quadratic in qd, so that their degree in the rates tells them apart.
    kind: Integers = bound.exponents[Generators.of(bound.exponents).rates].sum(axis=0)
    return kind
