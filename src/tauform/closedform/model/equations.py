"""Closed forms as text: equations that Python can evaluate, LaTeX, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.generators import Generators
from tauform.closedform.notation import PLAIN, Notation, digits_of, summed
from tauform.closedform.terms.written import WrittenNumber, generators, written_factor
from tauform.description.drives.friction import plain_functions
from tauform.errors import ModelError
from tauform.escaping.shown import visible
from tauform.messages import counted
from tauform.wording import call

if TYPE_CHECKING:
    from tauform.closedform.model.bound import BoundModel
    from tauform.closedform.model.model import ClosedFormModel

FRICTION_NAMES = ("viscous", "Coulomb", "offset")
MOST_DIGITS = 17
# Models of so many terms are drawn in notebooks, with numbers of so many digits.
NOTEBOOK_TERMS, NOTEBOOK_DIGITS = 60, 6
KIND_NAMES = ("gravity", "acceleration", "squared velocity", "product of velocities")


def term_names(exponents: NDArray[np.int8], coordinates: Coordinates | None = None) -> tuple[str, ...]:
    """`c1*s2**2*qdd1` for each column of E; `1` where all exponents are zero."""
    return tuple(term or "1" for term in PLAIN.terms(exponents, coordinates))


def structure_equations(
    model: ClosedFormModel, max_terms: int, digits: int | None, notation: Notation = PLAIN
) -> tuple[str, ...]:
    """tau_i in base parameters."""
    _check(model.robot_name, model.n_terms, max_terms, digits)
    names = [notation.parameter(own) for own in model.base.parameters]
    terms = notation.terms(model.exponents, model.coordinates, digits)
    lines = []
    for i, coefficients in enumerate(model.reduction):
        beside = _joint_terms(model, i, model.joint_terms, notation, digits)
        rows = [*zip(coefficients, terms, strict=True), *beside]
        products = [
            # Terms whose combination is empty act on other joints only.
            notation.product(part, term)
            for row, term in rows
            if (part := _combination(row, names, notation, digits))
        ]
        lines.append(notation.equation(i, products))
    return tuple(lines)


def bound_equations(
    model: BoundModel, max_terms: int, digits: int | None, notation: Notation = PLAIN
) -> tuple[str, ...]:
    """tau_i in numbers."""
    _check(model.name, model.n_terms, max_terms, digits)
    terms = notation.terms(model.exponents, model.coordinates, digits)
    beside = written_drives(model, digits, notation)
    lines = []
    for i, coefficients in enumerate(model.coefficients):
        friction = _joint_terms(model, i, model.joint_coefficients, notation, digits)
        values = [*zip(coefficients, terms, strict=True), *friction]
        # Zero coefficients are terms of other joints.
        products = [notation.product(notation.number(digits_of(float(v), digits)), term) for v, term in values if v]
        lines.append(notation.equation(i, [*products, *beside[i]]))
    return tuple(lines)


def _joint_terms(
    model: ClosedFormModel | BoundModel, i: int, coefficients: Array, notation: Notation, digits: int | None
) -> list[tuple[Any, str]]:
    """Viscous, Coulomb and offset terms that act on joint i of q: a coefficient, or a row of them, and its factor."""
    _, qd, _ = generators(notation, model.n_joints, digits)
    velocities = model.geometry.tree_velocities(qd[:, 0], model.moving)
    found = []
    for k, weight in model.geometry.acting_on(i):
        functions = map(written_factor, plain_functions(velocities[k]))
        found += [(weight * own, function) for own, function in zip(coefficients[k], functions, strict=True)]
    return found


def written_drives(model: BoundModel, digits: int | None, notation: Notation) -> list[list[str]]:
    """Torque of drive terms beside theta for each joint, as a text, where there are any.

    Raises:
        ModelError: friction depends on load, whose equation would hold all others.
    """
    if not model.beside:
        return [[] for _ in model.joint_names]
    # |tau| on the right of the equation for tau: it has no finite text.
    if model.beside.is_loaded:
        raise ModelError(
            f"equations: friction of {model.name} depends on load, that is on these equations themselves; bind the "
            "robot without its load terms"
        )
    # The shapes' own torque runs on texts, so that equations say what is computed.
    q, qd, temperature = generators(notation, model.n_joints, digits)
    torques = model.beside.torque(q, qd, temperature, None)[:, 0]
    # A joint without such terms answers with a plain zero.
    return [[torque.text] if isinstance(torque, WrittenNumber) else [] for torque in torques]


def aligned(lines: Sequence[str], environment: str = "align") -> str:
    """Equations in LaTeX, one per line."""
    return f"\\begin{{{environment}}}\n" + " \\\\\n".join(lines) + f"\n\\end{{{environment}}}\n"


def shown_in_notebook(lines: Sequence[str]) -> str:
    """The same as a notebook draws it."""
    return f"$\\displaystyle\n{aligned(lines, 'aligned')}$"


def structure_summary(model: ClosedFormModel) -> str:
    """Text of `print(model)`."""
    kinds = np.bincount(term_kinds(model.exponents), minlength=len(KIND_NAMES))
    counts = ", ".join(f"{count} {name}" for count, name in zip(kinds, KIND_NAMES, strict=True))
    used = [name for k, name in enumerate(FRICTION_NAMES) if model.joint_terms[:, k].any()]
    filled = model.sparse_reduction.nnz / max(np.prod(model.sparse_reduction.shape), 1)
    joints = f"{counted(model.n_joints, 'joint')}: {', '.join(map(visible, model.joint_names))}"
    lines = [
        f"Closed-form dynamics of {visible(model.robot_name)}, {joints}",
        f"  terms p = {model.n_terms}: {counts}",
        f"  base parameters l = {model.n_base} of {len(model.base.columns)}: {', '.join(model.base.names)}",
        f"  reduction: {model.sparse_reduction.nnz} entries, {100 * filled:.2g} % filled",
    ]
    if used:
        lines.append(f"  joint terms: {', '.join(used)}")
    if model.fixed:
        lines.append("  fixed: " + ", ".join(f"{visible(name)} = {value:g}" for name, value in model.fixed.items()))
    return "\n".join(lines + [f"  {visible(finding)}" for finding in model.base.findings])


def term_kinds(exponents: NDArray[np.int8]) -> NDArray[np.int64]:
    """Kind of each term by its factor: 0 gravity, 1 acceleration, 2 squared velocity, 3 product of velocities."""
    rows = Generators.of(exponents)
    # A term is linear in qdd or at most quadratic in qd, never both.
    qd, qdd = exponents[rows.velocities], exponents[rows.accelerations]
    # A squared velocity has exponent 2; what else has velocities is a product of two of them.
    return np.where(qdd.any(axis=0), 1, np.where((qd == 2).any(axis=0), 2, 3 * qd.any(axis=0)))


def _combination(row: Array, names: Sequence[str], notation: Notation, digits: int | None) -> str:
    """`2.4*mxR_2`, `(IzzR_1 + Ia_1)`; empty where all factors are zero."""
    parts = [
        notation.product(notation.number(digits_of(float(factor), digits)), name)
        for factor, name in zip(row, names, strict=True)
        if factor
    ]
    return f"({summed(parts)})" if len(parts) > 1 else "".join(parts)


def _check(name: str, n_terms: int, max_terms: int, digits: int | None) -> None:
    if n_terms > max_terms:
        raise ModelError(
            f"equations: {name} has {n_terms} terms, more than max_terms = {max_terms}",
            argument="max_terms",
            value=max_terms,
            remedy=f"raise it to have them all, or write code with {call('generate')}",
        )
    if digits is not None and not 1 <= digits <= MOST_DIGITS:
        raise ModelError(f"digits: expected 1 to {MOST_DIGITS}, got {digits}; leave it out to have those that matter")
