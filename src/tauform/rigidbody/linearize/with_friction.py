"""Derivatives of drive terms, added to those of links and rotors.

With the rigid torque r, tau = r + friction(q, qd) + load(r, qd), so that D_tau = D_r + (d load / d r) D_r + D_friction.
"""

from __future__ import annotations

from tauform.arrays import AnyArray
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.rigidbody.drives import friction_slopes
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.load import carried_torque, carried_transposed, has_load, load_slopes


def state_of(robot: Robot, q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: AnyArray | None = None) -> JointState:
    """Motion as drive terms see it."""
    # What a joint carries is asked only where friction depends on it: a sweep more.
    carried = carried_torque(robot, newton_euler(robot.tree, q, qd, qdd)) if has_load(robot.tree) else None
    return JointState(q, qd, qdd, temperature, carried)


def matrices_with_friction(robot: Robot, D: AnyArray, state: JointState) -> AnyArray:
    """(n, n, 3, N) derivatives of the whole torque from those of links and rotors."""
    if state.carried is not None:
        # d load / d r of each joint, times the rows of D_r.
        D = D + load_slopes(robot.tree, state)[:, None, None] * carried_torque(robot, D)
    return D + friction_slopes(robot.tree, state)


def change_with_friction(robot: Robot, change: AnyArray, state: JointState, dq: AnyArray, dqd: AnyArray) -> AnyArray:
    """(n, N) change of the whole torque from that of links and rotors."""
    if state.carried is not None:
        change = change + load_slopes(robot.tree, state) * carried_torque(robot, change)
    slopes = friction_slopes(robot.tree, state)
    # Slopes by q and qd; none by qdd.
    return change + (slopes[:, :, 0] * dq + slopes[:, :, 1] * dqd).sum(axis=1)


def rigid_weights(robot: Robot, weights: AnyArray, state: JointState) -> AnyArray:
    """(n, N) weights of the rigid torque, from those of the whole one."""
    if state.carried is None:
        return weights
    # The transpose of 1 + (d load / d r).
    return weights + carried_transposed(robot, load_slopes(robot.tree, state) * weights)


def weighted_friction(robot: Robot, weights: AnyArray, state: JointState) -> AnyArray:
    """(n, 3, N) weights times the derivatives of friction."""
    return (weights[:, None, None] * friction_slopes(robot.tree, state)).sum(axis=0)
