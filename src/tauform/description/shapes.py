"""Collision shapes: what a robot's links occupy, as a URDF or MJCF says it. Dynamics never look at them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array, read_only
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


def urdf_shapes(urdf: Any, folder: Path) -> tuple[Shape, ...]:
    """The collision elements of a parsed URDF.

    Args:
        folder: of the file, where meshes are looked for.
    """
    return tuple(
        Shape(link.name, read_only(np.eye(4) if origin is None else origin), _solid(element.geometry, folder))
        for link in urdf.links
        for element in link.collisions
        for origin in [element.origin]
    )


def _solid(geometry: Any, folder: Path) -> Solid | None:
    try:
        if geometry.box is not None:
            return Box(_positive(geometry.box.size, 3))
        if geometry.cylinder is not None:
            return Cylinder(*_positive([geometry.cylinder.radius, geometry.cylinder.length], 2))
        if geometry.sphere is not None:
            return Sphere(*_positive([geometry.sphere.radius], 1))
        if geometry.mesh is not None:
            scale = geometry.mesh.scale
            three = np.ones(3) if scale is None else np.broadcast_to(np.asarray(scale, dtype=float), (3,))
            return Mesh(_found(geometry.mesh.filename, folder), tuple(three.tolist()))
    except (AttributeError, TypeError, ValueError):
        return None
    return None


def _positive(values: Any, count: int) -> tuple[Any, ...]:
    numbers = np.asarray(values, dtype=float)
    if numbers.shape != (count,) or not (np.isfinite(numbers) & (numbers > 0)).all():
        raise ValueError("a size is missing")
    return tuple(numbers.tolist())


def _found(name: str, folder: Path) -> str:
    """The file that a mesh's name means: package://robot/meshes/a.stl lies in a folder `robot` somewhere above."""
    if "://" not in name:
        return str(folder / name)
    scheme, rest = name.split("://", 1)
    if scheme == "file":
        return rest
    return next((str(path) for path in _candidates(rest, folder) if path.is_file()), name)


def _candidates(rest: str, folder: Path) -> Iterator[Path]:
    for parent in (folder, *folder.resolve().parents):
        yield parent / rest
        yield parent / Path(*Path(rest).parts[1:])
