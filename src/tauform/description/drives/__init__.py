"""Drive terms: friction, springs, rotors and coupled shafts, one small class per shape."""

from tauform.description.drives.drive import Drive
from tauform.description.drives.friction import (
    Asymmetric,
    Coulomb,
    Load,
    Offset,
    Quadratic,
    Smooth,
    Stribeck,
    Thermal,
    Viscous,
)
from tauform.description.drives.shafts import CoupledCoulomb, CoupledInertia, CoupledViscous, Rotor
from tauform.description.drives.springs import Cosine, End, PointForce, PointSpring, Sine, Stiffness

_ALL: tuple[type[Drive], ...] = (
    *(Rotor, Viscous, Coulomb, Offset),
    *(Smooth, Stribeck, Asymmetric, Quadratic, Load, Thermal),
    *(Stiffness, Sine, Cosine, PointSpring, PointForce),
    *(CoupledInertia, CoupledViscous, CoupledCoulomb),
)
SHAPES: dict[str, type[Drive]] = {drive.shape: drive for drive in _ALL}
# What every joint has one of, spelled as its own fields.
OF_JOINTS = (Rotor, Viscous, Coulomb, Offset)

__all__ = [
    "OF_JOINTS",
    "SHAPES",
    "Asymmetric",
    "Cosine",
    "Coulomb",
    "CoupledCoulomb",
    "CoupledInertia",
    "CoupledViscous",
    "Drive",
    "End",
    "Load",
    "Offset",
    "PointForce",
    "PointSpring",
    "Quadratic",
    "Rotor",
    "Sine",
    "Smooth",
    "Stiffness",
    "Stribeck",
    "Thermal",
    "Viscous",
]
