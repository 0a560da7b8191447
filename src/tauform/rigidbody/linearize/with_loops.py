"""Forward derivatives of robots with loop constraints: the projected inverse ones, and the projected mass matrix.

q_tree = F q + offset with a constant F, so that every derivative of inverse dynamics is F^T (that of the tree) F.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, joint_vector
from tauform.description.robot import Robot
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.linearize.forward_matrices_conventional import solve_forward
from tauform.rigidbody.linearize.inverse import (
    linearize_inverse,
    linearize_inverse_transposed,
    linearize_inverse_vector,
)
from tauform.rigidbody.mass_matrix import mass_matrix
from tauform.rigidbody.sweeps.factorization import factorize, solve


def forward_matrices(robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike) -> AnyArray:
    """(..., n, n, 3): dqdd/dq, dqdd/dqd and dqdd/dtau."""
    inverse = linearize_inverse(robot, q, qd, forward_dynamics(robot, q, qd, tau))
    D = np.moveaxis(np.stack([inverse.dq, inverse.dqd, inverse.dqdd], axis=-1), (-3, -2, -1), (0, 1, 2))
    chain = _chain(robot)
    return np.moveaxis(solve_forward(factorize(D[:, :, 2], chain), chain, D), (0, 1, 2), (-3, -2, -1))


def forward_vector(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, dq: ArrayLike, dqd: ArrayLike, dtau: ArrayLike
) -> AnyArray:
    """(..., n) change of acceleration."""
    qdd = forward_dynamics(robot, q, qd, tau)
    change = joint_vector(dtau, robot.n_joints, "dtau") - linearize_inverse_vector(robot, q, qd, qdd, dq, dqd)
    return _solved(robot, q, change)


def forward_transposed(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, weights: ArrayLike
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Weights times dqdd/dq, dqdd/dqd and dqdd/dtau."""
    qdd = forward_dynamics(robot, q, qd, tau)
    inner = _solved(robot, q, joint_vector(weights, robot.n_joints, "weights"))
    inverse = linearize_inverse_transposed(robot, q, qd, qdd, inner)
    return -inverse.dq, -inverse.dqd, inner + 0 * inverse.dq


def _solved(robot: Robot, q: ArrayLike, right: AnyArray) -> AnyArray:
    M, chain = np.moveaxis(mass_matrix(robot, q), (-2, -1), (0, 1)), _chain(robot)
    return np.moveaxis(solve(factorize(M, chain), chain, np.moveaxis(right, -1, 0)), 0, -1)


def _chain(robot: Robot) -> tuple[int, ...]:
    """The projected matrix has no zeros of branches left."""
    return tuple(range(-1, robot.n_joints - 1))
