"""Layout: which column of `robot.parameters` is which, so that nobody counts columns or reads names.

The order is fixed: the ten parameters of each link, then Ia, Fv, Fc, Fo of each joint, then further drive terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from tauform.arrays import AnyArray
from tauform.description.drives import OF_JOINTS
from tauform.description.drives.drive import Drive
from tauform.description.inertia import LINK_PARAMETERS
from tauform.description.joint import JOINT_PARAMETERS
from tauform.description.joint_types import JointType

# m, then the three first moments, then the six of the tensor.
LINK_UNITS = ("kg", *("kg m",) * 3, *("kg m²",) * 6)
# Powers of length in each of the ten link parameters.
LENGTH_POWERS = (0, *(1,) * 3, *(2,) * 6)


@dataclass(frozen=True)
class Parameter:
    """One standard parameter, or a base parameter that grows from it.

    Attributes:
        kind: `Izz`, `Ia`, `Fv`.
        joints: the link or joints it belongs to, counted from 0.
        group: what `include=` calls it; of a drive term its shape.
        unit: SI.
        dimension: powers of length and time, mass aside.
        suffix: what its name ends in, `@0.05`.
        is_inertial: whether it is part of the mass matrix, as links and rotors are.
        is_nonnegative: whether it cannot be negative by itself.
        is_sum: whether others are folded into it.
    """

    kind: str
    joints: tuple[int, ...]
    group: str
    unit: str
    dimension: tuple[int, int]
    suffix: str = ""
    is_inertial: bool = False
    is_nonnegative: bool = False
    is_sum: bool = False

    @classmethod
    def of_drive(cls, drive: Drive, types: Sequence[JointType]) -> Parameter:
        """The coefficient of a drive term."""
        return cls(
            kind=drive.kind,
            joints=drive.joints,
            group=drive.shape,
            unit=drive.unit(types),
            dimension=drive.dimension(types),
            suffix=drive.suffix,
            is_inertial=drive.is_inertial,
            is_nonnegative=drive.is_nonnegative,
        )

    @property
    def number(self) -> str:
        """Joints as people count them, `2`."""
        # People count from one.
        return "_".join(str(j + 1) for j in self.joints)

    @property
    def name(self) -> str:
        """`Izz_2`, or `IzzR_2` where others are folded into it."""
        return f"{self.kind}{'R' * self.is_sum}_{self.number}{self.suffix}"

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
    def of(types: Sequence[JointType], further: Sequence[Drive] = ()) -> Layout:
        """Layout of a tree with joints of these types, with drive terms beyond those that every joint has."""
        # Kept by types and terms: every copy of a robot asks for its layout.
        return _layout(tuple(types), tuple(further))

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
        # The one place that counts columns; every other question is answered from these slices.
        return slice(0, len(LINK_PARAMETERS) * self.n_bodies)

    @property
    def joints(self) -> slice:
        """Columns Ia, Fv, Fc, Fo of all joints."""
        return slice(self.links.stop, self.links.stop + len(JOINT_PARAMETERS) * self.n_bodies)

    @property
    def further(self) -> slice:
        """Columns of further drive terms."""
        return slice(self.joints.stop, self.n)

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
        # By group, never by place: layouts of robots with further terms differ.
        return tuple(k for k, parameter in enumerate(self.parameters) if parameter.group in groups)

    @cached_property
    def friction(self) -> tuple[int, ...]:
        """Columns of what is not part of the mass matrix: friction, offsets, springs."""
        return tuple(k for k, parameter in enumerate(self.parameters) if not parameter.is_inertial)

    @cached_property
    def signed(self) -> tuple[int, ...]:
        """Columns of drives that may be negative; physics forbids that of the others."""
        return tuple(k for k, own in enumerate(self.parameters) if not own.is_link and not own.is_nonnegative)

    def by_link(self, values: AnyArray) -> AnyArray:
        """(..., n_bodies, 10) the links' part of (..., n) values; a view where values are one block."""
        # A reshape of one block copies nothing, so that callers may write through it.
        own = values[..., self.links]
        return own.reshape(*own.shape[:-1], self.n_bodies, len(LINK_PARAMETERS))

    def by_joint(self, values: AnyArray) -> AnyArray:
        """(..., n_bodies, 4) Ia, Fv, Fc, Fo among (..., n) values; a view where values are one block."""
        own = values[..., self.joints]
        return own.reshape(*own.shape[:-1], self.n_bodies, len(JOINT_PARAMETERS))


@lru_cache(maxsize=256)
def _layout(types: tuple[JointType, ...], further: tuple[Drive, ...]) -> Layout:
    links = [
        Parameter(kind, (i,), "link", unit, (power, 0), is_inertial=True)
        for i in range(len(types))
        for kind, unit, power in zip(LINK_PARAMETERS, LINK_UNITS, LENGTH_POWERS, strict=True)
    ]
    # Terms without a coefficient: a layout depends on structure alone, so that many robots share one.
    own = [shape(joints=(j,)) for j in range(len(types)) for shape in OF_JOINTS]
    return Layout(len(types), (*links, *(Parameter.of_drive(drive, types) for drive in (*own, *further))))
