"""Relations between base and standard parameters in symbols of the geometry, propagated and never guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from tauform.arguments import checked_methods
from tauform.arrays import Array
from tauform.closedform.base.preference import default_order
from tauform.closedform.base.relations.nullvectors import NullVector, length_values, null_vectors
from tauform.closedform.base.relations.polynomial import PLAIN_POWERS, Polynomial, join_signed
from tauform.closedform.expansion.dimensionless import parameter_factors, units
from tauform.closedform.notation import LATEX, latex_parameter, plain_parameter
from tauform.description.inertia import MOMENTS_OF_INERTIA
from tauform.description.layout import Parameter
from tauform.description.robot import Robot
from tauform.portable.products import product

if TYPE_CHECKING:
    from tauform.closedform.base.baseset import BaseParameters

NotationStyle = Literal["names", "gautier", "latex"]
# How exactly a candidate must leave the base parameters alone to be a relation of this robot.
MAX_RELATION_ERROR = 1e-8
# A part of another parameter, in the robot's own units, that is too small to be shown or to give a base parameter
# another name: twists of 1e-12 rad, and the rounding of different sources, must not decide what a parameter is called.
NEGLIGIBLE = 1e-9
ZERO = Polynomial({})


@checked_methods
@dataclass(frozen=True, eq=False)
class Relation:
    """One base parameter as a sum of standard parameters.

    Attributes:
        name: of the base parameter.
        terms: coefficient of each standard parameter, in Gautier's order; the pivot comes first with 1.
        exact: whether every coefficient is propagated from named lengths; otherwise some are numbers that hold for
            this robot's values only.
        parameters: what each of these names stands for.
    """

    name: str
    terms: Mapping[str, Polynomial]
    exact: bool
    parameters: Mapping[str, Parameter]

    @classmethod
    def of(cls, own: Parameter, terms: Mapping[Parameter, Polynomial], exact: bool) -> Relation:
        """Relation given by parameters instead of their names."""
        named = {parameter.name: parameter for parameter in (own, *terms)}
        return cls(own.name, {parameter.name: value for parameter, value in terms.items()}, exact, named)

    def text(self, style: NotationStyle = "names") -> str:
        """The relation in a line.

        Args:
            style: "names", `IzzR_1 = Izz_1 + Ia_1 + Iyy_2 + ...`; "gautier", `ZZR1 = ZZ1 + Ia1 + YY2 + ...`; or
                "latex", `I_{zzR,1} = I_{zz,1} + I_{a,1} + I_{yy,2} + ...`, for math mode.

        Raises:
            UnknownNameError: another style.
        """
        write, is_latex = WRITERS[style], style == "latex"
        # Parameters with the same coefficient share it: (R3^2 + D3^2) (M4 + M5 + M6).
        shared: dict[str, tuple[str, list[str]]] = {}
        for parameter, coefficient in self.terms.items():
            text = coefficient.text(LATEX if is_latex else PLAIN_POWERS)
            group = f"{text} {parameter}" if text in ("1", "-1") else text
            shared.setdefault(group, (text, []))[1].append(write(self.parameters[parameter]))
        right = join_signed([_summand(text, names) for text, names in shared.values()])
        remark = r"\quad\text{(numbers of this robot)}" if is_latex else "   (numbers of this robot)"
        return f"{write(self.parameters[self.name])} = {right}" + ("" if self.exact else remark)

    def __str__(self) -> str:
        return self.text()


def gautier_name(parameter: Parameter) -> str:
    """`ZZR1` for `IzzR_1`, `MX2` for `mx_2`, `Ia3` for `Ia_3`."""
    kind = parameter.kind
    letters = kind[1:].upper() if kind in MOMENTS_OF_INERTIA else kind.upper() if parameter.is_link else kind
    return f"{letters}{'R' * parameter.is_sum}{parameter.number}{parameter.suffix}"


# How a parameter is written in each style.
WRITERS: dict[str, Callable[[Parameter], str]] = {
    "names": plain_parameter,
    "gautier": gautier_name,
    "latex": latex_parameter,
}


def _summand(coefficient: str, names: list[str]) -> tuple[str, str]:
    if coefficient in ("1", "-1"):
        return ("-" if coefficient == "-1" else "+", names[0])
    several = any(f" {sign} " in coefficient for sign in "+-")
    sign = "-" if coefficient.startswith("-") and not several else "+"
    factor = f"({coefficient})" if several else coefficient.lstrip("-")
    return (sign, f"{factor} {names[0]}" if len(names) == 1 else f"{factor} ({' + '.join(names)})")


def symbolic_relations(robot: Robot, base: BaseParameters) -> tuple[Relation, ...]:
    """The rows of base.grouping with coefficients as polynomials in the robot's lengths."""
    # Null vectors in symbols; a column that none of them determines keeps the numbers of this robot.
    solved = _solved(robot, base)
    folded = [k for k in base.columns if k not in base.pivots and base.parameter_names[k] not in base.no_effect]
    numeric = [k for k in folded if k not in solved]
    order = default_order(robot)
    relations = []
    for row, (own, pivot) in enumerate(zip(base.parameters, base.pivots, strict=True)):
        terms, exact = {pivot: Polynomial.constant(1.0)}, True
        for k in sorted(folded, key=order.index):
            vector = solved.get(k, {})
            # Columns without a symbolic null vector enter by their numeric coefficient.
            leftover = {u: Polynomial.constant(base.grouping[row, u]) for u in numeric}
            coefficient = -vector.get(pivot, ZERO) if k in solved else leftover[k]
            for u in numeric:
                coefficient = coefficient - vector.get(u, ZERO) * leftover[u]
            if not coefficient.is_zero:
                terms[k] = coefficient
                # A relation is exact where no number of this robot was needed for any of its coefficients.
                exact = exact and not any(base.grouping[row, u] and (u == k or u in vector) for u in numeric)
        relations.append(Relation.of(own, {base.layout.parameters[k]: value for k, value in terms.items()}, exact))
    return tuple(relations)


