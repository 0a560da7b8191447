"""Linearised forward dynamics: algorithms 3 to 6 of Jain1993, tangents and adjoints, as programs."""

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
    slopes_of,
    tangent_matrix,
    torques_of,
)
from tauform.codegen.functions.function import Function, joint_vectors
from tauform.codegen.functions.inertia import forward_system
from tauform.codegen.functions.torques import friction_torques
from tauform.codegen.minimal.tracing import Outputs, Tracer, Tracing
from tauform.codegen.program.graph import Scalar, references
from tauform.description.robot import Robot
from tauform.portable.products import product
from tauform.rigidbody.linearize.forward import (
    linearize_forward,
    linearize_forward_transposed,
    linearize_forward_vector,
)
from tauform.rigidbody.linearize.forward_matrices import forward_matrices, forward_matrices_conventional
from tauform.rigidbody.linearize.forward_vector import forward_vector, forward_vector_conventional
from tauform.rigidbody.sweeps.evaluation import Core


def _driving(tracing: Tracing) -> AnyArray:
    """Torque that is left for the rigid bodies."""
    # tau - friction: what is left accelerates links and rotors.
    return (tracing.inputs["tau"] - np.array(friction_torques(tracing), dtype=object))[:, None]


def _torques_at(tracing: Tracing, qdd: AnyArray) -> tuple[list[Any], dict[int, int]]:
    """Torques of accelerations that count as independent, and the directions in which those do not change."""
    graph = tracing.graph
    # Hidden from the tangents: accelerations would else be differentiated through the mass matrix again.
    held = [graph.hidden(reference) for reference in references(graph, list(qdd))]
    hidden = np.array([Scalar(graph, reference) for reference in held], dtype=object)
    torques = torques_of(tracing, tracing.tree_accelerations(hidden, tracing.inputs["qd"]))
    # A direction of zero: q and qd move, the accelerations stay.
    return torques, dict.fromkeys(held, graph.constant(0.0))


def _forward_matrices_tangent(tracing: Tracing) -> Outputs:
    """dqdd/dq = -M^-1 dtau/dq, dqdd/dqd = -M^-1 dtau/dqd, dqdd/dtau = M^-1."""
    # One factorisation serves accelerations, both derivatives and the inverse.
    system = forward_system(tracing)
    torques, held = _torques_at(tracing, system.accelerations())
    by = {f"d{name}": system.response(-tangent_matrix(torques, tracing.inputs[name], held)) for name in ("q", "qd")}
    return {**by, "dtau": system.inverse()}


def _forward_matrices_composite(tracing: Tracing) -> Outputs:
    """The same with derivatives from composite bodies."""
    system = forward_system(tracing)
    qdd = tracing.tree_accelerations(system.accelerations(), tracing.inputs["qd"])
    by, inverse = composite_derivatives(tracing, qdd), system.inverse()
    # the inverse is there anyhow; without branches it has no zeros that a solution would save
    # A chain: each joint's parent is the one before.
    is_dense = system.parents == tuple(range(-1, len(inverse) - 1))
    changes = {name: product(inverse, by[name]) if is_dense else system.response(by[name]) for name in ("dq", "dqd")}
    return {**{name: -change for name, change in changes.items()}, "dtau": inverse}


def _forward_matrices_wide(tracing: Tracing) -> Outputs:
    system = forward_system(tracing)
    torques, held = _torques_at(tracing, system.accelerations())
    pairs = np.stack([tracing.inputs["q"], tracing.inputs["qd"]], axis=1).ravel()
    columns = tangent_lanes(torques, pairs, held, lambda change: system.response(-change))
    return {"dq": columns[:, 0::2], "dqd": columns[:, 1::2], "dtau": system.inverse()}


def _forward_tangent(tracing: Tracing) -> Outputs:
    """M dqdd = dtau - (dtau/dq dq + dtau/dqd dqd) at the acceleration that tau causes."""
    system = forward_system(tracing)
    torques, held = _torques_at(tracing, system.accelerations())
    change = tangents(torques, {**directions(tracing, "q", "qd"), **held})
    return {"dqdd": system.response(tracing.inputs["dtau"] - np.array(change, dtype=object))}


