"""Layout: which column of `robot.parameters` is which, so that nobody counts columns or reads names.

The order is fixed: the ten parameters of each link, then Ia, Fv, Fc, Fo of each joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from tauform.arrays import AnyArray
from tauform.description.inertia import LINK_PARAMETERS
from tauform.description.joint import JOINT_PARAMETERS
from tauform.description.parameter_groups import JOINT_GROUPS, ParameterGroup

# Unit of each kind at a joint that turns, and at one that slides.
LINK_UNITS = ("kg", *("kg m",) * 3, *("kg m²",) * 6)
JOINT_UNITS = {"Ia": ("kg m²", "kg"), "Fv": ("N m s/rad", "N s/m"), "Fc": ("N m", "N"), "Fo": ("N m", "N")}


@dataclass(frozen=True)
class Parameter:
    """One standard parameter, or a base parameter that grows from it.

    Attributes:
        kind: `Izz`, `Ia`, `Fv`.
        joints: the link or joints it belongs to, counted from 0.
        group: what `include=` calls it.
        unit: SI.
        is_sum: whether others are folded into it.
    """

    kind: str
    joints: tuple[int, ...]
    group: ParameterGroup
    unit: str
    is_sum: bool = False

    @property
    def number(self) -> str:
        """Its joints as people count them, `2`."""
        return "_".join(str(j + 1) for j in self.joints)

    @property
    def name(self) -> str:
        """`Izz_2`, or `IzzR_2` where others are folded into it."""
        return f"{self.kind}{'R' * self.is_sum}_{self.number}"

    @property
    def is_link(self) -> bool:
        """Whether it is one of the ten of a link."""
        return self.group == "link"

    def as_sum(self) -> Parameter:
        """The base parameter that others are folded into."""
        return replace(self, is_sum=True)


@dataclass(frozen=True)
class Layout:
    """The columns of a robot's parameters.

    Attributes:
        n_bodies: links, and joints of the tree.
        parameters: what stands in each column.
    """

    n_bodies: int
    parameters: tuple[Parameter, ...]

    @staticmethod
    def of(revolute: Sequence[bool]) -> Layout:
        """Of a tree whose joints turn or slide."""
        return _layout(tuple(bool(turns) for turns in revolute))

    @property
    def n(self) -> int:
        """Number of columns."""
        return len(self.parameters)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """`mx_2` belongs to the second link, `Ia_3` to the third joint."""
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def links(self) -> slice:
        """Columns of all links."""
        return slice(0, len(LINK_PARAMETERS) * self.n_bodies)

    @property
    def joints(self) -> slice:
        """Columns Ia, Fv, Fc, Fo of all joints."""
        return slice(self.links.stop, self.links.stop + len(JOINT_PARAMETERS) * self.n_bodies)

    @property
    def drives(self) -> slice:
        """Columns of all that is not a link's."""
        return slice(self.links.stop, self.n)

    def link(self, i: int) -> slice:
        """The ten columns of a link."""
        return slice(len(LINK_PARAMETERS) * i, len(LINK_PARAMETERS) * (i + 1))

    def of_link(self, kind: str, i: int) -> int:
        """Column of one of a link's ten, `Izz`."""
        return self.link(i).start + LINK_PARAMETERS.index(kind)

    def joint(self, j: int) -> slice:
        """The columns Ia, Fv, Fc, Fo of a joint."""
        first = self.joints.start + len(JOINT_PARAMETERS) * j
        return slice(first, first + len(JOINT_PARAMETERS))

    def of_joint(self, kind: str, j: int) -> int:
        """Column of one of a joint's four, `Fv`."""
        return self.joint(j).start + JOINT_PARAMETERS.index(kind)

    def rotor(self, j: int) -> int:
        """Column of Ia."""
        return self.of_joint("Ia", j)

    def viscous(self, j: int) -> int:
        """Column of Fv."""
        return self.of_joint("Fv", j)

    def coulomb(self, j: int) -> int:
        """Column of Fc."""
        return self.of_joint("Fc", j)

    def offset(self, j: int) -> int:
        """Column of Fo."""
        return self.of_joint("Fo", j)

    def parameter(self, name: str) -> Parameter:
        """The parameter of this name."""
        return self.parameters[self.names.index(name)]

    def is_link(self, column: int) -> bool:
        """Whether a column belongs to a link."""
        return column < self.links.stop

    def columns_of(self, *groups: str) -> tuple[int, ...]:
        """Columns of groups, in order."""
        return tuple(k for k, parameter in enumerate(self.parameters) if parameter.group in groups)

    @cached_property
    def friction(self) -> tuple[int, ...]:
        """Columns of what is neither a link's nor a rotor's."""
        return tuple(k for k, parameter in enumerate(self.parameters) if parameter.group not in ("link", "rotor"))

    @cached_property
    def signed(self) -> tuple[int, ...]:
        """Columns of drives that may be negative; physics forbids that of the others."""
        return self.columns_of("offset")

    def by_link(self, values: AnyArray) -> AnyArray:
        """(..., n_bodies, 10) the links' part of (..., n) values; a view where values are one block."""
        own = values[..., self.links]
        return own.reshape(*own.shape[:-1], self.n_bodies, len(LINK_PARAMETERS))

    def by_joint(self, values: AnyArray) -> AnyArray:
        """(..., n_bodies, 4) Ia, Fv, Fc, Fo among (..., n) values; a view where values are one block."""
        own = values[..., self.joints]
        return own.reshape(*own.shape[:-1], self.n_bodies, len(JOINT_PARAMETERS))


@lru_cache(maxsize=256)
def _layout(revolute: tuple[bool, ...]) -> Layout:
    links = [
        Parameter(kind, (i,), "link", unit)
        for i in range(len(revolute))
        for kind, unit in zip(LINK_PARAMETERS, LINK_UNITS, strict=True)
    ]
    joints = [
        Parameter(kind, (j,), group, JOINT_UNITS[kind][0 if turns else 1])
        for j, turns in enumerate(revolute)
        for kind, group in zip(JOINT_PARAMETERS, JOINT_GROUPS, strict=True)
    ]
    return Layout(len(revolute), (*links, *joints))
