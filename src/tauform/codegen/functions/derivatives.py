"""Linearised dynamics: the algorithms of Jain1993 as programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.differentiation.adjoint import adjoints
from tauform.codegen.differentiation.lanes import tangent_lanes
from tauform.codegen.differentiation.tangent import tangents
from tauform.codegen.functions.function import Algorithm, Function, joint_vectors
from tauform.codegen.functions.inertia import forward_system, minimal_mass_matrix
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.minimal.derivatives import inverse_derivatives
from tauform.codegen.minimal.tracing import Outputs, Tracer, Tracing
from tauform.codegen.program.graph import Scalar, references
from tauform.description.robot import Robot
from tauform.portable.products import product
from tauform.rigidbody.drives import coupled_inertia, friction_slopes
from tauform.rigidbody.linearize.forward import (
    linearize_forward,
    linearize_forward_transposed,
    linearize_forward_vector,
)
from tauform.rigidbody.linearize.forward_matrices import forward_matrices, forward_matrices_conventional
from tauform.rigidbody.linearize.forward_vector import forward_vector, forward_vector_conventional
from tauform.rigidbody.linearize.inverse import (
    linearize_inverse,
    linearize_inverse_transposed,
    linearize_inverse_vector,
)
from tauform.rigidbody.linearize.inverse_matrices import inverse_matrices
from tauform.rigidbody.linearize.inverse_vector import inverse_vector
from tauform.rigidbody.load import has_load

Core = Callable[..., AnyArray]


def _friction_slopes(tracing: Tracing) -> AnyArray:
    """(n, n, 3, 1) derivatives of the drive terms but rotors, which see the robot's own frames."""
    return friction_slopes(tracing.drive_tree, tracing.drive_state())


def _shafts(tracing: Tracing) -> AnyArray:
    """(n, n, 1) coupled rotors, which the moved bodies do not hold."""
    return coupled_inertia(tracing.drive_tree)


def _columns(tracing: Tracing, *names: str) -> list[AnyArray]:
    # A batch of one state: Jain's textbook algorithms take arrays (n, N).
    return [tracing.angles() if name == "q" else tracing.joints(name)[:, None] for name in names]


def _driving(tracing: Tracing) -> AnyArray:
    """Torque that is left for the rigid bodies."""
    # tau - friction: what is left accelerates links and rotors.
    return (tracing.inputs["tau"] - np.array(friction_torques(tracing), dtype=object))[:, None]


def _matrices(names: tuple[str, str, str], stacked: AnyArray, tracing: Tracing) -> Outputs:
    # stacked: (n, n, 3, 1), the third index being dq, dqd, dqdd or dtau.
    return {name: tracing.matrix(stacked[:, :, k, 0]) for k, name in enumerate(names)}


def _inverse_matrices(tracing: Tracing) -> Outputs:
    # On bodies whose frames were moved: torques do not notice, and operations are saved.
    D = inverse_matrices(tracing.bodies.to_tree(), *_columns(tracing, "q", "qd", "qdd")) + _friction_slopes(tracing)
    # Coupled rotors add to dtau/dqdd alone: their torque is linear in qdd.
    D[:, :, 2] = D[:, :, 2] + _shafts(tracing)
    return _matrices(("dq", "dqd", "dqdd"), D, tracing)


def _inverse_matrices_composite(tracing: Tracing) -> Outputs:
    """Composite bodies in their own frames."""
    return _composite_derivatives(tracing, tracing.joints("qdd"))


def _composite_derivatives(tracing: Tracing, qdd: AnyArray) -> Outputs:
    motion = tracing.joints("q"), tracing.joints("qd"), qdd
    D = inverse_derivatives(tracing.bodies, *motion, tracing.choice.summed)[..., None] + _friction_slopes(tracing)
    D[:, :, 2] = D[:, :, 2] + _shafts(tracing)
    return _matrices(("dq", "dqd", "dqdd"), D, tracing)


def _inverse_vector(tracing: Tracing) -> Outputs:
    columns = _columns(tracing, "q", "qd", "qdd", "dq", "dqd", "dqdd")
    # Rotors are part of the bodies; friction and shared shafts are added in the robot's own frames.
    slopes, (dq, dqd, dqdd) = _friction_slopes(tracing), columns[3:]
    change = inverse_vector(tracing.bodies.to_tree(), *columns) + (_shafts(tracing) * dqdd).sum(axis=1)
    change = change + (slopes[:, :, 0] * dq + slopes[:, :, 1] * dqd).sum(axis=1)
    return {"dtau": tracing.efforts(change[:, 0].tolist())}


