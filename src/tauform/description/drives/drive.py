"""Drive: one torque that a joint's drive adds, a shape times a coefficient; one column of the regressor.

A shape says, once, what its torque is for a coefficient of one, on any scalar; textbook functions, derivatives, closed
forms and programs all evaluate that line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from tauform.description.fields import number
from tauform.description.joint import LEAST_WIDTH
from tauform.errors import DescriptionError
from tauform.messages import no_such

if TYPE_CHECKING:
    from tauform.description.joint_types import JointType
    from tauform.description.tree import Tree

# What a shape may depend on; `carried` is the torque of links, rotors and gravity.
Quantity = Literal["q", "qd", "qdd", "temperature", "carried"]
# Powers of a coordinate and of time in the function that a coefficient multiplies: (1, -1) for a velocity.
Powers = tuple[int, int]
LABEL = re.compile(r"[\w.+-]*")


class Own(NamedTuple):
    """Motion of a shape's joints: arrays of any scalar, one per joint that it acts on; a single array for one joint.

    Attributes:
        q, qd, qdd: motion of its joints.
        temperature: of its joints [degrees Celsius].
        carried: torque of links, rotors and gravity on its joints.
        joints: which they are.
        tree: geometry of all links, for shapes that act between some.
    """

    q: Any
    qd: Any
    qdd: Any
    temperature: Any
    carried: Any
    joints: tuple[int, ...]
    tree: Tree


@dataclass(frozen=True, kw_only=True)
class Drive:
    """A drive term: coefficient * torque(motion of its joints).

    Attributes:
        joints: indices of the tree's joints, counted from 0; a single index may stand for itself.
        coefficient: what the column is multiplied with.
        label: tells terms of the same shape and joints apart, `Kp_2@left`.

    What a shape says about itself:
        shape: its name, also that of its group of parameters.
        kind: prefix of its parameter's name, `K` in `K_3`.
        meaning: for people.
        units: of its coefficient at joints that turn, and at joints that slide.
        powers: of the function that the coefficient multiplies.
        reads: quantities it depends on.
        n_joints: on which it acts; None where the geometry decides.
        is_dry: whether it is a law of sign(qd), which holds a joint at rest; its `size` is that of the torque.
        is_sharp: whether it jumps or bends where a velocity changes its sign; samples at rest then tell little.
        is_inertial: whether it is linear in qdd, part of the mass matrix.
        is_nonnegative: whether physics forbids a negative coefficient.
    """

    joints: tuple[int, ...] = ()
    coefficient: float = 0.0
    label: str = ""

    shape: ClassVar[str]
    kind: ClassVar[str]
    meaning: ClassVar[str]
    units: ClassVar[tuple[str, str]] = ("N m", "N")
    powers: ClassVar[Powers] = (0, 0)
    reads: ClassVar[frozenset[Quantity]] = frozenset()
    n_joints: ClassVar[int | None] = 1
    is_sharp: ClassVar[bool] = False
    is_dry: ClassVar[bool] = False
    is_inertial: ClassVar[bool] = False
    is_conservative: ClassVar[bool] = False
    is_nonnegative: ClassVar[bool] = False

    def __post_init__(self) -> None:
        joints = _indices(self.joints, self.where)
        # Frozen: only here, where the term is made, may its fields be brought into form.
        object.__setattr__(self, "joints", joints)
        object.__setattr__(self, "coefficient", number(self.coefficient, f"{self.where}: coefficient"))
        if not isinstance(self.label, str) or not LABEL.fullmatch(self.label):
            raise DescriptionError(f"{self.where}: label {self.label!r} is no word of letters, digits and . + - _")
        if self.n_joints is not None and len(joints) != self.n_joints:
            raise DescriptionError(f"{self.where}: expected {self.n_joints} joint(s), got {len(joints)}")
        # A shaft that couples a joint with itself would be its rotor, counted twice.
        if len(set(joints)) != len(joints):
            raise DescriptionError(f"{self.where}: its joints are the same; give two different ones")
        self._check_constants()

    @staticmethod
    def of(
        shape: str, joints: int | Sequence[int] = (), coefficient: float = 0.0, label: str = "", **constants: Any
    ) -> Drive:
        """A drive term by the name of its shape.

            tf.Drive.of("stribeck", joints=2, coefficient=0.4, width=0.05)

        Args:
            shape: viscous, coulomb, stribeck, stiffness, spring, coupled_inertia, ...; see the page on drive terms.
            joints: indices of the tree's joints, counted from 0: one, or the two that share a shaft.
            coefficient: what the shape's torque is multiplied with.
            label: tells terms of the same shape and joints apart.
            constants: of the shape, such as width, rest, sense, ends.

        Raises:
            UnknownNameError: no such shape.
            DescriptionError: a constant is missing, unknown or makes no sense.
        """
        # The registry imports this module; it is complete once anybody calls.
        from tauform.description.drives import SHAPES

        if shape not in SHAPES:
            raise no_such("drive term: shape", str(shape), list(SHAPES))
        known = SHAPES[shape].constant_names()
        for name in constants:
            if name not in known:
                takes = f"takes {', '.join(known)}" if known else "takes none"
                raise DescriptionError(f"drive {shape!r}: unknown constant {name!r}; it {takes}")
        # Here, not by the constructor: its TypeError would name neither shape nor constant.
        for own in fields(SHAPES[shape]):
            if own.name in known and own.default is MISSING and own.name not in constants:
                raise DescriptionError(f"drive {shape!r}: {own.name} is missing")
        return SHAPES[shape](joints=joints, coefficient=coefficient, label=label, **constants)  # type: ignore[arg-type]

    def _check_constants(self) -> None:
        """Raise DescriptionError where a constant makes no sense."""

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque for a coefficient of one: an array for one joint, a tuple with an array per joint for several.

        Args:
            own: motion of the joints it acts on.
            its: holds the shape's constants: a term, or (k, 1) arrays for k terms that are evaluated together.
        """
        raise NotImplementedError

    @staticmethod
    def energy(own: Own, its: Any) -> Any:
        """Stored energy for a coefficient of one, where the term is inertial or conservative."""
        raise NotImplementedError

    @property
    def where(self) -> str:
        """Name in messages."""
        return f"drive {self.shape!r}"

    @classmethod
    def constant_names(cls) -> tuple[str, ...]:
        """Names of the shape's own constants."""
        return tuple(own.name for own in fields(cls) if own.name not in ("joints", "coefficient", "label"))

    @property
    def constants(self) -> dict[str, Any]:
        """The shape's constants by name."""
        return {name: getattr(self, name) for name in self.constant_names()}

    @property
    def name(self) -> str:
        """Name of its parameter: `K_3`, or `Iam_5_6` of a shaft that joints share."""
        return f"{self.kind}_{'_'.join(str(j + 1) for j in self.joints)}{self.suffix}"

    @property
    def suffix(self) -> str:
        """Suffix of its parameter's name."""
        return f"@{self.label}" if self.label else ""

    def with_coefficient(self, value: float) -> Drive:
        """The same term with another coefficient."""
        return replace(self, coefficient=float(value))

    def moved(self, new_joint: Mapping[int, int]) -> Drive:
        """The same term of a robot whose joints have other indices."""
        return replace(self, joints=tuple(new_joint[j] for j in self.joints))

    def placed(self, parents: Sequence[int]) -> Drive:
        """The same term once the tree is known."""
        return self

    def in_units(self, length: float, time: float, coordinate: float) -> Drive:
        """The same term where lengths, times and its joints' coordinates have these units; its coefficient stays."""
        return self

    def unit(self, types: Sequence[JointType]) -> str:
        """SI unit of the coefficient, at joints of these types."""
        # N m of an angle, N of a length.
        return self.units[self._length_power(types)]

    def dimension(self, types: Sequence[JointType]) -> tuple[int, int]:
        """Powers of length and time in the coefficient, mass aside."""
        coordinate, time = self.powers
        # torque has length to the power 2, force 1: a coordinate q does work with tau
        power = self._length_power(types)
        return 2 - power - coordinate * power, -2 - time

    def _length_power(self, types: Sequence[JointType]) -> int:
        """Power of length in the coordinates it acts on."""
        return max((types[j].length_power for j in self.joints), default=0)


