"""Inverse dynamics and its parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.functions.function import Algorithm, Function, joint_vectors
from tauform.codegen.minimal.composite import composites, gravity_torque
from tauform.codegen.minimal.newton_euler import trace as newton_euler
from tauform.codegen.minimal.problem import user_efforts
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.description.robot import Robot
from tauform.rigidbody import friction as friction_of
from tauform.rigidbody.gravity import bias_torque
from tauform.rigidbody.gravity import gravity_torque as textbook_gravity
from tauform.rigidbody.inverse_dynamics import inverse_dynamics


def rigid_torques(
    tracing: Tracing, qd: Any = None, qdd: Any = None, gravity: bool = True, quiet: frozenset[int] = frozenset()
) -> list[Any]:
    """Torques of the tree without friction; a motion that is None is zero, velocities of quiet bodies too."""
    bodies = tracing.bodies if gravity else replace(tracing.bodies, gravity=np.zeros(3))
    still = np.zeros(bodies.n)
    qd, qdd = (still if x is None else x for x in (qd, qdd))
    return newton_euler(bodies, tracing.joints("q"), qd, qdd, tracing.choice.summed, quiet)


def friction_torques(tracing: Tracing) -> list[Any]:
    """Fv qd + Fc sign(qd) + Fo of each joint of the tree."""
    rows = zip(tracing.friction.tolist(), tracing.joints("qd"), strict=True)
    # sign() only where there is a Coulomb term: it is not free
    return [Fv * qd + (Fc * qd.sign() if Fc != 0 else 0.0) + Fo for (Fv, Fc, Fo), qd in rows]


def _inverse(tracing: Tracing) -> Outputs:
    rigid = rigid_torques(tracing, tracing.joints("qd"), tracing.joints("qdd"))
    tau = [a + b for a, b in zip(rigid, friction_torques(tracing), strict=True)]
    return {"tau": user_efforts(tracing.problem.robot, tau)}


def _bias(tracing: Tracing) -> Outputs:
    return {"tau": user_efforts(tracing.problem.robot, rigid_torques(tracing, tracing.joints("qd")))}


def _velocity(tracing: Tracing) -> Outputs:
    torques = rigid_torques(tracing, tracing.joints("qd"), gravity=False)
    return {"tau": user_efforts(tracing.problem.robot, torques)}


def _gravity(tracing: Tracing) -> Outputs:
    return {"tau": user_efforts(tracing.problem.robot, rigid_torques(tracing))}


def _gravity_composite(tracing: Tracing) -> Outputs:
    q = tracing.joints("q")
    torques = gravity_torque(tracing.bodies, q, composites(tracing.bodies, q))
    return {"tau": user_efforts(tracing.problem.robot, torques)}


def _friction(tracing: Tracing) -> Outputs:
    return {"tau": user_efforts(tracing.problem.robot, friction_torques(tracing))}


def _breakdown(tracing: Tracing) -> Outputs:
    parts = {
        "inertial": rigid_torques(tracing, qdd=tracing.joints("qdd"), gravity=False),
        "velocity": rigid_torques(tracing, qd=tracing.joints("qd"), gravity=False),
        "gravity": rigid_torques(tracing),
        "friction": friction_torques(tracing),
    }
    return {name: user_efforts(tracing.problem.robot, part) for name, part in parts.items()}


def velocity_torque(robot: Robot, q: AnyArray, qd: AnyArray) -> Array:
    """Coriolis and centrifugal torque C qd."""
    return bias_torque(robot, q, qd) - textbook_gravity(robot, q)


def torque_breakdown(robot: Robot, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> tuple[Array, Array, Array, Array]:
    """Inertial, velocity, gravity and friction parts of the torque; they add up to inverse dynamics."""
    gravity, friction = textbook_gravity(robot, q), friction_of.friction(robot, qd)
    velocity = velocity_torque(robot, q, qd)
    return inverse_dynamics(robot, q, qd, qdd) - velocity - gravity - friction, velocity, gravity, friction


TORQUES = (
    Function(
        "inverse_dynamics",
        "torques that a motion needs, with the friction that the robot has",
        joint_vectors("q", "qd", "qdd"),
        inverse_dynamics,
        {"newton_euler": Algorithm(_inverse, any_unit=True, sums_angles=True)},
    ),
    Function(
        "bias_torque",
        "Coriolis, centrifugal and gravity torques",
        joint_vectors("q", "qd"),
        bias_torque,
        {"newton_euler": Algorithm(_bias, any_unit=True, sums_angles=True)},
        may_vanish=True,
    ),
    Function(
        "velocity_torque",
        "Coriolis and centrifugal torques",
        joint_vectors("q", "qd"),
        velocity_torque,
        {"newton_euler": Algorithm(_velocity, any_unit=True, sums_angles=True)},
        may_vanish=True,
    ),
    Function(
        "gravity_torque",
        "torques that hold the robot against gravity",
        joint_vectors("q"),
        textbook_gravity,
        {
            "composite": Algorithm(_gravity_composite, any_unit=True),
            "newton_euler": Algorithm(_gravity, any_unit=True, sums_angles=True),
        },
        may_vanish=True,
    ),
    Function(
        "friction",
        "viscous and Coulomb friction and offset",
        joint_vectors("qd"),
        friction_of.friction,
        {"direct": Algorithm(_friction, moves_frames=False)},
    ),
    Function(
        "torque_breakdown",
        "inertial, velocity, gravity and friction torques, one by one",
        joint_vectors("q", "qd", "qdd"),
        torque_breakdown,
        {"newton_euler": Algorithm(_breakdown, like_torques=True, any_unit=True, sums_angles=True)},
        may_vanish=True,
    ),
)
