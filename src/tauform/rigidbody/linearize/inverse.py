"""Derivatives of inverse dynamics, as matrices, as a vector, and transposed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.rigidbody.linearize.inverse_matrices import inverse_matrices
from tauform.rigidbody.linearize.inverse_vector import inverse_vector
from tauform.rigidbody.linearize.transposed import inverse_transposed
from tauform.rigidbody.sweeps.evaluation import evaluate


@dataclass(frozen=True, eq=False)
class InverseLinearization:
    """dtau = dq_matrix dq + dqd_matrix dqd + dqdd_matrix dqdd; Coulomb friction does not take part.

    Attributes:
        dq: (..., n, n) derivative by position (Jain1993: B_D); or (..., n) where it was multiplied by weights.
        dqd: derivative by velocity (A_D), viscous friction included.
        dqdd: derivative by acceleration, the mass matrix.
    """

    dq: Array
    dqd: Array
    dqdd: Array

    def __repr__(self) -> str:
        return f"InverseLinearization(dq, dqd, dqdd of shape {self.dq.shape})"


def linearize_inverse(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> InverseLinearization:
    """Derivatives of `inverse_dynamics`.  [Jain1993, Algorithm 2]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.

    Returns:
        Matrices .dq, .dqd and .dqdd of shape (..., n, n).

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    tree = robot.tree
    stacked = evaluate(robot, lambda *v: inverse_matrices(tree, *v), project=2, q=q, qd=qd, qdd=qdd)
    return InverseLinearization(*np.moveaxis(stacked, -1, 0))


def linearize_inverse_vector(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    dq: ArrayLike | None = None,
    dqd: ArrayLike | None = None,
    dqdd: ArrayLike | None = None,
) -> Array:
    """Change of torque under small changes of motion, O(n), without the matrices.  [Jain1993, Algorithm 1]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.
        dq: (..., n) change of position; None is no change.
        dqd: (..., n) change of velocity; None is no change.
        dqdd: (..., n) change of acceleration; None is no change.

    Returns:
        (..., n) the product of the matrices of `linearize_inverse` with the changes.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    none = np.zeros(robot.n_joints)
    changes = {"dq": dq, "dqd": dqd, "dqdd": dqdd}
    given = {name: none if value is None else value for name, value in changes.items()}
    return evaluate(robot, lambda *v: inverse_vector(robot.tree, *v), project=1, q=q, qd=qd, qdd=qdd, **given)


def linearize_inverse_transposed(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, weights: ArrayLike
) -> InverseLinearization:
    """Weights times the derivatives of `inverse_dynamics`, O(n), without the matrices (vector-Jacobian products).

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.
        weights: (..., n) weight of each torque, the gradient of a cost by tau.

    Returns:
        Vectors .dq, .dqd and .dqdd of shape (..., n): the gradient of that cost by q, qd and qdd.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """

    def core(*vectors: AnyArray) -> AnyArray:
        return inverse_transposed(robot.tree, *vectors)

    stacked = evaluate(robot, core, project=1, q=q, qd=qd, qdd=qdd, weights=weights)
    return InverseLinearization(*np.moveaxis(stacked, -1, 0))
