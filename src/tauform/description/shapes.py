"""Shapes: what a robot's links occupy or look like, as a URDF or MJCF says it. Dynamics never look at them."""

from __future__ import annotations

from dataclasses import dataclass

from tauform.arrays import AnyArray, Array
from tauform.description.values import Value


@dataclass(frozen=True)
class Box:
    """A box, centred; full lengths along x, y, z [m]."""

    size: tuple[float, float, float]


@dataclass(frozen=True)
class Cylinder:
    """A cylinder about z, centred [m]."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """A ball, centred [m]."""

    radius: float


@dataclass(frozen=True)
class Capsule:
    """A capsule about z, centred; the length is that between the centres of the two half balls [m]."""

    radius: float
    length: float


@dataclass(frozen=True, eq=False, repr=False)
class Hull(Value):
    """The convex hull of (k, 3) points [m]."""

    points: Array

    def __repr__(self) -> str:
        return f"Hull({len(self.points)} points)"


@dataclass(frozen=True, eq=False, repr=False)
class Triangles(Value):
    """A surface: (k, 3) vertices [m], and (m, 3) indices of the corners of each triangle."""

    vertices: Array
    faces: AnyArray

    def __repr__(self) -> str:
        return f"Triangles({len(self.faces)} triangles)"


@dataclass(frozen=True)
class Mesh:
    """A file of triangles; `file` is a path where it was found, else what the description says."""

    file: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


# A union, no base class: each reader and writer lists those that it knows.
Solid = Box | Cylinder | Sphere | Capsule | Hull | Triangles | Mesh
Colour = tuple[float, float, float]


@dataclass(frozen=True, eq=False, repr=False)
class Shape(Value):
    """A solid fixed to a frame.

    Attributes:
        frame: name of a frame or link of the robot.
        frame_from_shape: (4, 4) placement.
        solid: None where the description holds none that can be read.
        colour: red, green, blue from 0 to 1, where the description says it.
    """

    frame: str
    frame_from_shape: Array
    solid: Solid | None
    colour: Colour | None = None

    def __repr__(self) -> str:
        return f"Shape({self.frame!r}, {self.solid})"
