"""Gravity torque and bias torque: the parts of the dynamics without acceleration."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.sweeps.base_frame import base_placements, composites, joint_axes
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.spatial import cross, rotate
from tauform.rigidbody.sweeps.wrenches import BodyWrenches, Wrenches


def gravity_torque(robot: Robot, q: ArrayLike) -> Array:
    """Torque g(q) that holds the robot still against gravity, friction and offset excluded.

    Args:
        q: (..., n) joint positions [rad or m].

    Returns:
        (..., n) torques or forces [N m or N].

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
    """
    return evaluate(robot, lambda q: gravity(robot.tree, q), project=1, q=q)


def bias_torque(robot: Robot, q: ArrayLike, qd: ArrayLike, wrenches: Wrenches | None = None) -> Array:
    """Torque C(q, qd) qd + g(q) - J^T w at zero acceleration, friction excluded.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        wrenches: (..., 6) by frame: force then moment that the surroundings exert on the robot, in the axes and about
            the origin of a frame or link of that name.

    Returns:
        (..., n) torques or forces [N m or N].

    Raises:
        ShapeError: a last dimension differs from robot.n_joints (6 of wrenches), or a value is not finite.
        UnknownNameError: no such frame.
    """

    def core(q: AnyArray, qd: AnyArray, qdd: AnyArray, wrenches: BodyWrenches | None = None) -> AnyArray:
        return newton_euler(robot.tree, q, qd, qdd, wrenches)

    # Without acceleration of q, general loops still accelerate the tree's joints, by Gdot qd.
    still = np.zeros(robot.n_joints)
    return evaluate(robot, core, project=1, wrenches=wrenches, q=q, qd=qd, qdd=still)


def gravity(tree: Tree, q: AnyArray) -> AnyArray:
    """(n, N) gravity torques: tau_i = -S_i . (H x g, m g) of all that joint i carries; arrays of any scalar."""
    placements = base_placements(tree, transforms_of(tree, q))
    # mass and first moment about the base's origin, which just add
    bodies = [
        np.concatenate([np.broadcast_to(ten[:1], X.p[:1].shape), rotate(X.R, ten[1:4]) + ten[0] * X.p])
        for X, ten in zip(placements, tree.inertias, strict=True)
    ]
    axes = joint_axes(tree, placements)
    torques = []
    for i, carried in enumerate(composites(tree, bodies)):
        # Moment H x g and force m g of everything beyond the joint, about the base's origin.
        weight = np.concatenate([cross(carried[1:], tree.gravity), carried[0] * tree.gravity])
        torques.append(-(axes[:, i] * weight).sum(axis=0))
    return np.stack(torques)
