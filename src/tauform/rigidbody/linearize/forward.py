"""Derivatives of forward dynamics, as matrices, as a vector, and transposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.errors import UnknownNameError
from tauform.rigidbody.drives import friction_slopes, friction_torque, temperatures
from tauform.rigidbody.linearize import forward_by_inverse
from tauform.rigidbody.linearize.forward_matrices import forward_matrices, forward_matrices_conventional
from tauform.rigidbody.linearize.forward_vector import forward_vector, forward_vector_conventional
from tauform.rigidbody.linearize.transposed import forward_transposed
from tauform.rigidbody.sweeps.evaluation import check_batches, evaluate
from tauform.rigidbody.sweeps.pivots import named_pivots

LinearizationMethod = Literal["direct", "conventional"]
_MATRICES = {"direct": forward_matrices, "conventional": forward_matrices_conventional}
_VECTORS = {"direct": forward_vector, "conventional": forward_vector_conventional}


@dataclass(frozen=True, eq=False)
class ForwardLinearization:
    """dqdd = dq_matrix dq + dqd_matrix dqd + dtau_matrix dtau, all drive terms included.

    A jump has no derivative: that of sign(qd) counts as zero, so that sharp Coulomb friction does not take part.

    Attributes:
        dq: (..., n, n) derivative by position (Jain1993: -B_C); or (..., n) where it was multiplied by weights.
        dqd: derivative by velocity (-A_C).
        dtau: derivative by torque: the inverse of the mass matrix, unless friction depends on load.
    """

    dq: Array
    dqd: Array
    dtau: Array

    def __repr__(self) -> str:
        return f"ForwardLinearization(dq, dqd, dtau of shape {self.dq.shape})"


def linearize_forward(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    method: LinearizationMethod = "direct",
    temperature: ArrayLike | None = None,
    drives: bool = True,
) -> ForwardLinearization:
    """Derivatives of `forward_dynamics`, all drive terms included.  [Jain1993, Algorithms 6 and 4]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        method: "direct" (Algorithm 6, O(n^2), no mass matrix) or "conventional" (Algorithm 4, by the derivatives of
            inverse dynamics and the factors of the mass matrix, which loop constraints, coupled rotors and friction
            that depends on load always take).
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: False leaves out what `friction` returns; rotors stay.

    Returns:
        Matrices .dq, .dqd and .dtau of shape (..., n, n).

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        UnknownNameError: no such method.
    """
    algorithm = _MATRICES[_known(method)]
    robot = robot if drives else robot.rigid
    # Names the link where a pivot is not positive.
    with named_pivots(robot):
        if forward_by_inverse.is_needed(robot):
            return ForwardLinearization(*forward_by_inverse.forward_matrices(robot, q, qd, tau, temperature))
        tree = robot.tree

        def core(q: AnyArray, qd: AnyArray, tau: AnyArray, temperature: AnyArray | None = None) -> AnyArray:
            state = JointState(q, qd, temperature=temperature)
            # Links alone are driven by what friction leaves of tau.
            D = algorithm(tree, q, qd, tau - friction_torque(tree, state))
            # dqdd = D_q dq + D_qd dqd + D_tau (dtau - friction_q dq - friction_qd dqd)
            felt = D[:, :, None, 2, None] * friction_slopes(tree, state)[None, :, :, :2]
            D[:, :, :2] = D[:, :, :2] - felt.sum(axis=1)
            return D

        given = temperatures(robot, temperature)
        return ForwardLinearization(*np.moveaxis(evaluate(robot, core, 0, q=q, qd=qd, tau=tau, **given), -1, 0))


def linearize_forward_vector(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike | None = None,
    dqd: ArrayLike | None = None,
    dtau: ArrayLike | None = None,
    method: LinearizationMethod = "direct",
    temperature: ArrayLike | None = None,
    drives: bool = True,
) -> Array:
    """Change of acceleration under small changes of state and torque.  [Jain1993, Algorithms 5 and 3]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        dq: (..., n) change of position; None is no change.
        dqd: (..., n) change of velocity; None is no change.
        dtau: (..., n) change of torque; None is no change.
        method: "direct" (Algorithm 5, O(n), no mass matrix) or "conventional" (Algorithm 3, which loop constraints,
            coupled rotors and friction that depends on load always take).
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: False leaves out what `friction` returns; rotors stay.

    Returns:
        (..., n) the product of the matrices of `linearize_forward` with the changes.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        UnknownNameError: no such method.
    """
    algorithm = _VECTORS[_known(method)]
    robot = robot if drives else robot.rigid
    # No change: zeros in place of None, so that one algorithm serves all.
    none = np.zeros(robot.n_joints)
    changes = {"dq": dq, "dqd": dqd, "dtau": dtau}
    given = {name: none if value is None else value for name, value in changes.items()}
    with named_pivots(robot):
        if forward_by_inverse.is_needed(robot):
            check_batches(robot, q=q, qd=qd, tau=tau, **given, **temperatures(robot, temperature))
            return forward_by_inverse.forward_vector(robot, q, qd, tau, **given, temperature=temperature)
        tree = robot.tree

        def core(q: AnyArray, qd: AnyArray, tau: AnyArray, *others: AnyArray) -> AnyArray:
            dq, dqd, dtau, *temperature = others
            state = JointState(q, qd, None, *temperature)
            slopes = friction_slopes(tree, state)
            # dtau that reaches the links: less what friction changes by.
            driving = dtau - (slopes[:, :, 0] * dq + slopes[:, :, 1] * dqd).sum(axis=1)
            return algorithm(tree, q, qd, tau - friction_torque(tree, state), dq, dqd, driving)

        return evaluate(robot, core, 0, q=q, qd=qd, tau=tau, **given, **temperatures(robot, temperature))


def linearize_forward_transposed(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    weights: ArrayLike,
    temperature: ArrayLike | None = None,
    drives: bool = True,
) -> ForwardLinearization:
    """Weights times the derivatives of `forward_dynamics`, O(n), without the matrices (vector-Jacobian products).

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        weights: (..., n) weight of each acceleration, the gradient of a cost by qdd.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: False leaves out what `friction` returns; rotors stay.

    Returns:
        Vectors .dq, .dqd and .dtau of shape (..., n): the gradient of that cost by q, qd and tau.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
    """
    robot = robot if drives else robot.rigid
    with named_pivots(robot):
        if forward_by_inverse.is_needed(robot):
            found = forward_by_inverse.forward_transposed(robot, q, qd, tau, weights, temperature)
            return ForwardLinearization(*found)
        tree = robot.tree

        def core(q: AnyArray, qd: AnyArray, tau: AnyArray, weights: AnyArray, *temperature: AnyArray) -> AnyArray:
            state = JointState(q, qd, None, *temperature)
            result = forward_transposed(tree, q, qd, tau - friction_torque(tree, state), weights)
            inner = result[:, 2]  # weights times M^-1
            # The chain rule of `linearize_forward`, transposed.
            result[:, :2] = result[:, :2] - (inner[:, None, None] * friction_slopes(tree, state)[:, :, :2]).sum(axis=0)
            return result

        given = {"q": q, "qd": qd, "tau": tau, "weights": weights, **temperatures(robot, temperature)}
        stacked = evaluate(robot, core, 0, **given)
        return ForwardLinearization(*np.moveaxis(stacked, -1, 0))


def _known(method: str) -> str:
    if method not in _MATRICES:
        raise UnknownNameError(f"method: no {method!r}; choose from {', '.join(_MATRICES)}")
    return method
