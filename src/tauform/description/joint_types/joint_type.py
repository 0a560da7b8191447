"""JointType: what a type of joint says about itself; everything else in the package asks here.

A joint moves its link about and along the z axis of its frame. Its motion subspace S, the twist of the link for a unit
velocity, is constant in the link's frame. Arrays carry their components first and a batch dimension last, of any
scalar: floats, complex numbers, counting and symbolic scalars. Twists and wrenches are (6, ...), angular part first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from tauform.arrays import AnyArray, Array
from tauform.description.joint_types.functions import CoordinateFunctions
from tauform.errors import DescriptionError, ModelError

# The ten inertial parameters, in groups that change together by the same amount.
Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class JointType(ABC):
    """A type of joint.

    What it says about itself:
        name: as `Joint.kind` and robot files in TOML have it.
        letter: in a robot's summary, `RRP`.
        n_q, n_v: number of coordinates and of velocities.
        unit, effort, effort_unit: of a coordinate; what the drive exerts, and its unit.
        length_power: power of length in a coordinate.
        is_angle: whether a coordinate repeats with a turn and may be written in degrees.
        display_factor: from a coordinate to what people read, degrees or metres.
        usual_range: reach either way where a description gives no limits.
        generic_range: reach either way that shows everything the joint can do to a torque.
        screw: turn about z (0 or 1) and shift along z per unit of the coordinate.
        component: of a twist, the only one that the joint drives, by one per unit of the coordinate; None of a screw.
        free_groups: changes of its link's parameters that the joint itself does not feel.
        rotor_like: parameter of its link that acts on the joint as a rotor does; None where there is none.
        has_functions: whether dynamics have a closed form in `functions` of the coordinate.
        dh_column: of a Denavit-Hartenberg row that the coordinate is added to.
        spelling: words for it in formats and tools; of several the last is the one without limits.
    """

    name: ClassVar[str]
    letter: ClassVar[str]
    n_q: ClassVar[int] = 1
    n_v: ClassVar[int] = 1
    unit: ClassVar[str]
    effort: ClassVar[str]
    effort_unit: ClassVar[str]
    length_power: ClassVar[int]
    is_angle: ClassVar[bool]
    display_factor: ClassVar[float]
    usual_range: ClassVar[float]
    generic_range: ClassVar[float]
    component: ClassVar[int | None]
    free_groups: ClassVar[Groups]
    rotor_like: ClassVar[str | None]
    has_functions: ClassVar[bool] = True
    dh_column: ClassVar[str]
    spelling: ClassVar[dict[str, tuple[str, ...]]]

    @property
    def screw(self) -> tuple[float, float]:
        """Turn about z (0 or 1) and shift along z, per unit of the coordinate."""
        raise self._has_several()

    @property
    def constants(self) -> tuple[tuple[str, float], ...]:
        """Numbers that tell two joints of the type apart, such as the pitch of a screw: the fields of its class."""
        return tuple((part.name, getattr(self, part.name)) for part in fields(self))

    @property
    def functions(self) -> CoordinateFunctions:
        """Functions of the coordinate that dynamics in closed form are made of; of a screw five are too few.

        Raises:
            ModelError: the type has none.
        """
        raise ModelError(
            f"joints of type {self.name} have no closed form",
            remedy="generate programs of the robot itself, or lock those joints",
        )

    @abstractmethod
    def placed(self, R: AnyArray, p: AnyArray, q: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Rotation (3, 3, N) and origin (3, N) of the link in its parent, from those of the joint and q (N,)."""

    # Of types with one coordinate; a type of several leaves these alone, and is taken by inverse dynamics only.

    def motion(self, position: float) -> Array:
        """(4, 4) joint_from_link at a position."""
        raise self._has_several()

    def axis_in(self, R: AnyArray, p: AnyArray) -> AnyArray:
        """(6, N) S in a frame where the link has this rotation and origin."""
        raise self._has_several()

    def axis_rate(self, twist: AnyArray) -> AnyArray:
        """v x S, how S changes in a frame that moves with a twist: the products with 0 and 1 left out."""
        raise self._has_several()

    def axis_cross_force(self, wrench: AnyArray) -> AnyArray:
        """S x* f, how a wrench that moves with the joint changes: the products with 0 and 1 left out."""
        raise self._has_several()

    def _has_several(self) -> ModelError:
        return ModelError(f"joints of type {self.name} have {self.n_v} velocities; only inverse_dynamics takes them")

    def words(self, language: str) -> tuple[str, ...]:
        """Words for it in a format or a tool.

        Raises:
            DescriptionError: there is none.
        """
        if language not in self.spelling:
            raise DescriptionError(f"joints of type {self.name} have no word in {language}; TOML has one for each type")
        return self.spelling[language]

    def coordinate_unit(self, length: float) -> float:
        """Size of a coordinate's unit where lengths are measured in this one."""
        return length if self.length_power else 1.0

    def moved(self, twist: AnyArray, rate: Any) -> AnyArray:
        """v + S rate, in place."""
        if self.component is not None:
            twist[self.component] = twist[self.component] + rate
            return twist
        # S = (0, 0, about, 0, 0, along): a screw drives two components of a twist.
        about, along = self.screw
        twist[2], twist[5] = twist[2] + about * rate, twist[5] + along * rate
        return twist

    def drift(self, twist: AnyArray, rate: Any) -> AnyArray:
        """v x S qd, the acceleration that velocities alone give."""
        return self.axis_rate(twist) * rate

    def felt(self, wrench: AnyArray) -> Any:
        """S^T f, what the joint's drive feels of a wrench on its link."""
        if self.component is not None:
            return wrench[self.component]
        about, along = self.screw
        return about * wrench[2] + along * wrench[5]
