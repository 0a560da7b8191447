"""Closed forms as text: equations that Python can evaluate, LaTeX, and a summary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.description.names import counted
from tauform.errors import ModelError

if TYPE_CHECKING:
    from tauform.closedform.bound import BoundModel
    from tauform.closedform.model import ClosedFormModel

GENERATORS = ("q", "s", "c", "qd", "qdd")
LATEX_GENERATORS = ("q", "s", "c", r"\dot q", r"\ddot q")
FRICTION_NAMES = ("viscous", "Coulomb", "offset")
KIND_NAMES = ("gravity", "acceleration", "squared velocity", "product of velocities")


def term_names(exponents: NDArray[np.int8]) -> tuple[str, ...]:
    """`c1*s2**2*qdd1` for each column of E; `1` where all exponents are zero."""
    n = len(exponents) // 5
    names = [f"{GENERATORS[k]}{i + 1}" for k in range(5) for i in range(n)]
    powers = [[_power(names[i], int(e[i]), "**") for i in np.flatnonzero(e)] for e in exponents.T]
    return tuple("*".join(factors) or "1" for factors in powers)


def structure_equations(model: ClosedFormModel, max_terms: int) -> tuple[str, ...]:
    """tau_i in base parameters."""
    _refuse_long(model.robot_name, model.n_terms, max_terms)
    terms = term_names(model.exponents)
    lines = []
    for i, (coefficients, extra) in enumerate(zip(model.reduction, model.joint_terms, strict=True)):
        parts = [(_combination(row, model.base.names), term) for row, term in zip(coefficients, terms, strict=True)]
        joint = (f"qd{i + 1}", f"sign(qd{i + 1})", "1")
        parts += [(_combination(row, model.base.names), term) for row, term in zip(extra, joint, strict=True)]
        products = [part if term == "1" else f"{part}*{term}" for part, term in parts if part]
        lines.append(_sum(f"tau{i + 1}", products))
    return tuple(lines)


def bound_equations(model: BoundModel, max_terms: int) -> tuple[str, ...]:
    """tau_i in numbers."""
    _refuse_long(model.name, model.n_terms, max_terms)
    terms = term_names(model.exponents)
    lines = []
    for i, (coefficients, extra) in enumerate(zip(model.coefficients, model.joint_coefficients, strict=True)):
        joint = (f"qd{i + 1}", f"sign(qd{i + 1})", "1")
        values = zip((*coefficients, *extra), (*terms, *joint), strict=True)
        products = [repr(float(v)) + ("" if term == "1" else f"*{term}") for v, term in values if v]
        lines.append(_sum(f"tau{i + 1}", products))
    return tuple(lines)


def latex(model: ClosedFormModel, max_terms: int) -> str:
    r"""An align environment, one \tau_i a line."""
    _refuse_long(model.robot_name, model.n_terms, max_terms)
    n = model.n_joints
    names = [rf"{LATEX_GENERATORS[k]}_{{{i + 1}}}" for k in range(5) for i in range(n)]
    terms = [" ".join(_power(names[i], int(e[i]), "^") for i in np.flatnonzero(e)) for e in model.exponents.T]
    symbols = [_latex_name(name) for name in model.base.names]
    lines = []
    for i, (coefficients, extra) in enumerate(zip(model.reduction, model.joint_terms, strict=True)):
        velocity = rf"\dot q_{{{i + 1}}}"
        joint = (velocity, rf"\operatorname{{sign}}({velocity})", "")
        rows = zip((*coefficients, *extra), (*terms, *joint), strict=True)
        products = [f"{part} {term}".rstrip() for row, term in rows if (part := _combination(row, symbols, " "))]
        lines.append(rf"\tau_{{{i + 1}}} &= " + (" + ".join(products).replace("+ -", "- ") or "0"))
    return "\\begin{align}\n" + " \\\\\n".join(lines) + "\n\\end{align}\n"


def structure_summary(model: ClosedFormModel) -> str:
    """What `print(model)` shows."""
    kinds = np.bincount(term_kinds(model.exponents), minlength=len(KIND_NAMES))
    counts = ", ".join(f"{count} {name}" for count, name in zip(kinds, KIND_NAMES, strict=True))
    used = [name for k, name in enumerate(FRICTION_NAMES) if model.joint_terms[:, k].any()]
    filled = model.sparse_reduction.nnz / max(np.prod(model.sparse_reduction.shape), 1)
    lines = [
        f"Closed-form dynamics of {model.robot_name}, {counted(model.n_joints, 'joint')}: {', '.join(model.joint_names)}",
        f"  terms p = {model.n_terms}: {counts}",
        f"  base parameters l = {model.n_base} of {len(model.base.columns)}: {', '.join(model.base.names)}",
        f"  reduction: {model.sparse_reduction.nnz} entries, {100 * filled:.2g} % filled",
    ]
    if used:
        lines.append(f"  joint terms: {', '.join(used)}")
    if model.fixed:
        lines.append("  fixed: " + ", ".join(f"{name} = {value:g}" for name, value in model.fixed.items()))
    return "\n".join(lines + [f"  {finding}" for finding in model.base.findings])


def term_kinds(exponents: NDArray[np.int8]) -> NDArray[np.int64]:
    """What each term multiplies: 0 gravity, 1 acceleration, 2 squared velocity, 3 product of velocities."""
    n = len(exponents) // 5
    qd, qdd = exponents[3 * n : 4 * n], exponents[4 * n :]
    return np.where(qdd.any(axis=0), 1, np.where((qd == 2).any(axis=0), 2, 3 * qd.any(axis=0)))


def _combination(row: Array, names: Sequence[str], times: str = "*") -> str:
    """`2.4*mxR_2`, `(IzzR_1 + Ia_1)`; empty where all factors are zero."""
    parts = [_scaled(float(factor), name, times) for factor, name in zip(row, names, strict=True) if factor]
    text = " + ".join(parts).replace("+ -", "- ")
    return f"({text})" if len(parts) > 1 else text


def _scaled(factor: float, name: str, times: str) -> str:
    if abs(factor) == 1.0:
        return name if factor > 0 else f"-{name}"
    return f"{factor:.15g}{times}{name}"


def _power(name: str, exponent: int, sign: str) -> str:
    return name if exponent == 1 else f"{name}{sign}{exponent}"


def _sum(left: str, products: Sequence[str]) -> str:
    return f"{left} = " + (" + ".join(products).replace("+ -", "- ") or "0")


def _latex_name(name: str) -> str:
    kind, number = name.rsplit("_", 1)
    letter, index = (kind[0], kind[1:]) if len(kind) > 1 else (kind, "")
    return rf"{letter}_{{{index + (',' if index else '')}{number}}}"


def _refuse_long(name: str, n_terms: int, max_terms: int) -> None:
    if n_terms > max_terms:
        raise ModelError(
            f"equations: {name} has {n_terms} terms, more than max_terms = {max_terms}; raise it to have them "
            "all, or write code with tf.generate"
        )
