"""Generalised momentum and the observer of external torques that is built on it (De Luca, Mattone 2003).

    p = M qd,    pdot = tau - friction + C^T qd - g + tau_external

so the residual r = K (p - integral of (tau - friction + C^T qd - g + r)) follows tau_external with the time constant
1/K, from positions, velocities and motor torques alone: no acceleration is needed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array, joint_vector
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import DescriptionError, ShapeError
from tauform.rigidbody.drives import coupled_torque, has_coupled_inertia
from tauform.rigidbody.friction import friction
from tauform.rigidbody.gravity import gravity_torque
from tauform.rigidbody.load import has_load
from tauform.rigidbody.sweeps.evaluation import TreeMotion, evaluate, weighted_by
from tauform.rigidbody.sweeps.motion import body_twists, transforms_of
from tauform.rigidbody.sweeps.spatial import inertia_times, wrench_to_parent


class ObserverStep(NamedTuple):
    """Residual (..., n), the estimate of the external torque, and the integral to hand to the next step."""

    residual: Array
    integral: Array


def generalized_momentum(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """p = M qd, without forming the mass matrix, (..., n).

    Args:
        q: (..., n) joint positions.
        qd: (..., n) joint velocities.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    return evaluate(robot, lambda q, qd: momentum_and_drift(robot.tree, q, qd)[0], project=1, q=q, qd=qd)


def momentum_observer(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    integral: ArrayLike,
    residual: ArrayLike,
    gain: ArrayLike,
    period: float,
    temperature: ArrayLike | None = None,
) -> ObserverStep:
    """One step of the momentum observer for collision detection; all drive terms of the robot take part.

    Start with integral = generalized_momentum(robot, q, qd) and residual = 0.

    Args:
        q, qd, tau: (..., n) measured positions, velocities and motor torques.
        integral, residual: (..., n) what the last step returned.
        gain: (..., n) K [1/s].
        period: time since the last step [s].
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        DescriptionError: friction depends on the torque that joints carry, which a contact changes, or on a temperature
            that is not given.
    """
    refuse_load(robot)
    tau, integral, residual = (
        joint_vector(values, robot.n_joints, name)
        for values, name in ((tau, "tau"), (integral, "integral"), (residual, "residual"))
    )
    # Batches of them come from programs that are compared with this.
    if not (np.isfinite(gain).all() and np.isfinite(period).all()):
        raise ShapeError("momentum_observer: gain or period is not finite; give K [1/s] and seconds")
    drift = evaluate(
        robot,
        lambda q, qd: momentum_and_drift(robot.tree, q, qd)[1],
        project=1,
        bending=lambda loops: bent_momentum(robot.tree, loops),
        q=q,
        qd=qd,
    )
    losses = friction(robot, qd, q, temperature=temperature)
    # pdot without the external torque, plus the residual's own estimate of it: the loop that makes r follow.
    inflow = np.asarray(tau) - losses + drift - gravity_torque(robot, q) + np.asarray(residual)
    # Explicit Euler: the observer runs at the period of the controller, with what the last period measured.
    new_integral = np.asarray(integral) + period * inflow
    return ObserverStep(np.asarray(gain) * (generalized_momentum(robot, q, qd) - new_integral), new_integral)


def bent_momentum(tree: Tree, loops: TreeMotion) -> AnyArray:
    """Gdot^T p: p = G^T p_tree of a loop also changes as G does."""
    assert loops.Gdot is not None
    momentum = momentum_and_drift(tree, loops.vectors["q"], loops.vectors["qd"])[0]
    return weighted_by(loops.Gdot, momentum)


def refuse_load(robot: Robot) -> None:
    """Raise DescriptionError where friction depends on load."""
    if has_load(robot.tree):
        raise DescriptionError(
            f"momentum_observer: friction of {robot.name} depends on the torque that its joints carry, which a contact "
            "changes; observe it without the load terms"
        )


def momentum_and_drift(tree: Tree, q: AnyArray, qd: AnyArray) -> AnyArray:
    """(2, n, N): p = S . H and C^T qd = Sdot . H, with H the momentum of all that a joint carries; any scalar."""
    transforms = transforms_of(tree, q)
    twists = body_twists(tree, transforms, qd)
    carried = [inertia_times(ten, v) for ten, v in zip(tree.inertias, twists, strict=True)]
    # Tip to base: H of a body is its own momentum and that of all it carries.
    for i in reversed(range(tree.n)):
        if tree.parents[i] >= 0:
            carried[tree.parents[i]] = carried[tree.parents[i]] + wrench_to_parent(transforms[i], carried[i])
    momentum = [tree.types[i].felt(carried[i]) + tree.rotors[i] * qd[i] for i in range(tree.n)]
    # Sdot = v x S, the axis being carried along by the body
    drift = [(tree.types[i].axis_rate(twists[i]) * carried[i]).sum(axis=0) for i in range(tree.n)]
    # A coupled shaft's torque is linear in qdd, so that qd in its place gives its momentum.
    shafts = coupled_torque(tree, qd) if has_coupled_inertia(tree) else 0
    return np.stack([np.stack(momentum) + shafts, np.stack(drift)])