def _inverse_tangent(tracing: Tracing) -> Outputs:
    """The minimal Newton-Euler program and its derivative along (dq, dqd, dqdd)."""
    # Differentiated as a program: products that the function makes serve its derivative too.
    torques = _torques(tracing, tracing.joints("qdd"))
    return {"dtau": tangents(torques, _directions(tracing, "q", "qd", "qdd"))}


def _torques(tracing: Tracing, qdd: AnyArray) -> list[Any]:
    """Torques of inverse dynamics; signs have no tangent, so that sharp friction takes no part in the derivatives."""
    rigid = rigid_torques(tracing, tracing.joints("qd"), qdd)
    friction = friction_torques(tracing, rigid)
    total: list[Any] = tracing.efforts([a + b for a, b in zip(rigid, friction, strict=True)]).tolist()
    return total


def _directions(tracing: Tracing, *names: str) -> dict[int, int]:
    return {
        # Each input's value belongs to the direction in which it moves.
        scalar.reference: change.reference
        for name in names
        for scalar, change in zip(tracing.inputs[name], tracing.inputs[f"d{name}"], strict=True)
    }


def _tangent_matrix(torques: list[Any], inputs: AnyArray, held: dict[int, int]) -> AnyArray:
    """d torques / d inputs, one tangent per column."""
    # Columns share all of the function's own values: the graph makes each once.
    one = inputs[0].graph.constant(1.0)
    columns = [tangents(torques, {**held, scalar.reference: one}) for scalar in inputs]
    return np.array(columns, dtype=object).T


def _by_acceleration(tracing: Tracing, torques: list[Any]) -> AnyArray:
    """The mass matrix, unless friction grows with the torque that an acceleration needs."""
    # Load friction adds |tau| to the torque, which then has a slope by qdd of its own.
    if has_load(tracing.problem.robot.tree):
        return _tangent_matrix(torques, tracing.inputs["qdd"], {})
    return minimal_mass_matrix(tracing)


def _inverse_matrices_tangent(tracing: Tracing) -> Outputs:
    torques = _torques(tracing, tracing.joints("qdd"))
    by = {f"d{name}": _tangent_matrix(torques, tracing.inputs[name], {}) for name in ("q", "qd")}
    return {**by, "dqdd": _by_acceleration(tracing, torques)}


def _inverse_matrices_wide(tracing: Tracing) -> Outputs:
    torques = _torques(tracing, tracing.joints("qdd"))
    # A joint's position and velocity move the same bodies: beside each other they leave more vectors zero.
    pairs = np.stack([tracing.inputs["q"], tracing.inputs["qd"]], axis=1).ravel()
    # Four columns at once in the lanes of a vector.
    columns = tangent_lanes(torques, pairs, {})
    # Positions and velocities stood in turns: even columns are dq, odd ones dqd.
    return {"dq": columns[:, 0::2], "dqd": columns[:, 1::2], "dqdd": _by_acceleration(tracing, torques)}


def _torques_at(tracing: Tracing, qdd: AnyArray) -> tuple[list[Any], dict[int, int]]:
    """Torques of accelerations that count as independent, and the directions in which those do not change."""
    graph = tracing.graph
    # Hidden from the tangents: accelerations would else be differentiated through the mass matrix again.
    held = [graph.hidden(reference) for reference in references(graph, list(qdd))]
    hidden = np.array([Scalar(graph, reference) for reference in held], dtype=object)
    torques = _torques(tracing, tracing.tree_accelerations(hidden, tracing.inputs["qd"]))
    # A direction of zero: q and qd move, the accelerations stay.
    return torques, dict.fromkeys(held, graph.constant(0.0))


def _forward_matrices_tangent(tracing: Tracing) -> Outputs:
    """dqdd/dq = -M^-1 dtau/dq, dqdd/dqd = -M^-1 dtau/dqd, dqdd/dtau = M^-1."""
    # One factorisation serves accelerations, both derivatives and the inverse.
    system = forward_system(tracing)
    torques, held = _torques_at(tracing, system.accelerations())
    by = {f"d{name}": system.response(-_tangent_matrix(torques, tracing.inputs[name], held)) for name in ("q", "qd")}
    return {**by, "dtau": system.inverse()}


