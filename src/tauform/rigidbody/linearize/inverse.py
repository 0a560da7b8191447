"""Derivatives of inverse dynamics, as matrices, as a vector, and transposed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array, joint_vector
from tauform.description.drives.groups import JointState
from tauform.description.robot import GeneralClosure, Robot
from tauform.rigidbody.drives import friction_slopes, temperatures
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics, newton_euler
from tauform.rigidbody.linearize.inverse_matrices import inverse_matrices
from tauform.rigidbody.linearize.inverse_vector import inverse_vector
from tauform.rigidbody.linearize.transposed import inverse_transposed
from tauform.rigidbody.load import carried_torque, carried_transposed, has_load, load_slopes
from tauform.rigidbody.sweeps.evaluation import check_batches, evaluate

# Its square, 1e-60, vanishes beside any number of the dynamics.
COMPLEX_STEP = 1e-30


@dataclass(frozen=True, eq=False)
class InverseLinearization:
    """dtau = dq_matrix dq + dqd_matrix dqd + dqdd_matrix dqdd, all drive terms included.

    A jump has no derivative: that of sign(qd) counts as zero, so that sharp Coulomb friction does not take part.

    Attributes:
        dq: (..., n, n) derivative by position (Jain1993: B_D); or (..., n) where it was multiplied by weights.
        dqd: derivative by velocity (A_D).
        dqdd: derivative by acceleration: the mass matrix, unless friction depends on load.
    """

    dq: Array
    dqd: Array
    dqdd: Array

    def __repr__(self) -> str:
        return f"InverseLinearization(dq, dqd, dqdd of shape {self.dq.shape})"


def linearize_inverse(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    temperature: ArrayLike | None = None,
    drives: bool = True,
) -> InverseLinearization:
    """Derivatives of `inverse_dynamics`, all drive terms included.  [Jain1993, Algorithm 2]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: False leaves out what `friction` returns; rotors stay.

    Returns:
        Matrices .dq, .dqd and .dqdd of shape (..., n, n).

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    robot = robot if drives else robot.rigid
    # A closure that bends has second derivatives, which the algorithms of trees lack.
    if needs_complex_steps(robot):
        return InverseLinearization(*matrices_by_complex_step(robot, q, qd, qdd, temperature))

    def core(*motion: AnyArray) -> AnyArray:
        # (n, n, 3, N), in the coordinates of the tree; `evaluate` projects to those of q.
        return _matrices_with_friction(robot, inverse_matrices(robot.tree, *motion[:3]), _state_of(robot, *motion))

    stacked = evaluate(robot, core, project=2, q=q, qd=qd, qdd=qdd, **temperatures(robot, temperature))
    return InverseLinearization(*np.moveaxis(stacked, -1, 0))


def linearize_inverse_vector(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    dq: ArrayLike | None = None,
    dqd: ArrayLike | None = None,
    dqdd: ArrayLike | None = None,
    temperature: ArrayLike | None = None,
    drives: bool = True,
) -> Array:
    """Change of torque under small changes of motion, O(n), without the matrices.  [Jain1993, Algorithm 1]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.
        dq: (..., n) change of position; None is no change.
        dqd: (..., n) change of velocity; None is no change.
        dqdd: (..., n) change of acceleration; None is no change.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: False leaves out what `friction` returns; rotors stay.

    Returns:
        (..., n) the product of the matrices of `linearize_inverse` with the changes.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    robot = robot if drives else robot.rigid
    none = np.zeros(robot.n_joints)
    changes = {"dq": dq, "dqd": dqd, "dqdd": dqdd}
    given = {name: none if value is None else value for name, value in changes.items()}
    if needs_complex_steps(robot):
        check_batches(robot, q=q, qd=qd, qdd=qdd, **given, **temperatures(robot, temperature))
        return change_by_complex_step(robot, (q, qd, qdd), tuple(given.values()), temperature)

    def core(q: AnyArray, qd: AnyArray, qdd: AnyArray, dq: AnyArray, dqd: AnyArray, *others: AnyArray) -> AnyArray:
        # dqdd changes no friction.
        dqdd, *temperature = others
        change = inverse_vector(robot.tree, q, qd, qdd, dq, dqd, dqdd)
        return _change_with_friction(robot, change, _state_of(robot, q, qd, qdd, *temperature), dq, dqd)

    given |= temperatures(robot, temperature)
    return evaluate(robot, core, project=1, q=q, qd=qd, qdd=qdd, **given)


def linearize_inverse_transposed(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    weights: ArrayLike,
    temperature: ArrayLike | None = None,
    drives: bool = True,
) -> InverseLinearization:
    """Weights times the derivatives of `inverse_dynamics`, O(n), without the matrices (vector-Jacobian products).

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.
        weights: (..., n) weight of each torque, the gradient of a cost by tau.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: False leaves out what `friction` returns; rotors stay.

    Returns:
        Vectors .dq, .dqd and .dqdd of shape (..., n): the gradient of that cost by q, qd and qdd.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    robot = robot if drives else robot.rigid
    if needs_complex_steps(robot):
        # Loops that bend: the matrices first, then their product, O(n^2).
        rows = joint_vector(weights, robot.n_joints, "weights")[..., None]
        matrices = matrices_by_complex_step(robot, q, qd, qdd, temperature)
        return InverseLinearization(*((rows * matrix).sum(axis=-2) for matrix in matrices))

    def core(q: AnyArray, qd: AnyArray, qdd: AnyArray, weights: AnyArray, *temperature: AnyArray) -> AnyArray:
        state = _state_of(robot, q, qd, qdd, *temperature)
        # Load friction passes weights on to the rigid torque, the rest does not.
        rigid = inverse_transposed(robot.tree, q, qd, qdd, _rigid_weights(robot, weights, state))
        return rigid + _weighted_friction(robot, weights, state)

    given = {"q": q, "qd": qd, "qdd": qdd, "weights": weights, **temperatures(robot, temperature)}
    stacked = evaluate(robot, core, project=1, **given)
    return InverseLinearization(*np.moveaxis(stacked, -1, 0))


