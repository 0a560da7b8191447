"""Parts of a robot: joints and links, one of each with a common frame, z along the joint axis; frames, loops."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from keyword import iskeyword

import numpy as np

from tauform.arrays import Array, fixed_array
from tauform.description.inertia import Inertia
from tauform.description.joint_types import REVOLUTE, JointType, joint_type
from tauform.description.transform import rigid
from tauform.description.values import Value, listed
from tauform.errors import DescriptionError

JOINT_PARAMETERS = ("Ia", "Fv", "Fc", "Fo")
# Least velocity that smooth friction changes over [rad/s or m/s]: one over it is a number in single precision too.
LEAST_WIDTH = 1e-30


@dataclass(frozen=True)
class Limits:
    """Bounds of a joint; infinite where the description is silent [rad or m, and per s; N m or N]."""

    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf


@dataclass(frozen=True, eq=False, repr=False)
class Length(Value):
    """A named constant of the geometry: it adds value * direction to a joint's translation.

    Base-parameter relations are written in these names (R3, D4), so they hold for other values too; a name is one that
    Python could evaluate in a formula.
    """

    name: str
    value: float
    direction: Array

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or iskeyword(self.name):
            raise DescriptionError(
                f"length {self.name!r}: relations are written in names of lengths; take letters, digits and _, a "
                "letter first, such as 'D3'"
            )

    def __repr__(self) -> str:
        return f"Length({self.name} = {self.value:g} m along {listed(self.direction)})"


@dataclass(frozen=True, eq=False, repr=False)
class Joint(Value):
    """A joint of one coordinate, about or along the z axis of its frame.

    Attributes:
        kind: name of its type, "revolute" or "prismatic".
        parent: index of the link it is mounted on, -1 for the fixed base.
        parent_from_joint: (4, 4) constant placement; the link's frame is this one moved by q.
        rotor_inertia: Ia, seen at the joint [kg m^2 or kg]; None where the description declares none.
        viscous, coulomb, offset: Fv, Fc, Fo of tau_friction = Fv qd + Fc sign(qd) + Fo.
        coulomb_width: velocity over which the sign changes, tanh(qd / coulomb_width); 0 is a sharp sign.
        lengths: the translation as a sum of named constants; empty means x, y, z components.
        constants: of its type by name, such as the pitch of a screw; revolute and prismatic joints have none.
    """

    name: str
    kind: str
    parent: int
    parent_from_joint: Array
    limits: Limits = field(default_factory=Limits)
    rotor_inertia: float | None = None
    viscous: float = 0.0
    coulomb: float = 0.0
    offset: float = 0.0
    lengths: tuple[Length, ...] = ()
    coulomb_width: float = 0.0
    constants: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        try:
            # Asked once for its error: it says what is wrong with the kind or its constants.
            joint_type(self.kind, self.constants)
        except DescriptionError as error:
            raise DescriptionError(f"joint {self.name!r}: {error}") from None
        T = rigid(self.parent_from_joint, f"joint {self.name!r}: parent_from_joint")
        object.__setattr__(self, "parent_from_joint", T)
        # Called for its refusal: texts and numbers that are not finite.
        fixed_array(self.parameters, (4,), f"joint {self.name!r}: rotor inertia and friction")
        width = fixed_array(self.coulomb_width, (), f"joint {self.name!r}: coulomb_width")
        # A ball joint has no single velocity that Fv or Ia could act on.
        if self.type.n_v > 1 and any(self.parameters):
            raise DescriptionError(
                f"joint {self.name!r}: rotors and friction act on joints of one coordinate, which a {self.kind} one is "
                "not; leave them out"
            )
        if width < 0 or 0 < width < LEAST_WIDTH:
            limit = "negative" if width < 0 else f"below {LEAST_WIDTH:g}, and 0 is sharp"
            raise DescriptionError(
                f"joint {self.name!r}: coulomb_width, the velocity over which its friction changes sign, cannot be "
                f"{limit}, got {width:g}"
            )

    @cached_property
    def type(self) -> JointType:
        """Type of the joint, by its kind: units, motion, transform."""
        return joint_type(self.kind, self.constants)

    @property
    def is_revolute(self) -> bool:
        """Whether it turns; the package itself asks the type."""
        return self.type == REVOLUTE

    @property
    def parameters(self) -> tuple[float, float, float, float]:
        """Ia, Fv, Fc, Fo."""
        # A rotor that is not declared counts as zero, but takes no part in identification.
        return (self.rotor_inertia or 0.0, self.viscous, self.coulomb, self.offset)

    def with_parameters(self, four: Array) -> Joint:
        """The same joint with other values of Ia, Fv, Fc, Fo; a rotor that was not declared stays so at zero."""
        rotor, viscous, coulomb, offset = map(float, four)
        # Whether a rotor was declared decides which parameters take part, not its value.
        declared = None if self.rotor_inertia is None and rotor == 0 else rotor
        return replace(self, rotor_inertia=declared, viscous=viscous, coulomb=coulomb, offset=offset)

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, {self.kind}, parent {self.parent}, at {listed(self.parent_from_joint[:3, 3])} m)"


@dataclass(frozen=True, eq=False)
class Link(Value):
    """The body that a joint moves; its inertia is in the joint's moving frame."""

    name: str
    inertia: Inertia


@dataclass(frozen=True, eq=False, repr=False)
class Frame(Value):
    """A named place on a link (a tool, a sensor, a fixed link of a URDF); link -1 is the base."""

    name: str
    link: int
    link_from_frame: Array

    def __post_init__(self) -> None:
        T = rigid(self.link_from_frame, f"frame {self.name!r}: link_from_frame")
        object.__setattr__(self, "link_from_frame", T)

    def __repr__(self) -> str:
        return f"Frame({self.name!r}, link {self.link}, at {listed(self.link_from_frame[:3, 3])} m)"


@dataclass(frozen=True, eq=False)
class HeldJoint(Value):
    """A joint that was locked, and that moving joints hang on: if it moves all the same, no torque is as described.

    Attributes:
        position: that it is held at, in its unit.
        unit: "rad" or "m".
        carries: names of the moving joints behind it.
    """

    name: str
    position: float
    unit: str
    carries: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Closure(Value):
    """Explicit loop constraints q_tree = F @ q + offset: mimic joints, parallelograms.

    Attributes:
        F: (n_bodies, n_joints).
        offset: (n_bodies,).
        active: names of the joints that q holds.
    """

    F: Array
    offset: Array
    active: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Closure({len(self.F)} joints, of which {', '.join(self.active)} are active)"


@dataclass(frozen=True, eq=False)
class Payload(Value):
    """A rigid body carried at a frame; its inertia is in that frame's axes."""

    frame: str
    inertia: Inertia
