"""Collision shapes of a MuJoCo model: its geoms that can touch anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.shapes import Box, Capsule, Cylinder, Hull, Shape, Solid, Sphere


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
