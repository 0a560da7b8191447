"""Collision shapes: what a robot's links occupy, as a URDF or MJCF says it. Dynamics never look at them."""

from __future__ import annotations

from dataclasses import dataclass

from tauform.arrays import Array
from tauform.description.values import Value


@dataclass(frozen=True)
class Box:
    """Full lengths along x, y, z [m]."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """About z, centred [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """Centred [m]."""

    radius: float


@dataclass(frozen=True)
class Capsule:
    """About z, centred; the length is that between the centres of the two half balls [m]."""

    radius: float
    length: float


@dataclass(frozen=True, eq=False, repr=False)
class Hull(Value):
    """The convex hull of (k, 3) points [m]."""

    points: Array

    def __repr__(self) -> str:
        return f"Hull({len(self.points)} points)"


@dataclass(frozen=True)
class Mesh:
    """A file of triangles; `file` is a path where it was found, else what the description says."""

    file: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


Solid = Box | Cylinder | Sphere | Capsule | Hull | Mesh


@dataclass(frozen=True, eq=False, repr=False)
class Shape(Value):
    """A solid fixed to a frame.

    Attributes:
        frame: name of a frame or link of the robot.
        frame_from_shape: (4, 4) placement.
        solid: None where the description holds none that can be read.
    """

    frame: str
    frame_from_shape: Array
    solid: Solid | None

    def __repr__(self) -> str:
        return f"Shape({self.frame!r}, {self.solid})"