def _forward_matrices_composite(tracing: Tracing) -> Outputs:
    """The same with derivatives from composite bodies."""
    system = forward_system(tracing)
    qdd = tracing.tree_accelerations(system.accelerations(), tracing.inputs["qd"])
    by, inverse = _composite_derivatives(tracing, qdd), system.inverse()
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
    change = tangents(torques, {**_directions(tracing, "q", "qd"), **held})
    return {"dqdd": system.response(tracing.inputs["dtau"] - np.array(change, dtype=object))}


def _inverse_adjoint(tracing: Tracing) -> Outputs:
    """Gradient of weights . tau by one sweep back through the minimal Newton-Euler program."""
    return _slopes(tracing, _torques(tracing, tracing.joints("qdd")), tracing.inputs["weights"], "q", "qd", "qdd")


def _forward_adjoint(tracing: Tracing) -> Outputs:
    """weights^T dqdd/dtau = M^-1 weights by symmetry; with it, minus the gradient of the torques that hold qdd."""
    system = forward_system(tracing)
    # M^-1 is symmetric, so that its transpose needs no second factorisation.
    inner = system.solve(tracing.inputs["weights"])
    # Friction by load leaves a share of each torque; the gradient passes through it.
    inner = inner if system.shares is None else system.shares * inner
    torques, _ = _torques_at(tracing, system.accelerations())
    return {**_slopes(tracing, torques, -inner, "q", "qd"), "dtau": inner}


def _slopes(tracing: Tracing, torques: list[Any], weights: AnyArray, *names: str) -> Outputs:
    inputs = [scalar for name in names for scalar in tracing.inputs[name]]
    # One sweep back through the program gives all inputs' slopes, whatever their number.
    found = adjoints(torques, list(weights), inputs)
    n = len(tracing.inputs[names[0]])
    return {f"d{name}": np.array(found[k * n : (k + 1) * n], dtype=object) for k, name in enumerate(names)}


def _forward_matrices(core: Core) -> Tracer:
    def trace(tracing: Tracing) -> Outputs:
        # Jain's algorithms for links and rotors, under the torque that friction leaves.
        D = core(tracing.bodies.to_tree(), *_columns(tracing, "q", "qd"), _driving(tracing))
        # dqdd = D_q dq + D_qd dqd + D_tau (dtau - friction_q dq - friction_qd dqd)
        # Sum over the torque that friction changes: (n, n, 2, 1) by position and velocity.
        felt = D[:, :, None, 2, None] * _friction_slopes(tracing)[None, :, :, :2]
        D[:, :, :2] = D[:, :, :2] - felt.sum(axis=1)
        return _matrices(("dq", "dqd", "dtau"), D, tracing)

    return trace


def _forward_vector(core: Core) -> Tracer:
    def trace(tracing: Tracing) -> Outputs:
        dq, dqd, dtau = (tracing.inputs[name][:, None] for name in ("dq", "dqd", "dtau"))
        slopes = _friction_slopes(tracing)
        # Friction resists: its change is taken off the torque before the links feel it.
        dtau = dtau - (slopes[:, :, 0] * dq + slopes[:, :, 1] * dqd).sum(axis=1)
        bodies, motion = tracing.bodies.to_tree(), _columns(tracing, "q", "qd")
        change = core(bodies, *motion, _driving(tracing), dq, dqd, dtau)
        return {"dqdd": change[:, 0]}

    return trace


def _inverse_reference(robot: Robot, *arrays: Any) -> tuple[Array, Array, Array]:
    matrices = linearize_inverse(robot, *arrays)
    return matrices.dq, matrices.dqd, matrices.dqdd


def _forward_reference(robot: Robot, q: Any, qd: Any, tau: Any, temperature: Any = None) -> tuple[Array, Array, Array]:
    matrices = linearize_forward(robot, q, qd, tau, temperature=temperature)
    return matrices.dq, matrices.dqd, matrices.dtau


