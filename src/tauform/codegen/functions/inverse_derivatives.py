"""Linearised inverse dynamics: algorithms 1 and 2 of Jain1993, tangents and adjoints, as programs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.differentiation.lanes import tangent_lanes
from tauform.codegen.differentiation.tangent import tangents
from tauform.codegen.functions.derivatives import (
    composite_derivatives,
    directions,
    friction_slopes_of,
    jains,
    joint_columns,
    minimal,
    named_matrices,
    shafts,
    slopes_of,
    tangent_matrix,
    torques_of,
)
from tauform.codegen.functions.function import Function, joint_vectors
from tauform.codegen.functions.inertia import minimal_mass_matrix
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.description.robot import Robot
from tauform.rigidbody.linearize.inverse import (
    linearize_inverse,
    linearize_inverse_transposed,
    linearize_inverse_vector,
)
from tauform.rigidbody.linearize.inverse_matrices import inverse_matrices
from tauform.rigidbody.linearize.inverse_vector import inverse_vector
from tauform.rigidbody.load import has_load


def _inverse_matrices(tracing: Tracing) -> Outputs:
    # On bodies whose frames were moved: torques do not notice, and operations are saved.
    D = inverse_matrices(tracing.bodies.to_tree(), *joint_columns(tracing, "q", "qd", "qdd")) + friction_slopes_of(
        tracing
    )
    # Coupled rotors add to dtau/dqdd alone: their torque is linear in qdd.
    D[:, :, 2] = D[:, :, 2] + shafts(tracing)
    return named_matrices(("dq", "dqd", "dqdd"), D, tracing)


def _inverse_matrices_composite(tracing: Tracing) -> Outputs:
    """Composite bodies in their own frames."""
    return composite_derivatives(tracing, tracing.joints("qdd"))


def _inverse_vector(tracing: Tracing) -> Outputs:
    columns = joint_columns(tracing, "q", "qd", "qdd", "dq", "dqd", "dqdd")
    # Rotors are part of the bodies; friction and shared shafts are added in the robot's own frames.
    slopes, (dq, dqd, dqdd) = friction_slopes_of(tracing), columns[3:]
    change = inverse_vector(tracing.bodies.to_tree(), *columns) + (shafts(tracing) * dqdd).sum(axis=1)
    change = change + (slopes[:, :, 0] * dq + slopes[:, :, 1] * dqd).sum(axis=1)
    return {"dtau": tracing.efforts(change[:, 0].tolist())}


def _inverse_tangent(tracing: Tracing) -> Outputs:
    """The minimal Newton-Euler program and its derivative along (dq, dqd, dqdd)."""
    # Differentiated as a program: products that the function makes serve its derivative too.
    torques = torques_of(tracing, tracing.joints("qdd"))
    return {"dtau": tangents(torques, directions(tracing, "q", "qd", "qdd"))}


def _by_acceleration(tracing: Tracing, torques: list[Any]) -> AnyArray:
    """The mass matrix, unless friction grows with the torque that an acceleration needs."""
    # Load friction adds |tau| to the torque, which then has a slope by qdd of its own.
    if has_load(tracing.problem.robot.tree):
        return tangent_matrix(torques, tracing.inputs["qdd"], {})
    return minimal_mass_matrix(tracing)


def _inverse_matrices_tangent(tracing: Tracing) -> Outputs:
    torques = torques_of(tracing, tracing.joints("qdd"))
    by = {f"d{name}": tangent_matrix(torques, tracing.inputs[name], {}) for name in ("q", "qd")}
    return {**by, "dqdd": _by_acceleration(tracing, torques)}


def _inverse_matrices_wide(tracing: Tracing) -> Outputs:
    torques = torques_of(tracing, tracing.joints("qdd"))
    # A joint's position and velocity move the same bodies: beside each other they leave more vectors zero.
    pairs = np.stack([tracing.inputs["q"], tracing.inputs["qd"]], axis=1).ravel()
    # Four columns at once in the lanes of a vector.
    columns = tangent_lanes(torques, pairs, {})
    # Positions and velocities stood in turns: even columns are dq, odd ones dqd.
    return {"dq": columns[:, 0::2], "dqd": columns[:, 1::2], "dqdd": _by_acceleration(tracing, torques)}


def _inverse_adjoint(tracing: Tracing) -> Outputs:
    """Gradient of weights . tau by one sweep back through the minimal Newton-Euler program."""
    return slopes_of(tracing, torques_of(tracing, tracing.joints("qdd")), tracing.inputs["weights"], "q", "qd", "qdd")


def _inverse_reference(robot: Robot, *arrays: Any) -> tuple[Array, Array, Array]:
    matrices = linearize_inverse(robot, *arrays)
    return matrices.dq, matrices.dqd, matrices.dqdd


def _inverse_transposed_reference(robot: Robot, *arrays: Any) -> tuple[Array, Array, Array]:
    vectors = linearize_inverse_transposed(robot, *arrays)
    return vectors.dq, vectors.dqd, vectors.dqdd


INVERSE_DERIVATIVES = (
    Function(
        "linearize_inverse",
        "derivatives of inverse dynamics as matrices",
        joint_vectors("q", "qd", "qdd", drives=True),
        _inverse_reference,
        {
            "composite": minimal(
                # Load friction and bending loops have no composite form; the tangents take over.
                _inverse_matrices_composite,
                with_load=False,
                with_bending=False,
                wide=_inverse_matrices_wide,
            ),
            "tangent": minimal(
                _inverse_matrices_tangent,
                wide=_inverse_matrices_wide,
            ),
            "algorithm_2": jains(_inverse_matrices, with_load=False, with_bending=False),
        },
        tolerance=1e-11,
    ),
    Function(
        "linearize_inverse_vector",
        "change of torque under a change of motion",
        joint_vectors("q", "qd", "qdd", "dq", "dqd", "dqdd", drives=True),
        linearize_inverse_vector,
        {
            "tangent": minimal(_inverse_tangent),
            "algorithm_1": jains(_inverse_vector, with_load=False, with_bending=False),
        },
        tolerance=1e-11,
    ),
    Function(
        "linearize_inverse_transposed",
        "gradient of weights . tau by the motion: weights times the derivatives of inverse dynamics",
        joint_vectors("q", "qd", "qdd", "weights", drives=True),
        _inverse_transposed_reference,
        {"adjoint": minimal(_inverse_adjoint)},
        tolerance=1e-11,
    ),
)