def _indices(joints: Any, where: str) -> tuple[int, ...]:
    # A text is a sequence too, of letters.
    given = tuple(joints) if isinstance(joints, Sequence | np.ndarray) and not isinstance(joints, str) else (joints,)
    if not all(isinstance(j, int | np.integer) and not isinstance(j, bool) for j in given):
        raise DescriptionError(f"{where}: joints are indices counted from 0, got {joints!r:.60}")
    return tuple(int(j) for j in given)


def positive(value: Any, where: str) -> float:
    """A number above zero."""
    found = number(value, where)
    if found <= 0:
        raise DescriptionError(f"{where} must be positive, got {found:g}")
    return found


def width_of(value: Any, where: str, may_be_sharp: bool) -> float:
    """A velocity over which friction changes: positive, or 0 where that is a sharp sign."""
    found = not_negative(value, where) if may_be_sharp else positive(value, where)
    if 0 < found < LEAST_WIDTH:
        raise DescriptionError(f"{where} cannot be below {LEAST_WIDTH:g}, got {found:g}; a sharp sign is Coulomb's 0")
    return found


def scaled_width(width: float) -> float:
    """A width that was brought to other units; no velocity is told from rest below the least one."""
    return max(LEAST_WIDTH, width) if width else 0.0


def not_negative(value: Any, where: str) -> float:
    """A number that is not below zero."""
    found = number(value, where)
    if found < 0:
        raise DescriptionError(f"{where} cannot be negative, got {found:g}")
    return found


def set_constants(drive: Drive, **values: Any) -> None:
    """Put checked constants into a frozen term."""
    for name, value in values.items():
        object.__setattr__(drive, name, value)