def _forward_adjoint(tracing: Tracing) -> Outputs:
    """weights^T dqdd/dtau = M^-1 weights by symmetry; with it, minus the gradient of the torques that hold qdd."""
    system = forward_system(tracing)
    # M^-1 is symmetric, so that its transpose needs no second factorisation.
    inner = system.solve(tracing.inputs["weights"])
    # Friction by load leaves a share of each torque; the gradient passes through it.
    inner = inner if system.shares is None else system.shares * inner
    torques, _ = _torques_at(tracing, system.accelerations())
    return {**slopes_of(tracing, torques, -inner, "q", "qd"), "dtau": inner}


def _forward_matrices(core: Core) -> Tracer:
    def trace(tracing: Tracing) -> Outputs:
        # Jain's algorithms for links and rotors, under the torque that friction leaves.
        D = core(tracing.bodies.to_tree(), *joint_columns(tracing, "q", "qd"), _driving(tracing))
        # dqdd = D_q dq + D_qd dqd + D_tau (dtau - friction_q dq - friction_qd dqd)
        # Sum over the torque that friction changes: (n, n, 2, 1) by position and velocity.
        felt = D[:, :, None, 2, None] * friction_slopes_of(tracing)[None, :, :, :2]
        D[:, :, :2] = D[:, :, :2] - felt.sum(axis=1)
        return named_matrices(("dq", "dqd", "dtau"), D, tracing)

    return trace


def _forward_vector(core: Core) -> Tracer:
    def trace(tracing: Tracing) -> Outputs:
        dq, dqd, dtau = (tracing.inputs[name][:, None] for name in ("dq", "dqd", "dtau"))
        slopes = friction_slopes_of(tracing)
        # Friction resists: its change is taken off the torque before the links feel it.
        dtau = dtau - (slopes[:, :, 0] * dq + slopes[:, :, 1] * dqd).sum(axis=1)
        bodies, motion = tracing.bodies.to_tree(), joint_columns(tracing, "q", "qd")
        change = core(bodies, *motion, _driving(tracing), dq, dqd, dtau)
        return {"dqdd": change[:, 0]}

    return trace


def _forward_reference(robot: Robot, q: Any, qd: Any, tau: Any, temperature: Any = None) -> tuple[Array, Array, Array]:
    matrices = linearize_forward(robot, q, qd, tau, temperature=temperature)
    return matrices.dq, matrices.dqd, matrices.dtau


def _forward_vector_reference(
    robot: Robot, q: Any, qd: Any, tau: Any, dq: Any, dqd: Any, dtau: Any, temperature: Any = None
) -> Array:
    return linearize_forward_vector(robot, q, qd, tau, dq, dqd, dtau, temperature=temperature)


def _forward_transposed_reference(robot: Robot, *arrays: Any) -> tuple[Array, Array, Array]:
    vectors = linearize_forward_transposed(robot, *arrays)
    return vectors.dq, vectors.dqd, vectors.dtau


FORWARD_DERIVATIVES = (
    Function(
        "linearize_forward",
        "derivatives of forward dynamics as matrices",
        joint_vectors("q", "qd", "tau", drives=True),
        _forward_reference,
        {
            "composite": minimal(
                _forward_matrices_composite,
                with_load=False,
                with_bending=False,
                wide=_forward_matrices_wide,
            ),
            "tangent": minimal(
                _forward_matrices_tangent,
                wide=_forward_matrices_wide,
            ),
            "algorithm_4": jains(_forward_matrices(forward_matrices_conventional), with_loops=False),
            "algorithm_6": jains(_forward_matrices(forward_matrices), with_loops=False),
        },
        tolerance=1e-8,
    ),
    Function(
        "linearize_forward_vector",
        "change of acceleration under a change of state and torque",
        joint_vectors("q", "qd", "tau", "dq", "dqd", "dtau", drives=True),
        _forward_vector_reference,
        {
            "tangent": minimal(_forward_tangent),
            "algorithm_5": jains(_forward_vector(forward_vector), with_loops=False),
            "algorithm_3": jains(_forward_vector(forward_vector_conventional), with_loops=False),
        },
        tolerance=1e-8,
    ),
    Function(
        "linearize_forward_transposed",
        "gradient of weights . qdd by state and torque: weights times the derivatives of forward dynamics",
        joint_vectors("q", "qd", "tau", "weights", drives=True),
        _forward_transposed_reference,
        {"adjoint": minimal(_forward_adjoint)},
        tolerance=1e-8,
    ),
)
