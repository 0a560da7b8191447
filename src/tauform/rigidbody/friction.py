"""Joint friction: tau = Fv qd + Fc sign(qd) + Fo, with sign(0) = 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.evaluation import evaluate


def friction(robot: Robot, qd: ArrayLike) -> Array:
    """Friction and offset torque, (..., n).

    Args:
        qd: (..., n) joint velocities.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
    """
    return evaluate(robot, lambda qd: joint_friction(robot.tree, qd), project=1, qd=qd)


def joint_friction(tree: Tree, qd: AnyArray) -> AnyArray:
    """Friction torque of each joint of the tree, (n, N)."""
    viscous, coulomb, offset = (tree.joint_parameters[:, k] for k in (1, 2, 3))
    torque: AnyArray = viscous * qd + coulomb * sign(qd) + offset
    return torque


def sign(x: AnyArray) -> AnyArray:
    """-1, 0 or 1; of a complex number (complex step) that of its real part; scalars of other types bring their own."""
    if x.dtype != object:
        return np.sign(np.real(x))
    signs: AnyArray = np.frompyfunc(lambda scalar: scalar.sign(), 1, 1)(x)
    return signs