def readable(robot: Robot, base: BaseParameters, relations: tuple[Relation, ...]) -> tuple[Relation, ...]:
    """The relations without what is too small to count: a name ends in R exactly where something else is left."""
    lengths, factors = length_values(robot), parameter_factors(robot, *units(robot))
    sizes = dict(zip(base.parameter_names, NEGLIGIBLE * factors, strict=True))
    found = []
    for relation, pivot in zip(relations, base.pivots, strict=True):
        # In units of the robot's own size: a small arm and a large one are read alike.
        terms = {name: value.above(sizes[name] / factors[pivot], lengths) for name, value in relation.terms.items()}
        found.append(replace(relation, terms={name: value for name, value in terms.items() if not value.is_zero}))
    return tuple(found)


def exact_grouping(robot: Robot, base: BaseParameters, relations: tuple[Relation, ...]) -> Array:
    """base.grouping evaluated from the relations, free of the rounding of its numerical solution."""
    lengths = length_values(robot)
    place = {name: k for k, name in enumerate(base.parameter_names)}
    grouping = np.zeros_like(base.grouping)
    for row, relation in zip(grouping, relations, strict=True):
        for name, coefficient in relation.terms.items():
            row[place[name]] = coefficient.evaluate(lengths)
    return grouping


def _solved(robot: Robot, base: BaseParameters) -> dict[int, NullVector]:
    """Null vectors with 1 at one folded column and 0 at the others, for each column that they determine."""
    lengths, factors = length_values(robot), parameter_factors(robot, *units(robot))
    absent = {k for k in base.columns if base.parameter_names[k] in base.no_effect}
    folded = set(base.columns) - set(base.pivots) - absent
    solved: dict[int, NullVector] = {}
    for candidate in null_vectors(robot):
        vector = {k: value for k, value in candidate.items() if k not in absent}
        # Candidates follow from structure alone; a robot with other columns included may not have them.
        if not _holds(vector, base, lengths, factors):
            continue
        # Gaussian elimination over polynomials: columns solved before leave the new vector, ...
        for k in folded & vector.keys() & solved.keys():
            vector = _combined(vector, -vector[k], solved[k])
        # Only a monomial can be divided by without leaving the polynomials.
        pivots = [k for k in folded & vector.keys() if vector[k].is_monomial]
        if not pivots:
            continue
        # A constant pivot keeps coefficients polynomial; of these the last link's, as relations fold toward the base.
        pivot = max(pivots, key=lambda k: (not vector[k].names, k))
        vector = {k: value / vector[pivot] for k, value in vector.items()}
        # ... and the new pivot leaves all earlier ones.
        for k, other in solved.items():
            if pivot in other:
                solved[k] = _combined(other, -other[pivot], vector)
        solved[pivot] = vector
    return solved


def _combined(vector: NullVector, factor: Polynomial, other: NullVector) -> NullVector:
    result = dict(vector)
    for k, value in other.items():
        result[k] = result.get(k, ZERO) + factor * value
    return {k: value for k, value in result.items() if not value.is_zero}


def _holds(vector: NullVector, base: BaseParameters, lengths: Mapping[str, float], factors: Array) -> bool:
    """Whether this robot's base parameters do not feel the change; measured without units."""
    if not vector or not vector.keys() <= set(base.columns):
        return False
    change = np.zeros(base.grouping.shape[1])
    for k, value in vector.items():
        change[k] = value.evaluate(lengths)
    felt = product(base.grouping, change) * factors[list(base.pivots)]
    return bool(np.abs(felt).max(initial=0.0) <= MAX_RELATION_ERROR * np.abs(change * factors).max())
