"""Derivatives of forward dynamics, as matrices, as a vector, and transposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.errors import UnknownNameError
from tauform.rigidbody.friction import joint_friction
from tauform.rigidbody.linearize import with_loops
from tauform.rigidbody.linearize.forward_matrices import forward_matrices
from tauform.rigidbody.linearize.forward_matrices_conventional import forward_matrices_conventional
from tauform.rigidbody.linearize.forward_vector import forward_vector
from tauform.rigidbody.linearize.forward_vector_conventional import forward_vector_conventional
from tauform.rigidbody.linearize.transposed import forward_transposed
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.pivots import named_pivots

LinearizationMethod = Literal["direct", "conventional"]
_MATRICES = {"direct": forward_matrices, "conventional": forward_matrices_conventional}
_VECTORS = {"direct": forward_vector, "conventional": forward_vector_conventional}


@dataclass(frozen=True, eq=False)
class ForwardLinearization:
    """dqdd = dq_matrix dq + dqd_matrix dqd + dtau_matrix dtau; Coulomb friction does not take part.

    Attributes:
        dq: (..., n, n) derivative by position (Jain1993: -B_C); or (..., n) where it was multiplied by weights.
        dqd: derivative by velocity (-A_C), viscous friction included.
        dtau: derivative by torque, the inverse of the mass matrix.
    """

    dq: Array
    dqd: Array
    dtau: Array

    def __repr__(self) -> str:
        return f"ForwardLinearization(dq, dqd, dtau of shape {self.dq.shape})"


def linearize_forward(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, method: LinearizationMethod = "direct"
) -> ForwardLinearization:
    """Derivatives of `forward_dynamics`.  [Jain1993, Algorithms 6 and 4]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        method: "direct" (Algorithm 6, O(n^2), no mass matrix) or "conventional" (Algorithm 4, by the derivatives of
            inverse dynamics and the factors of the mass matrix, which loop constraints always take).

    Returns:
        Matrices .dq, .dqd and .dtau of shape (..., n, n).

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        UnknownNameError: no such method.
    """
    algorithm = _MATRICES[_known(method)]
    with named_pivots(robot):
        if robot.closure is not None:
            return ForwardLinearization(*np.moveaxis(with_loops.forward_matrices(robot, q, qd, tau), -1, 0))
        tree = robot.tree

        def core(q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
            return algorithm(tree, q, qd, tau - joint_friction(tree, qd))

        return ForwardLinearization(*np.moveaxis(evaluate(robot, core, q=q, qd=qd, tau=tau), -1, 0))


def linearize_forward_vector(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike | None = None,
    dqd: ArrayLike | None = None,
    dtau: ArrayLike | None = None,
    method: LinearizationMethod = "direct",
) -> Array:
    """Change of acceleration under small changes of state and torque.  [Jain1993, Algorithms 5 and 3]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        dq: (..., n) change of position; None is no change.
        dqd: (..., n) change of velocity; None is no change.
        dtau: (..., n) change of torque; None is no change.
        method: "direct" (Algorithm 5, O(n), no mass matrix) or "conventional" (Algorithm 3, which loop constraints
            always take).

    Returns:
        (..., n) the product of the matrices of `linearize_forward` with the changes.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        UnknownNameError: no such method.
    """
    algorithm = _VECTORS[_known(method)]
    none = np.zeros(robot.n_joints)
    changes = {"dq": dq, "dqd": dqd, "dtau": dtau}
    given = {name: none if value is None else value for name, value in changes.items()}
    with named_pivots(robot):
        if robot.closure is not None:
            return with_loops.forward_vector(robot, q, qd, tau, **given)
        tree = robot.tree

        def core(q: AnyArray, qd: AnyArray, tau: AnyArray, *changes: AnyArray) -> AnyArray:
            return algorithm(tree, q, qd, tau - joint_friction(tree, qd), *changes)

        return evaluate(robot, core, 0, q=q, qd=qd, tau=tau, **given)


def linearize_forward_transposed(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, weights: ArrayLike
) -> ForwardLinearization:
    """Weights times the derivatives of `forward_dynamics`, O(n), without the matrices (vector-Jacobian products).

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        weights: (..., n) weight of each acceleration, the gradient of a cost by qdd.

    Returns:
        Vectors .dq, .dqd and .dtau of shape (..., n): the gradient of that cost by q, qd and tau.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
    """
    with named_pivots(robot):
        if robot.closure is not None:
            return ForwardLinearization(*with_loops.forward_transposed(robot, q, qd, tau, weights))
        tree = robot.tree

        def core(q: AnyArray, qd: AnyArray, tau: AnyArray, weights: AnyArray) -> AnyArray:
            return forward_transposed(tree, q, qd, tau - joint_friction(tree, qd), weights)

        stacked = evaluate(robot, core, q=q, qd=qd, tau=tau, weights=weights)
        return ForwardLinearization(*np.moveaxis(stacked, -1, 0))


def _known(method: str) -> str:
    if method not in _MATRICES:
        raise UnknownNameError(f"method: no {method!r}; choose from {', '.join(_MATRICES)}")
    return method
