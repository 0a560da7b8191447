"""Inverse dynamics by the recursive Newton-Euler algorithm (Luh, Walker, Paul 1980)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.door import evaluate
from tauform.rigidbody.friction import joint_friction
from tauform.rigidbody.spatial import (
    Transform,
    axis_index,
    cross_axis,
    cross_force,
    inertia_times,
    joint_transform,
    twist_to_child,
    wrench_to_parent,
)


def inverse_dynamics(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
    """Joint torques tau = M qdd + C qd + g + friction.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.

    Returns:
        (..., n) torques or forces [N m or N], rotor inertia and friction included.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    tree = robot.tree

    def core(q: AnyArray, qd: AnyArray, qdd: AnyArray) -> AnyArray:
        return newton_euler(tree, q, qd, qdd) + joint_friction(tree, qd)

    return evaluate(robot, core, project=1, q=q, qd=qd, qdd=qdd)


def newton_euler(tree: Tree, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> AnyArray:
    """Torques of the rigid bodies and rotors, without friction; (n, N) arrays of any scalar."""
    transforms: list[Transform] = []
    twists: list[AnyArray] = []
    accelerations: list[AnyArray] = []
    # Gravity is an upward acceleration of the base.
    base_acceleration = np.concatenate([0 * tree.gravity, -tree.gravity])
    for i, parent in enumerate(tree.parents):
        X = joint_transform(tree, i, q[i])
        k = axis_index(tree, i)
        # v = X v_parent + S qd;  a = X a_parent + S qdd + v x S qd
        v = twist_to_child(X, twists[parent]) if parent >= 0 else np.zeros((6, *q[i].shape), dtype=q.dtype)
        a = twist_to_child(X, accelerations[parent] if parent >= 0 else base_acceleration)
        v[k] = v[k] + qd[i]
        a = a + cross_axis(tree.revolute[i], v) * qd[i]
        a[k] = a[k] + qdd[i]
        transforms.append(X)
        twists.append(v)
        accelerations.append(a)

    # f = I a + v x* I v
    wrenches = [
        inertia_times(ten, a) + cross_force(v, inertia_times(ten, v))
        for ten, a, v in zip(tree.inertias, accelerations, twists, strict=True)
    ]
    torques = [tree.joint_parameters[i, 0] * qdd[i] for i in range(tree.n)]
    for i in reversed(range(tree.n)):  # tip to base: a parent's wrench needs its children's
        torques[i] = torques[i] + wrenches[i][axis_index(tree, i)]
        if tree.parents[i] >= 0:
            parent = tree.parents[i]
            wrenches[parent] = wrenches[parent] + wrench_to_parent(transforms[i], wrenches[i])
    return np.stack(torques)
