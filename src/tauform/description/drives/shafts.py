"""Rotors, and shafts that two joints turn together, as in many wrists.

Such a shaft turns with qd_i + s qd_j, of sense s = 1 or -1. What each joint's own motion does is in Ia and Fv already,
so that the columns hold what couples the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tauform.description.drives.drive import Drive, Own, scaled_width, set_constants, width_of
from tauform.description.drives.friction import VELOCITY, step
from tauform.errors import DescriptionError


@dataclass(frozen=True, kw_only=True)
class Rotor(Drive):
    """Ia qdd."""

    shape, kind, meaning = "rotor", "Ia", "inertia of the rotor, seen at the joint"
    units, powers, reads = ("kg m²", "kg"), (1, -2), frozenset({"qdd"})
    is_inertial: ClassVar[bool] = True
    is_nonnegative: ClassVar[bool] = True

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return own.qdd

    @staticmethod
    def energy(own: Own, its: Any) -> Any:
        """Energy of a unit coefficient."""
        # Kinetic energy Ia qd^2 / 2.
        return 0.5 * own.qd * own.qd


@dataclass(frozen=True, kw_only=True)
class Coupled(Drive):
    """Shapes of a shaft that two joints turn together.

    Attributes:
        sense: +1 if the shaft turns with the sum of the two velocities, -1 with their difference.
    """

    sense: int = 1

    n_joints: ClassVar[int | None] = 2

    def _check_constants(self) -> None:
        if self.sense not in (1, -1):
            raise DescriptionError(f"{self.where}: sense is 1 or -1, not {self.sense!r}")
        set_constants(self, sense=int(self.sense))


@dataclass(frozen=True, kw_only=True)
class CoupledInertia(Coupled):
    """tau_i = Iam s qdd_j, tau_j = Iam s qdd_i."""

    shape, kind, meaning = "coupled_inertia", "Iam", "rotor that two joints turn together"
    units, powers, reads = ("kg m²", "kg"), (1, -2), frozenset({"qdd"})
    is_inertial: ClassVar[bool] = True

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        i, j = own.qdd
        # From Iam (qd_i + s qd_j)^2 / 2 without the squares, which Ia holds: Iam s qd_i qd_j.
        return its.sense * j, its.sense * i

    @staticmethod
    def energy(own: Own, its: Any) -> Any:
        """Energy of a unit coefficient."""
        i, j = own.qd
        return its.sense * (i * j)


@dataclass(frozen=True, kw_only=True)
class CoupledViscous(Coupled):
    """tau_i = Fvm s qd_j, tau_j = Fvm s qd_i."""

    shape, kind, meaning = "coupled_viscous", "Fvm", "viscous friction of a shaft that two joints turn together"
    units, powers, reads = ("N m s/rad", "N s/m"), (1, -1), VELOCITY

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        i, j = own.qd
        # From Fvm (qd_i + s qd_j)^2 / 2 without the squares, which Fv holds.
        return its.sense * j, its.sense * i


@dataclass(frozen=True, kw_only=True)
class CoupledCoulomb(Coupled):
    """tau_i = Fcm sign(v), tau_j = Fcm s sign(v) with v = qd_i + s qd_j; smooth where a width is given.

    Attributes:
        width: velocity over which the sign changes [rad/s or m/s].
    """

    width: float = 0.0

    shape, kind, meaning = "coupled_coulomb", "Fcm", "Coulomb friction of a shaft that two joints turn together"
    reads = VELOCITY
    is_sharp: ClassVar[bool] = True

    def _check_constants(self) -> None:
        super()._check_constants()
        set_constants(self, width=width_of(self.width, f"{self.where}: width, the velocity of its sign change,", True))

    def in_units(self, length: float, time: float, coordinate: float) -> Drive:
        return replace(self, width=scaled_width(self.width * time / coordinate))

    @property
    def is_dry(self) -> bool:  # type: ignore[override]  # of each term, as its width says
        return self.width == 0.0

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        i, j = own.qd
        # Not linear in the two signs: the whole of the shaft's friction is here, on its own velocity.
        friction = step(i + its.sense * j, its.width)
        # Virtual work: tau_j = s tau_i, since v changes by s with qd_j.
        return friction, its.sense * friction
