"""Friction: torques that depend on a joint's velocity, its load and its temperature. Widths are velocities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tauform.description.drives.drive import Drive, Own, Quantity, scaled_width, set_constants, width_of
from tauform.description.drives.scalars import absolute, exp, sign, tanh
from tauform.description.fields import number
from tauform.errors import DescriptionError

# Lowest temperature there is [degrees Celsius].
ABSOLUTE_ZERO = -273.15
# Temperature at which friction is what Fv says [degrees Celsius].
REFERENCE_TEMPERATURE = 20.0
# Lowest and highest that joints are assumed to have where nothing else is said.
OPERATING_TEMPERATURES = (-10.0, 80.0)
VELOCITY: frozenset[Quantity] = frozenset({"qd"})


def step(v: Any, width: Any) -> Any:
    """sign(v), smoothed over a width: tanh(v / width); a width of 0 is sharp."""
    return tanh(v / width) if _is_smooth(width) else sign(v)


def plain_functions(qd: Any) -> tuple[Any, Any, Any]:
    """Functions that Fv, Fc and Fo multiply, qd, sign(qd) and 1, on any scalar; closed forms have them beside E."""
    return qd, sign(qd), 1.0


def _is_smooth(width: Any) -> bool:
    # Terms of the same shape are evaluated together; sharp and smooth ones never are.
    # Arrays hold the widths of a whole group, (k, 1).
    return bool((width > 0) if isinstance(width, float) else (width > 0).all())


@dataclass(frozen=True, kw_only=True)
class Viscous(Drive):
    """Fv qd."""

    shape, kind, meaning = "viscous", "Fv", "viscous friction"
    units, powers, reads = ("N m s/rad", "N s/m"), (1, -1), VELOCITY
    is_nonnegative: ClassVar[bool] = True

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return own.qd


@dataclass(frozen=True, kw_only=True)
class WithWidth(Drive):
    """Shapes with a velocity over which they change.

    Attributes:
        width: that velocity [rad/s or m/s].
    """

    width: float

    reads = VELOCITY
    is_sharp: ClassVar[bool] = True

    def _check_constants(self) -> None:
        set_constants(
            self, width=width_of(self.width, f"{self.where}: width, the velocity over which it changes,", False)
        )

    @property
    def suffix(self) -> str:
        return f"@{self.label or format(self.width, '.3g')}"

    def in_units(self, length: float, time: float, coordinate: float) -> Drive:
        # Widths are velocities: they scale with time and with the unit of the coordinate.
        return replace(
            self, width=scaled_width(self.width * time / coordinate), label=self.suffix[1:]
        )  # the name stays


@dataclass(frozen=True, kw_only=True)
class Coulomb(WithWidth):
    """Fc sign(qd), or Fc tanh(qd / width) where a width is given."""

    width: float = 0.0

    shape, kind, meaning = "coulomb", "Fc", "Coulomb friction"
    is_nonnegative: ClassVar[bool] = True

    def _check_constants(self) -> None:
        set_constants(self, width=width_of(self.width, f"{self.where}: width, the velocity of its sign change,", True))

    @property
    def suffix(self) -> str:
        return ""  # a joint has one

    @property
    def is_dry(self) -> bool:  # type: ignore[override]  # of each term, as its width says
        # Only a sharp sign can hold a joint at rest.
        return self.width == 0.0

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return step(own.qd, its.width)

    @staticmethod
    def size(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient against the motion; at rest, anything up to it either way."""
        # Of the batch's shape and scalar type.
        # A plain 1.0 would lose the batch, and the graph of symbolic scalars.
        return 0 * own.qd + 1


@dataclass(frozen=True, kw_only=True)
class Offset(Drive):
    """Fo."""

    shape, kind, meaning = "offset", "Fo", "constant torque"

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return 0 * own.qd + 1


@dataclass(frozen=True, kw_only=True)
class Smooth(WithWidth):
    """Fs tanh(qd / width)."""

    shape, kind, meaning = "smooth", "Fs", "friction that builds up over a velocity"

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return step(own.qd, its.width)


@dataclass(frozen=True, kw_only=True)
class Stribeck(WithWidth):
    """Fb sign(qd) exp(-|qd| / width)."""

    shape, kind, meaning = "stribeck", "Fb", "break-away friction that fades with velocity (Stribeck)"
    is_dry: ClassVar[bool] = True

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        # sign(0) = 0: at rest the term is zero here, and simulation holds the joint by `size`.
        return sign(own.qd) * Stribeck.size(own, its)

    @staticmethod
    def size(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient against the motion; at rest, anything up to it either way."""
        return exp(-absolute(own.qd) / its.width)


@dataclass(frozen=True, kw_only=True)
class Asymmetric(Drive):
    """Fa |qd|."""

    shape, kind, meaning = "asymmetric", "Fa", "viscous friction that differs by direction"
    units, powers, reads = ("N m s/rad", "N s/m"), (1, -1), VELOCITY
    is_sharp: ClassVar[bool] = True

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return absolute(own.qd)


@dataclass(frozen=True, kw_only=True)
class Quadratic(Drive):
    """Fq qd |qd|."""

    shape, kind, meaning = "quadratic", "Fq", "friction that bends with speed"
    units, powers, reads = ("N m s²/rad²", "N s²/m²"), (2, -2), VELOCITY
    is_sharp: ClassVar[bool] = True

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return own.qd * absolute(own.qd)


@dataclass(frozen=True, kw_only=True)
class Load(Drive):
    """Fl |torque of links, rotors and gravity on the joint| sign(qd); not linear in the parameters of links."""

    shape, kind, meaning = "load", "Fl", "Coulomb friction that grows with the torque a joint carries"
    units, reads = ("1", "1"), frozenset({"qd", "carried"})
    is_sharp: ClassVar[bool] = True
    is_dry: ClassVar[bool] = True
    is_nonnegative: ClassVar[bool] = True

    def dimension(self, types: Any) -> tuple[int, int]:
        # A pure number whatever the joint: torque over torque.
        return 0, 0

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        # Sharp at rest as Coulomb friction is: simulation holds the joint by `size`.
        return Load.size(own, its) * sign(own.qd)

    @staticmethod
    def size(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient against the motion; at rest, anything up to it either way."""
        return absolute(own.carried)


@dataclass(frozen=True, kw_only=True)
class Thermal(Drive):
    """Ft (temperature - reference) qd.

    Attributes:
        reference: temperature at which friction is what Fv says [degrees Celsius].
    """

    reference: float = REFERENCE_TEMPERATURE

    shape, kind, meaning = "thermal", "Ft", "viscous friction that changes with temperature"
    units, powers = ("N m s/(rad K)", "N s/(m K)"), (1, -1)
    reads = frozenset({"qd", "temperature"})

    def _check_constants(self) -> None:
        reference = number(self.reference, f"{self.where}: reference")
        if reference < ABSOLUTE_ZERO:
            raise DescriptionError(
                f"{self.where}: reference {reference:g} lies below absolute zero ({ABSOLUTE_ZERO} degrees Celsius)"
            )
        set_constants(self, reference=reference)

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return (own.temperature - its.reference) * own.qd