def _forward_vector_reference(
    robot: Robot, q: Any, qd: Any, tau: Any, dq: Any, dqd: Any, dtau: Any, temperature: Any = None
) -> Array:
    return linearize_forward_vector(robot, q, qd, tau, dq, dqd, dtau, temperature=temperature)


def _inverse_transposed_reference(robot: Robot, *arrays: Any) -> tuple[Array, Array, Array]:
    vectors = linearize_inverse_transposed(robot, *arrays)
    return vectors.dq, vectors.dqd, vectors.dqdd


def _forward_transposed_reference(robot: Robot, *arrays: Any) -> tuple[Array, Array, Array]:
    vectors = linearize_forward_transposed(robot, *arrays)
    return vectors.dq, vectors.dqd, vectors.dtau


DERIVATIVES = (
    Function(
        "linearize_inverse",
        "derivatives of inverse dynamics as matrices",
        joint_vectors("q", "qd", "qdd", drives=True),
        _inverse_reference,
        {
            "composite": Algorithm(
                # Load friction and bending loops have no composite form; the tangents take over.
                _inverse_matrices_composite,
                like_torques=True,
                any_unit=True,
                sums_angles=True,
                with_load=False,
                with_bending=False,
                wide=_inverse_matrices_wide,
            ),
            "tangent": Algorithm(
                _inverse_matrices_tangent,
                like_torques=True,
                any_unit=True,
                sums_angles=True,
                wide=_inverse_matrices_wide,
            ),
            "algorithm_2": Algorithm(_inverse_matrices, like_torques=True, with_load=False, with_bending=False),
        },
        tolerance=1e-11,
    ),
    Function(
        "linearize_inverse_vector",
        "change of torque under a change of motion",
        joint_vectors("q", "qd", "qdd", "dq", "dqd", "dqdd", drives=True),
        linearize_inverse_vector,
        {
            "tangent": Algorithm(_inverse_tangent, like_torques=True, any_unit=True, sums_angles=True),
            "algorithm_1": Algorithm(_inverse_vector, like_torques=True, with_load=False, with_bending=False),
        },
        tolerance=1e-11,
    ),
    Function(
        "linearize_forward",
        "derivatives of forward dynamics as matrices",
        joint_vectors("q", "qd", "tau", drives=True),
        _forward_reference,
        {
            "composite": Algorithm(
                _forward_matrices_composite,
                like_torques=True,
                any_unit=True,
                sums_angles=True,
                with_load=False,
                with_bending=False,
                wide=_forward_matrices_wide,
            ),
            "tangent": Algorithm(
                _forward_matrices_tangent,
                like_torques=True,
                any_unit=True,
                sums_angles=True,
                wide=_forward_matrices_wide,
            ),
            "algorithm_4": Algorithm(
                _forward_matrices(forward_matrices_conventional), like_torques=True, with_loops=False
            ),
            "algorithm_6": Algorithm(_forward_matrices(forward_matrices), like_torques=True, with_loops=False),
        },
        tolerance=1e-8,
    ),
    Function(
        "linearize_forward_vector",
        "change of acceleration under a change of state and torque",
        joint_vectors("q", "qd", "tau", "dq", "dqd", "dtau", drives=True),
        _forward_vector_reference,
        {
            "tangent": Algorithm(_forward_tangent, like_torques=True, any_unit=True, sums_angles=True),
            "algorithm_5": Algorithm(_forward_vector(forward_vector), like_torques=True, with_loops=False),
            "algorithm_3": Algorithm(_forward_vector(forward_vector_conventional), like_torques=True, with_loops=False),
        },
        tolerance=1e-8,
    ),
    Function(
        "linearize_inverse_transposed",
        "gradient of weights . tau by the motion: weights times the derivatives of inverse dynamics",
        joint_vectors("q", "qd", "qdd", "weights", drives=True),
        _inverse_transposed_reference,
        {"adjoint": Algorithm(_inverse_adjoint, like_torques=True, any_unit=True, sums_angles=True)},
        tolerance=1e-11,
    ),
    Function(
        "linearize_forward_transposed",
        "gradient of weights . qdd by state and torque: weights times the derivatives of forward dynamics",
        joint_vectors("q", "qd", "tau", "weights", drives=True),
        _forward_transposed_reference,
        {"adjoint": Algorithm(_forward_adjoint, like_torques=True, any_unit=True, sums_angles=True)},
        tolerance=1e-8,
    ),
)
