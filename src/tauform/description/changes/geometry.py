"""A robot whose joints are mounted elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array
from tauform.description.changes.relations import with_placements
from tauform.description.robot import Robot
from tauform.portable.correct import sin_cos
from tauform.portable.products import product

# Below this angle the series of sin(a) / a is one.
SMALL_ANGLE = 1e-9


def with_geometry(robot: Robot, changes: ArrayLike) -> Robot:
    """The robot with displaced joints; see `Robot.with_geometry`."""
    rows = fixed_array(changes, (6 * robot.n_bodies,), "changes").reshape(-1, 6)
    joints = []
    for joint, row in zip(robot.joints, rows, strict=True):
        displaced = np.eye(4)
        displaced[:3, :3], displaced[:3, 3] = _rotation(row[:3]), row[3:]
        # Joints that stay keep the bits of their placement.
        placement = product(joint.parent_from_joint, displaced) if row.any() else joint.parent_from_joint
        joints.append(replace(joint, parent_from_joint=placement))
    return with_placements(robot, joints)


def _rotation(r: Array) -> Array:
    """Rodrigues: exp of a rotation vector."""
    angle = float(np.sqrt((r * r).sum()))
    x, y, z = r if angle < SMALL_ANGLE else r / angle
    W = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < SMALL_ANGLE:
        return np.eye(3) + W
    s, c = sin_cos(angle)
    return np.eye(3) + s * W + (1 - c) * product(W, W)
