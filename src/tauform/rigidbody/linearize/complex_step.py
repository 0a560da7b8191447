"""Derivatives of inverse dynamics by complex steps, exact to rounding: for robots whose loops bend their Jacobian.

Im tau(x + i h d) / h has no difference in it, so h can be so small that its square vanishes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, joint_vector
from tauform.description.robot import GeneralClosure, Robot
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

# Its square, 1e-60, vanishes beside any number of the dynamics.
H = 1e-30


def is_needed(robot: Robot) -> bool:
    """Whether the algorithms of trees and linear loops do not cover the robot."""
    return isinstance(robot.closure, GeneralClosure)


def inverse_change(
    robot: Robot, motion: tuple[ArrayLike, ...], change: tuple[ArrayLike, ...], temperature: ArrayLike | None
) -> AnyArray:
    """(..., n) change of torque under a change of q, qd and qdd."""
    n = robot.n_joints
    names = ("q", "qd", "qdd", "dq", "dqd", "dqdd")
    checked = [joint_vector(x, n, name) for x, name in zip((*motion, *change), names, strict=True)]
    q, qd, qdd = (x + 1j * H * d for x, d in zip(checked[:3], checked[3:], strict=True))
    return inverse_dynamics(robot, q, qd, qdd, temperature=temperature).imag / H


def inverse_matrices(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """(..., n, n) each: dtau/dq, dtau/dqd, dtau/dqdd."""
    none, unit = np.zeros(robot.n_joints), np.eye(robot.n_joints)
    by = [
        # k = 1 steps in q, k = 0 in qd.
        np.stack([inverse_change(robot, (q, qd, qdd), (d * k, d * (1 - k), none), temperature) for d in unit], axis=-1)
        for k in (1.0, 0.0)
    ]
    # By qdd torque is linear: its derivative is known without a step.
    M = mass_matrix(robot, q)
    return by[0], by[1], np.broadcast_to(M, by[0].shape).copy()
