"""Inverse dynamics and its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.functions.function import Algorithm, Function, Shapes, joint_vectors
from tauform.codegen.minimal.composite import composites, gravity_torque
from tauform.codegen.minimal.newton_euler import trace as newton_euler
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.codegen.minimal.vectors import Triple
from tauform.description.robot import GeneralClosure, Robot
from tauform.rigidbody import friction as friction_of
from tauform.rigidbody.drives import coupled_torque, friction_torque, has_coupled_inertia
from tauform.rigidbody.gravity import bias_torque
from tauform.rigidbody.gravity import gravity_torque as textbook_gravity
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.load import has_load


def rigid_torques(
    tracing: Tracing,
    qd: Any = None,
    qdd: Any = None,
    gravity: bool = True,
    quiet: frozenset[int] = frozenset(),
    wrenches: Sequence[Triple] = (),
) -> list[Any]:
    """Torques of links, rotors and coupled rotors; a motion that is None is zero, velocities of quiet bodies too."""
    # No weight: the same recursion under zero gravity.
    bodies = tracing.bodies if gravity else replace(tracing.bodies, gravity=np.zeros(3))
    still = np.zeros(bodies.n)
    # Loops whose Jacobian bends accelerate the tree's joints also where q has no acceleration.
    qdd = tracing.bending() if qd is not None and qdd is None else qdd
    qd, qdd = (still if x is None else x for x in (qd, qdd))
    summed, steps = tracing.choice.summed, tracing.steps
    torques = newton_euler(bodies, tracing.joints("q"), qd, qdd, summed, quiet, wrenches, steps)
    tree = tracing.drive_tree
    # Traced Newton-Euler knows rotors, but no shaft that two joints turn.
    # A shaft needs acceleration: at rest it has no torque.
    if qdd is still or not has_coupled_inertia(tree):
        return torques
    shafts = coupled_torque(tree, np.array(qdd, dtype=object)[:, None])[:, 0]
    return [a + b for a, b in zip(torques, shafts, strict=True)]


def friction_torques(tracing: Tracing, carried: list[Any] | None = None) -> list[Any]:
    """Torques of all drive terms but rotors on the joints of the tree.

    Args:
        carried: torques of links and rotors; None leaves out friction that depends on them.
    """
    if not tracing.problem.drives.any():
        # No drive terms: plain zeros, which the graph drops from every sum.
        return [0.0] * tracing.bodies.n
    torques: list[Any] = friction_torque(tracing.drive_tree, tracing.drive_state(carried))[:, 0].tolist()
    return torques


def _inverse(tracing: Tracing) -> Outputs:
    rigid = rigid_torques(tracing, tracing.joints("qd"), tracing.joints("qdd"), wrenches=tracing.wrenches)
    # Load friction reads the rigid torque, which is there anyhow.
    tau = [a + b for a, b in zip(rigid, friction_torques(tracing, rigid), strict=True)]
    return {"tau": tracing.efforts(tau)}


def _bias(tracing: Tracing) -> Outputs:
    torques = rigid_torques(tracing, tracing.joints("qd"), wrenches=tracing.wrenches)
    return {"tau": tracing.efforts(torques)}


def _velocity(tracing: Tracing) -> Outputs:
    torques = rigid_torques(tracing, tracing.joints("qd"), gravity=False)
    return {"tau": tracing.efforts(torques)}


def _gravity(tracing: Tracing) -> Outputs:
    return {"tau": tracing.efforts(rigid_torques(tracing))}


def _gravity_composite(tracing: Tracing) -> Outputs:
    q = tracing.joints("q")
    # Weight of all that a joint carries, as one body: no motion is needed.
    torques = gravity_torque(tracing.bodies, q, composites(tracing.bodies, q))
    return {"tau": tracing.efforts(torques)}


def _friction(tracing: Tracing) -> Outputs:
    loaded = has_load(tracing.problem.robot.tree)
    # A whole recursion, only where some friction grows with its result.
    carried = rigid_torques(tracing, tracing.joints("qd"), tracing.joints("qdd")) if loaded else None
    return {"tau": tracing.efforts(friction_torques(tracing, carried))}


def _friction_inputs(robot: Robot) -> Shapes:
    """Velocities, and what else the drive terms of a robot depend on."""
    # Rotors are part of the rigid bodies; all other terms say what they read.
    reading = {name for term in robot.drives if not term.is_inertial for name in term.reads}
    # The carried torque needs the whole motion.
    needed = {"q": {"q", "carried"}, "qdd": {"carried"}, "temperature": {"temperature"}}
    if isinstance(robot.closure, GeneralClosure):
        reading.add("q")  # torques of passive joints reach q through G(q)
    names = ("qd", *(name for name, reasons in needed.items() if reasons & reading))
    return dict.fromkeys(names, (robot.n_joints,))


def _friction_reference(robot: Robot, *arrays: AnyArray) -> Array:
    # By name: the order of the ports depends on what the robot has.
    return friction_of.friction(robot, **dict(zip(_friction_inputs(robot), arrays, strict=True)))


def _breakdown(tracing: Tracing) -> Outputs:
    parts = {
        "inertial": rigid_torques(tracing, qdd=tracing.joints("qdd"), gravity=False),
        "velocity": rigid_torques(tracing, qd=tracing.joints("qd"), gravity=False),
        "gravity": rigid_torques(tracing),
    }
    # Load friction depends on all of the rigid torque together.
    whole = [sum(entries) for entries in zip(*parts.values(), strict=True)]
    parts["friction"] = friction_torques(tracing, whole if has_load(tracing.problem.robot.tree) else None)
    return {name: tracing.efforts(part) for name, part in parts.items()}


def velocity_torque(robot: Robot, q: AnyArray, qd: AnyArray) -> Array:
    """Coriolis and centrifugal torque C qd."""
    # No function of the textbook has these alone.
    return bias_torque(robot, q, qd) - textbook_gravity(robot, q)


def torque_breakdown(
    robot: Robot, q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: AnyArray | None = None
) -> tuple[Array, Array, Array, Array]:
    """Inertial, velocity, gravity and friction parts of the torque; they add up to inverse dynamics."""
    gravity, friction = textbook_gravity(robot, q), friction_of.friction(robot, qd, q, qdd, temperature)
    velocity = velocity_torque(robot, q, qd)
    rigid = inverse_dynamics(robot, q, qd, qdd, drives=False)
    # What is left of the rigid torque is M qdd.
    return rigid - velocity - gravity, velocity, gravity, friction


TORQUES = (
    Function(
        "inverse_dynamics",
        "torques that a motion needs, with the drive terms that the robot has",
        joint_vectors("q", "qd", "qdd", drives=True),
        inverse_dynamics,
        {"newton_euler": Algorithm(_inverse, any_unit=True, sums_angles=True, in_steps=True)},
        feels_wrenches=True,
    ),
    Function(
        "bias_torque",
        "Coriolis, centrifugal and gravity torques",
        joint_vectors("q", "qd"),
        bias_torque,
        {"newton_euler": Algorithm(_bias, any_unit=True, sums_angles=True, in_steps=True)},
        feels_wrenches=True,
        may_vanish=True,
    ),
    Function(
        "velocity_torque",
        "Coriolis and centrifugal torques",
        joint_vectors("q", "qd"),
        velocity_torque,
        {"newton_euler": Algorithm(_velocity, any_unit=True, sums_angles=True, in_steps=True)},
        may_vanish=True,
    ),
    Function(
        "gravity_torque",
        "torques that hold the robot against gravity",
        joint_vectors("q"),
        textbook_gravity,
        {
            # Two ways; the search takes the one with fewer operations for this robot.
            "composite": Algorithm(_gravity_composite, any_unit=True),
            "newton_euler": Algorithm(_gravity, any_unit=True, sums_angles=True, in_steps=True),
        },
        may_vanish=True,
    ),
    Function(
        "friction",
        "all drive terms but rotors: friction, offsets, springs",
        _friction_inputs,
        _friction_reference,
        {"direct": Algorithm(_friction, moves_frames=False)},
    ),
    Function(
        "torque_breakdown",
        "inertial, velocity, gravity and friction torques, one by one",
        joint_vectors("q", "qd", "qdd", drives=True),
        torque_breakdown,
        {"newton_euler": Algorithm(_breakdown, like_torques=True, any_unit=True, sums_angles=True)},
        may_vanish=True,
    ),
)
