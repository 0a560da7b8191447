"""Collision shapes of a robot as solids that coal measures distances between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.description.shapes import Box, Capsule, Cylinder, Hull, Mesh, Shape, Sphere
from tauform.errors import IdentificationError, MissingExtraError
from tauform.wording import argument

# Of the slab that stands for a floor [m]: so deep that no arm fits below it, where it would count as free.
FLOOR_SIZE, FLOOR_DEPTH = 20.0, 20.0
FLOOR = "the floor"
# Corners further away than this [m] are those of a damaged file.
LARGEST_PART = 1e6


@dataclass(frozen=True, eq=False)
class Solid:
    """One shape on a body.

    Attributes:
        name: of the frame that carries it.
        body: index of the link, -1 for the base.
        body_from_solid: (4, 4) placement.
        geometry: for coal.
        centre, radius: of a ball around it, in the solid's own frame.
    """

    name: str
    body: int
    body_from_solid: Array
    geometry: Any
    centre: Array
    radius: float


def coal_module() -> Any:
    """The package coal.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import coal
    except ImportError:
        raise MissingExtraError(
            "keeping links apart needs coal", remedy=f"pip install tauform[collision], or {_unguarded()}"
        ) from None
    return coal


def _unguarded() -> str:
    return f"plan with {argument('collisions', False)}"


def solids_of(robot: Robot, floor: float | None = None) -> list[Solid]:
    """All shapes of the robot, and a slab below the floor.

    Raises:
        IdentificationError: a shape cannot be read.
    """
    found = [_solid(shape, robot) for shape in robot.shapes]
    if floor is not None:
        at = np.eye(4)
        # Its upper face is the floor.
        at[2, 3] = floor - FLOOR_DEPTH / 2
        found.append(_bounded(FLOOR, -1, at, coal_module().Box(FLOOR_SIZE, FLOOR_SIZE, FLOOR_DEPTH)))
    return found


def _solid(shape: Shape, robot: Robot) -> Solid:
    frame = robot.frame(shape.frame)
    # Shape -> frame -> link: neighbours cancel.
    at = frame.link_from_frame @ shape.frame_from_shape
    return _bounded(shape.frame, frame.link, at, _geometry(shape))


def _bounded(name: str, body: int, at: Array, geometry: Any) -> Solid:
    # A ball around the box of the shape: cheap bounds before exact distances.
    geometry.computeLocalAABB()
    return Solid(name, body, at, geometry, np.array(geometry.aabb_center), float(geometry.aabb_radius))


def _geometry(shape: Shape) -> Any:
    coal, solid = coal_module(), shape.solid
    if isinstance(solid, Box):
        return coal.Box(*solid.size)
    if isinstance(solid, Cylinder):
        return coal.Cylinder(solid.radius, solid.length)
    if isinstance(solid, Sphere):
        return coal.Sphere(solid.radius)
    if isinstance(solid, Capsule):
        return coal.Capsule(solid.radius, solid.length)
    if isinstance(solid, Hull):
        try:
            return _hull(solid.points)
        except ValueError as error:
            raise IdentificationError(
                f"link {shape.frame!r}: its collision mesh cannot be used ({error})",
                remedy=f"correct it, or {_unguarded()}",
            ) from None
    if isinstance(solid, Mesh):
        return _hull_of_mesh(solid, shape.frame)
    raise IdentificationError(
        f"link {shape.frame!r}: its collision shape cannot be read", remedy=f"correct it, or {_unguarded()}"
    )


def _hull_of_mesh(mesh: Mesh, link: str) -> Any:
    try:
        import trimesh

        loaded: Any = trimesh.load(mesh.file, force="mesh", process=False)
        # A mesh's scale, as descriptions give it, before the hull.
        return _hull(np.asarray(loaded.vertices, dtype=np.float64) * np.array(mesh.scale))
    except Exception as error:  # readers of meshes raise many kinds
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise IdentificationError(
            f"link {link!r}: its collision mesh {mesh.file} cannot be read ({reason})",
            remedy=f"put it there, or {_unguarded()}",
        ) from None


def _hull(points: Array) -> Any:
    """The convex hull: what is inside a mesh is never free, and hulls are quick and have distances."""
    # Distances to a corner that is no number are no distances: every posture would seem free.
    if points.ndim != 2 or points.shape[1] != 3 or not (np.abs(points) < LARGEST_PART).all():
        raise ValueError("corners are no points")
    # Coal's own search ends the process where points span no volume; SciPy's says so.
    try:
        corners = points[ConvexHull(points).vertices]
    except (QhullError, ValueError):
        raise ValueError("it has no volume") from None
    model = coal_module().BVHModelOBBRSS()
    model.beginModel(len(corners), 0)
    model.addVertices(corners)
    model.endModel()
    # "Qt": facets as triangles.
    model.buildConvexHull(True, "Qt")
    return model.convex
