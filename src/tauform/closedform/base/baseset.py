"""BaseParameters: the minimal set of inertial parameters, and how it is made of the standard ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import checked_methods
from tauform.arrays import Array, fixed_array, read_only
from tauform.closedform.base.relations.polynomial import Polynomial
from tauform.closedform.base.relations.relations import NEGLIGIBLE, Relation, readable, symbolic_relations
from tauform.deferred import deferred
from tauform.description.drives.drive import Drive
from tauform.description.layout import Layout, Parameter
from tauform.description.parameter_groups import PARAMETER_GROUPS
from tauform.description.robot import Robot
from tauform.errors import ModelError, ShapeError, UnknownNameError
from tauform.escaping.shown import visible
from tauform.notebook import Displayed
from tauform.portable.factorization import by_size
from tauform.portable.products import product
from tauform.wording import call

if TYPE_CHECKING:
    from tauform.closedform.base.spectrum import Spectrum


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class BaseParameters(Displayed):
    """theta = grouping @ robot.parameters: l numbers that determine the dynamics, none of them redundant.

    Attributes:
        robot_name: the robot they belong to.
        names: (l,) `Izz_2` where a standard parameter stands alone, `IzzR_1` where others are folded into it.
        grouping: (l, layout.n); one in each pivot's own column.
        pivots: (l,) index into robot.parameters that each base parameter grows from.
        layout: the standard parameters, the columns of grouping.
        columns: indices of the standard parameters that took part.
        no_effect: names of parameters that no torque depends on.
        alone: names of parameters that are base parameters as they stand.
        regrouped: names of parameters that are folded into others.
        gap: ratio of the weakest independent column to the strongest dependent one; large where the rank is clear.
        condition: condition number of the kept columns, scaled to unit size.
        source: what the decision was made from.
        findings: sentences that a reader should know, such as a narrow gap.
        robot: whose geometry the symbols of `relations` come from; None after reading a file.
        whole: the set that this is a part of; its other base parameters were left out and are zero. None for a set
            that lacks nothing.
    """

    robot_name: str
    names: tuple[str, ...]
    grouping: Array
    pivots: tuple[int, ...]
    layout: Layout
    columns: tuple[int, ...]
    no_effect: tuple[str, ...]
    alone: tuple[str, ...]
    regrouped: tuple[str, ...]
    gap: float
    condition: float
    source: str
    findings: tuple[str, ...] = ()
    robot: Robot | None = None
    whole: BaseParameters | None = None

    @classmethod
    def of(
        cls,
        robot: Robot,
        *,
        columns: Sequence[int],
        pivots: Sequence[int] | Array,
        no_effect: Sequence[int] | Array,
        grouping: Array,
        gap: float,
        condition: float,
        source: str,
        findings: tuple[str, ...] = (),
    ) -> BaseParameters:
        """Base set of a grouping without units whose rows belong to `pivots`; a row that holds more is called a sum."""
        standard, parameter_names = robot.layout.parameters, robot.layout.names
        kept, absent = [int(k) for k in pivots], {int(k) for k in no_effect}
        # Rounding must not turn Izz_1 into a sum of itself and 1e-17 of another.
        alone = [np.count_nonzero(np.abs(row) > NEGLIGIBLE) == 1 for row in grouping]
        return cls(
            robot_name=robot.name,
            names=tuple(_base_parameter(standard[k], single).name for k, single in zip(kept, alone, strict=True)),
            grouping=read_only(grouping),
            pivots=tuple(kept),
            layout=robot.layout,
            columns=tuple(columns),
            no_effect=tuple(parameter_names[k] for k in columns if k in absent),
            alone=tuple(parameter_names[k] for k, single in zip(kept, alone, strict=True) if single),
            # Took part, has an effect, and is no pivot: its effect shows inside others.
            regrouped=tuple(parameter_names[k] for k in columns if k not in absent and k not in kept),
            gap=gap,
            condition=condition,
            source=source,
            findings=findings,
            robot=robot,
        )

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """Names of the standard parameters, the columns of grouping."""
        return self.layout.names

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Meaning of each base parameter: kind, joints and unit of the standard parameter it grows from."""
        standard, alone = (self.layout.parameters[k] for k in self.pivots), set(self.alone)
        return tuple(_base_parameter(parameter, parameter.name in alone) for parameter in standard)

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        """Each base parameter as a sum of standard ones, in symbols of the geometry where the robot is known.

        Parts below 1e-9 in the robot's own units, such as an origin of 1e-17 m, are left to `grouping`.
        """
        # Symbols of lengths need the geometry; of a saved set without its robot only numbers are known.
        if self.robot is not None:
            return readable(self.robot, self, symbolic_relations(self.robot, self))
        standard = self.layout.parameters
        return tuple(
            Relation.of(own, {standard[k]: Polynomial.constant(row[k]) for k in np.flatnonzero(row)}, False)
            for own, row in zip(self.parameters, self.grouping, strict=True)
        )

    @property
    def n(self) -> int:
        """The number of base parameters."""
        return len(self.names)

    @cached_property
    def left_out(self) -> tuple[int, ...]:
        """Indices into whole.names of the base parameters that are zero."""
        if self.whole is None:
            return ()
        # By pivots: the place of a base parameter changes from set to part, its pivot never.
        kept = set(self.pivots)
        return tuple(k for k, pivot in enumerate(self.whole.pivots) if pivot not in kept)

    def part(self, kept: Sequence[int]) -> BaseParameters:
        """Some of the base parameters; those left out are zero."""
        # Everything: no set of its own, and `whole` stays None.
        if list(kept) == list(range(self.n)):
            return self
        return replace(
            self,
            names=tuple(self.names[k] for k in kept),
            grouping=read_only(self.grouping[list(kept)]),
            pivots=tuple(self.pivots[k] for k in kept),
            # The largest set, also of a part of a part.
            whole=self.whole or self,
        )

    def spectrum(self, scaled: bool = True) -> Spectrum:
        """Figures that set the rank: T_ii, singular values, R_ii, rows of V2, the threshold.  [Gautier1991, Table II]

        Args:
            scaled: rows and columns scaled to unit size, as the decision is made; False takes the matrix in SI units as
                the paper does.

        Raises:
            ModelError: the base parameters come from a file, which holds no geometry.
        """
        return deferred("BaseParameters.spectrum")(self, scaled)

    @cached_property
    def null_space(self) -> Array:
        """(layout.n, n - l) orthonormal directions of the standard parameters that no torque shows; zero elsewhere."""
        own = list(self.columns)
        directions = np.zeros((self.layout.n, len(own) - self.n))
        # By portable arithmetic: saved models hold what is made of these directions.
        directions[own] = by_size(self.grouping[:, own]).null_space(self.n)
        return read_only(directions)

    def standard(self, theta: ArrayLike, choice: Literal["pivots", "minimum_norm"] = "pivots") -> Array:
        """(layout.n,) standard parameters with this theta; those that did not take part are zero.

        Add any combination of `null_space` for the general solution.  [Gautier1991, Eq. 25]

        Args:
            choice: "pivots" (all others zero: X2 = 0) or "minimum_norm" (the shortest vector).

        Raises:
            ShapeError: theta has another length.
            UnknownNameError: no such choice.
        """
        if choice not in ("pivots", "minimum_norm"):
            raise UnknownNameError(f'choice: no {choice!r}; choose from "pivots", "minimum_norm"')
        values, parameters = self.checked(theta), np.zeros(self.layout.n)
        # Each pivot is part of its own base parameter only, with coefficient one: theta itself is a solution.
        parameters[list(self.pivots)] = values
        if choice == "minimum_norm":
            # Minus its projection on the null space: the shortest vector with the same theta.
            parameters = parameters - product(self.null_space, product(self.null_space.T, parameters))
        return read_only(parameters)

    @property
    def composition(self) -> str:
        """Number of columns by group: "60 link, 6 rotor"."""
        return composition(self.columns, self.layout)

    def values(self, parameters: Robot | ArrayLike) -> Array:
        """(l,) theta of a robot, or of a (layout.n,) vector of standard parameters."""
        if isinstance(parameters, Robot):
            parameters = parameters.parameters
        return read_only(product(self.grouping, fixed_array(parameters, (self.grouping.shape[1],), "parameters")))

    def checked(self, theta: ArrayLike) -> Array:
        """theta as a read-only (l,) array.

        Raises:
            ShapeError: theta has another length; the message says what it must hold.
        """
        if np.shape(theta) != (self.n,):
            raise ShapeError(
                f"theta: expected ({self.n},), one value per base parameter of {self.robot_name}, got {np.shape(theta)}"
            )
        return fixed_array(theta, (self.n,), "theta")

    def of_robot(self, robot: Robot) -> BaseParameters:
        """Itself, where it can be this robot's.

        Raises:
            ShapeError: the robot has another number of parameters.
        """
        # A cheap test that catches a mix-up; geometry is compared where a model is bound.
        if self.grouping.shape[1] != len(robot.parameters):
            raise ShapeError(
                f"base: these are the base parameters of {self.robot_name}, made of {self.grouping.shape[1]} standard "
                f"ones, but {robot.name} has {len(robot.parameters)}",
                argument="base",
                value=self,
                remedy=f"call {call('base_parameters')} on it",
            )
        return self

    @cached_property
    def mixes_friction(self) -> bool:
        """Whether a parameter of links holds some friction too: a slide's weight is no different from an offset."""
        # Coulomb, viscous and offset columns, whichever joints they belong to.
        friction = set(self.layout.friction)
        rigid = [k for k, pivot in enumerate(self.pivots) if pivot not in friction]
        # Rows of link parameters, columns of friction: any entry couples the two.
        return bool(self.grouping[np.ix_(rigid, sorted(friction))].any())

    def refuse_load(self, drives: Iterable[Drive], where: str) -> None:
        """Raise ModelError where friction depends on load, and theta does not tell what links alone weigh.

        Args:
            where: the call, for the message.
        """
        if self.mixes_friction and any("carried" in term.reads for term in drives):
            raise ModelError(
                f"{where}: friction of {self.robot_name} depends on load, and theta mixes the weight of links with "
                "offsets or springs; leave those out of include"
            )

    def in_units(self, robot: Robot, factors: Array) -> BaseParameters:
        """Base parameters in units, from those of a copy whose parameters are `factors` times the robot's."""
        # Row k in units of pivot k: theta' = f_pivot theta, parameters' = f parameters.
        grouping = self.grouping * factors / factors[list(self.pivots)][:, None]
        return replace(self, grouping=read_only(grouping), robot=robot)

    def _repr_markdown_(self) -> str:
        """A table of the relations, for notebooks."""
        # The text is ours, with one equals sign.
        rows = [relation.text().split(" = ", 1) for relation in self.relations]
        absent = f"\n\nWithout effect: {', '.join(self.no_effect)}." if self.no_effect else ""
        table = "\n".join(["| base parameter | made of |", "|---|---|", *(f"| `{a}` | `{b}` |" for a, b in rows)])
        return "\n\n".join([f"{self!r}", table, *self.findings]) + absent

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        counts = f"{len(self.no_effect)} without effect, {len(self.regrouped)} regrouped"
        of = f"{self.n} of {len(self.columns)} ({self.composition})"
        return f"BaseParameters({self.robot_name!r}, {of}: {counts}; gap {self.gap:.0e})"

    def __str__(self) -> str:
        """The summary, every relation, and the findings, a line each."""
        absent = [f"no effect: {', '.join(self.no_effect)}"] if self.no_effect else []
        lines = [repr(self), *(relation.text() for relation in self.relations), *absent, *self.findings]
        return "\n".join(map(visible, lines))


def composition(columns: Iterable[int], layout: Layout) -> str:
    """Number of these indices into robot.parameters in each group: "60 link, 6 rotor"."""
    groups = [layout.parameters[k].group for k in columns]
    return ", ".join(f"{groups.count(group)} {group}" for group in PARAMETER_GROUPS if group in groups)


def _base_parameter(parameter: Parameter, alone: bool) -> Parameter:
    return parameter if alone else parameter.as_sum()
