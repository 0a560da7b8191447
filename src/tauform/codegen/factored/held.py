"""Recursive programs of a closed form whose robot has fixed joints.

Each fixed joint is given a new zero where it is held, so that its turn costs nothing; its velocity and acceleration are
the number zero. Torques keep the rows of these joints: what holds them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.terms.matrices import forward_dynamics
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.functions.function import Algorithm, Function
from tauform.codegen.functions.inertia import minimal_mass_matrix
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.minimal.tracing import Outputs, Tracer, Tracing
from tauform.description.robot import Robot
from tauform.portable.products import product
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

# Algorithms that run on numbers among the joint positions.
ON_NUMBERS = ("newton_euler", "composite", "composite_trace")


def with_zeros_at(robot: Robot, positions: Mapping[str, float]) -> Robot:
    """The same robot, its coordinates zero where they were at these positions."""
    # A fixed joint at zero is a number that folds; at its position it would be a sine of one.
    held = product(robot.tree_rates, np.array([positions.get(name, 0.0) for name in robot.joint_names]))
    old_from_new = [joint.type.motion(position) for joint, position in zip(robot.joints, held.tolist(), strict=True)]
    # Children are mounted on the turned frame; named lengths no longer add up to the translations.
    joints = tuple(
        replace(joint, parent_from_joint=product(old_from_new[joint.parent], joint.parent_from_joint), lengths=())
        if joint.parent >= 0
        else joint
        for joint in robot.joints
    )
    # A link's own frame turns with its joint: what was at the position is now at zero.
    links = tuple(
        replace(link, inertia=link.inertia.moved(motion))
        for link, motion in zip(robot.links, old_from_new, strict=True)
    )
    return replace(robot, joints=joints, links=links, frames=(), tip=None, payload=None, shapes=())


def held_function(n_joints: int, moving: tuple[int, ...], function: str) -> Function:
    """The function on robots whose other joints are fixed at zero."""
    whole = FUNCTIONS[function]
    # Zeros among the inputs: products with them vanish while the program is traced.
    fixed = [i for i in range(n_joints) if i not in moving]
    held = {
        name: replace(algorithm, trace=_held(fixed, algorithm.trace))
        for name, algorithm in whole.algorithms.items()
        if name in ON_NUMBERS
    }
    if function == "forward_dynamics":
        # The articulated sweep accelerates every joint; held ones need a matrix of the others.
        held = {"mass_matrix": Algorithm(_held(fixed, _forward(moving)), any_unit=True)}

    def reference(robot: Robot, *arrays: Array) -> Array:
        states = [_with_zeros(array, fixed) for array in arrays]
        if function == "forward_dynamics":
            q, qd, tau = states
            rest = tau - inverse_dynamics(robot, q, qd, 0 * q)
            return forward_dynamics(np.moveaxis(mass_matrix(robot, q), 0, -1), rest.T, moving).T
        result: Array = np.array(whole.reference(robot, *states))
        if function == "mass_matrix":
            # Nothing tells D_ff, which multiplies accelerations that are zero: the closed form has zeros there.
            result[:, np.ix_(fixed, fixed)[0], np.ix_(fixed, fixed)[1]] = 0.0
        return result

    return replace(whole, reference=reference, algorithms=held)


def _held(fixed: list[int], trace: Tracer) -> Tracer:
    def of_moving(tracing: Tracing) -> Outputs:
        inputs = {name: _with_zeros(values, fixed) for name, values in tracing.inputs.items()}
        outputs = trace(replace(tracing, inputs=inputs))
        if "M" in outputs:
            outputs["M"] = np.array(outputs["M"], dtype=object)
            outputs["M"][np.ix_(fixed, fixed)] = 0.0
        return outputs

    return of_moving


def _with_zeros(values: AnyArray, fixed: list[int]) -> AnyArray:
    zeroed = np.array(values)
    zeroed[..., fixed] = 0.0
    return zeroed


def _forward(moving: tuple[int, ...]) -> Tracer:
    def trace(tracing: Tracing) -> Outputs:
        rigid = rigid_torques(tracing, tracing.joints("qd"))
        bias = np.array([a + b for a, b in zip(rigid, friction_torques(tracing), strict=True)], dtype=object)
        qdd = forward_dynamics(minimal_mass_matrix(tracing), tracing.inputs["tau"] - bias, moving)
        return {"qdd": qdd}

    return trace