# Derivatives of drive terms, added to those of links and rotors.
#
# With the rigid torque r, tau = r + friction(q, qd) + load(r, qd): D_tau = D_r + (d load / d r) D_r + D_friction.


def _state_of(
    robot: Robot, q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: AnyArray | None = None
) -> JointState:
    """Motion as drive terms see it."""
    # What a joint carries is asked only where friction depends on it: a sweep more.
    carried = carried_torque(robot, newton_euler(robot.tree, q, qd, qdd)) if has_load(robot.tree) else None
    return JointState(q, qd, qdd, temperature, carried)


def _matrices_with_friction(robot: Robot, D: AnyArray, state: JointState) -> AnyArray:
    """(n, n, 3, N) derivatives of the whole torque from those of links and rotors."""
    if state.carried is not None:
        # d load / d r of each joint, times the rows of D_r.
        D = D + load_slopes(robot.tree, state)[:, None, None] * carried_torque(robot, D)
    return D + friction_slopes(robot.tree, state)


def _change_with_friction(robot: Robot, change: AnyArray, state: JointState, dq: AnyArray, dqd: AnyArray) -> AnyArray:
    """(n, N) change of the whole torque from that of links and rotors."""
    if state.carried is not None:
        change = change + load_slopes(robot.tree, state) * carried_torque(robot, change)
    slopes = friction_slopes(robot.tree, state)
    # Slopes by q and qd; none by qdd.
    return change + (slopes[:, :, 0] * dq + slopes[:, :, 1] * dqd).sum(axis=1)


def _rigid_weights(robot: Robot, weights: AnyArray, state: JointState) -> AnyArray:
    """(n, N) weights of the rigid torque, from those of the whole one."""
    if state.carried is None:
        return weights
    # The transpose of 1 + (d load / d r).
    return weights + carried_transposed(robot, load_slopes(robot.tree, state) * weights)


def _weighted_friction(robot: Robot, weights: AnyArray, state: JointState) -> AnyArray:
    """(n, 3, N) weights times the derivatives of friction."""
    return (weights[:, None, None] * friction_slopes(robot.tree, state)).sum(axis=0)


# Derivatives of inverse dynamics by complex steps, exact to rounding: for robots whose loops bend their Jacobian.
#
# Im tau(x + i h d) / h has no difference in it, so h can be so small that its square vanishes.


def needs_complex_steps(robot: Robot) -> bool:
    """Whether the algorithms of trees and linear loops do not cover the robot."""
    return isinstance(robot.closure, GeneralClosure)


def change_by_complex_step(
    robot: Robot, motion: tuple[ArrayLike, ...], change: tuple[ArrayLike, ...], temperature: ArrayLike | None
) -> AnyArray:
    """(..., n) change of torque under a change of q, qd and qdd."""
    n = robot.n_joints
    names = ("q", "qd", "qdd", "dq", "dqd", "dqdd")
    checked = [joint_vector(x, n, name) for x, name in zip((*motion, *change), names, strict=True)]
    q, qd, qdd = (x + 1j * COMPLEX_STEP * d for x, d in zip(checked[:3], checked[3:], strict=True))
    return inverse_dynamics(robot, q, qd, qdd, temperature=temperature).imag / COMPLEX_STEP


def matrices_by_complex_step(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """(..., n, n) each: dtau/dq, dtau/dqd, dtau/dqdd."""
    none, unit = np.zeros(robot.n_joints), np.eye(robot.n_joints)
    by = [
        # k = 1 steps in q, k = 0 in qd.
        np.stack(
            [change_by_complex_step(robot, (q, qd, qdd), (d * k, d * (1 - k), none), temperature) for d in unit],
            axis=-1,
        )
        for k in (1.0, 0.0)
    ]
    # By qdd torque is linear: its derivative is known without a step.
    M = mass_matrix(robot, q)
    return by[0], by[1], np.broadcast_to(M, by[0].shape).copy()
