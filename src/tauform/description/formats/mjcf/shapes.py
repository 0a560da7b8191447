"""Shapes of a MuJoCo model: its geoms that can touch anything, and those that only show what it looks like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.shapes import Box, Capsule, Cylinder, Hull, Shape, Solid, Sphere, Triangles

# Red, green and blue of geoms without a colour.
UNSAID = (0.5, 0.5, 0.5)


def mjcf_shapes(mujoco: Any, model: Any, body_name: Callable[[Any, int], str]) -> tuple[Shape, ...]:
    """Boxes, cylinders, spheres, capsules and meshes; planes and height fields belong to the scene.

    Args:
        body_name: name of a body, as the robot's frames have it.
    """
    scene = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
    return tuple(
        Shape(body_name(model, int(model.geom_bodyid[k])), _placement(mujoco, model, k), _solid(mujoco, model, k))
        for k in range(model.ngeom)
        if (model.geom_contype[k] or model.geom_conaffinity[k]) and int(model.geom_type[k]) not in scene
    )


def mjcf_visuals(mujoco: Any, model: Any, body_name: Callable[[Any, int], str]) -> tuple[Shape, ...]:
    """Geoms that touch nothing, meshes with all their triangles; those of collisions where a body has no others."""
    scene = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_HFIELD))
    geoms = [k for k in range(model.ngeom) if int(model.geom_type[k]) not in scene]
    shown = [k for k in geoms if not (model.geom_contype[k] or model.geom_conaffinity[k])]
    # A body with pictures is drawn by these alone: its collision shapes are coarser and inside.
    dressed = {int(model.geom_bodyid[k]) for k in shown}
    shown += [k for k in geoms if int(model.geom_bodyid[k]) not in dressed]
    return tuple(
        Shape(
            body_name(model, int(model.geom_bodyid[k])),
            _placement(mujoco, model, k),
            _surface(model, k) if model.geom_type[k] == mujoco.mjtGeom.mjGEOM_MESH else _solid(mujoco, model, k),
            _rgb(model, k),
        )
        for k in shown
    )


def _surface(model: Any, k: int) -> Triangles:
    mesh = int(model.geom_dataid[k])
    vertex, face = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
    return Triangles(
        np.array(model.mesh_vert[vertex : vertex + int(model.mesh_vertnum[mesh])], dtype=np.float64),
        np.array(model.mesh_face[face : face + int(model.mesh_facenum[mesh])], dtype=np.int64),
    )


def _rgb(model: Any, k: int) -> tuple[float, float, float] | None:
    # A material overrides the geom's own colour, as MuJoCo draws it.
    material = int(model.geom_matid[k])
    red, green, blue, _ = (model.mat_rgba[material] if material >= 0 else model.geom_rgba[k]).tolist()
    # What MuJoCo fills in where the file says nothing; pages choose their own then.
    return (red, green, blue) if material >= 0 or (red, green, blue) != UNSAID else None


def _placement(mujoco: Any, model: Any, k: int) -> Array:
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[k])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation.reshape(3, 3), model.geom_pos[k]
    return T


def _solid(mujoco: Any, model: Any, k: int) -> Solid | None:
    # MuJoCo writes half lengths.
    x, y, z = model.geom_size[k].tolist()
    kinds = mujoco.mjtGeom
    kind = model.geom_type[k]
    if kind == kinds.mjGEOM_BOX:
        return Box((2 * x, 2 * y, 2 * z))
    if kind == kinds.mjGEOM_CYLINDER:
        return Cylinder(x, 2 * y)
    if kind == kinds.mjGEOM_CAPSULE:
        return Capsule(x, 2 * y)
    if kind == kinds.mjGEOM_SPHERE:
        return Sphere(x)
    if kind == kinds.mjGEOM_MESH:
        mesh = int(model.geom_dataid[k])
        first = int(model.mesh_vertadr[mesh])
        return Hull(np.array(model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])], dtype=np.float64))
    return None
