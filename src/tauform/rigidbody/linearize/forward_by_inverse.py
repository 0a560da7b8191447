"""Forward derivatives from those of inverse dynamics and the mass matrix, in the coordinates of q.

For robots that no articulated body algorithm covers: loop constraints, rotors that two joints turn together, friction
that depends on load. With tau = r + load(r, qd) + friction and M qdd = r - C qd - g,

    d tau / d qdd = (1 + d load / d r) M,    d qdd / d tau = M^-1 (1 + d load / d r)^-1
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, joint_vector
from tauform.description.robot import Robot
from tauform.rigidbody.drives import has_coupled_inertia
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.linearize.inverse import (
    linearize_inverse,
    linearize_inverse_transposed,
    linearize_inverse_vector,
)
from tauform.rigidbody.load import has_load, load_gains
from tauform.rigidbody.sweeps.factorization import factorize, solve


def is_needed(robot: Robot) -> bool:
    """Whether no articulated body algorithm covers the robot."""
    return robot.closure is not None or has_load(robot.tree) or has_coupled_inertia(robot.tree)


def forward_matrices(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, temperature: ArrayLike | None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """(..., n, n) each: dqdd/dq, dqdd/dqd and dqdd/dtau."""
    qdd = forward_dynamics(robot, q, qd, tau, temperature=temperature)
    inverse = linearize_inverse(robot, q, qd, qdd, temperature)
    # (1 + d load / d r), a diagonal: rows are divided by it before M^-1.
    gains = 1 + _gains(robot, q, qd, qdd)[..., None]
    one = np.broadcast_to(np.eye(robot.n_joints), inverse.dq.shape)
    # All three derivatives share one factorization of M.
    right = np.concatenate([-inverse.dq / gains, -inverse.dqd / gains, one / gains], axis=-1)
    return tuple(np.split(_solved(robot, q, right), 3, axis=-1))  # type: ignore[return-value]


def forward_vector(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike,
    dqd: ArrayLike,
    dtau: ArrayLike,
    temperature: ArrayLike | None,
) -> AnyArray:
    """(..., n) change of acceleration."""
    qdd = forward_dynamics(robot, q, qd, tau, temperature=temperature)
    # Torque that the change of state takes at unchanged acceleration; the rest of dtau accelerates.
    felt = linearize_inverse_vector(robot, q, qd, qdd, dq, dqd, temperature=temperature)
    change = joint_vector(dtau, robot.n_joints, "dtau") - felt
    return _solved(robot, q, (change / (1 + _gains(robot, q, qd, qdd)))[..., None])[..., 0]


def forward_transposed(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, weights: ArrayLike, temperature: ArrayLike | None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Weights times dqdd/dq, dqdd/dqd and dqdd/dtau."""
    qdd = forward_dynamics(robot, q, qd, tau, temperature=temperature)
    # The transpose of M^-1 (1 + load)^-1: first M^-1, which is symmetric, then the gains.
    inner = _solved(robot, q, joint_vector(weights, robot.n_joints, "weights")[..., None])[..., 0]
    inner = inner / (1 + _gains(robot, q, qd, qdd))
    inverse = linearize_inverse_transposed(robot, q, qd, qdd, inner, temperature)
    return -inverse.dq, -inverse.dqd, inner + 0 * inverse.dq


def _gains(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: AnyArray) -> AnyArray:
    """(..., n) derivative of load friction by the rigid torque."""
    if not has_load(robot.tree):
        return 0 * qdd
    return load_gains(robot, qd, inverse_dynamics(robot, q, qd, qdd, drives=False))


def _solved(robot: Robot, q: ArrayLike, right: AnyArray) -> AnyArray:
    """M^-1 right; the columns are the last dimension."""
    M = np.moveaxis(mass_matrix(robot, q), (-2, -1), (0, 1))
    # Neither loops nor shared shafts leave the zeros of branches.
    chain = tuple(range(-1, robot.n_joints - 1))
    columns = np.moveaxis(right, (-2, -1), (0, 1))
    return np.moveaxis(solve(factorize(M, chain), chain, columns), (0, 1), (-2, -1))
