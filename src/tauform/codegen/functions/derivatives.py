"""Linearised dynamics as programs: what those of inverse and of forward dynamics share."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.differentiation.adjoint import adjoints
from tauform.codegen.differentiation.tangent import tangents
from tauform.codegen.functions.function import Algorithm
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.minimal.derivatives import inverse_derivatives
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.rigidbody.drives import coupled_inertia, friction_slopes

# The algorithms of Jain1993 as they are written: a search prices inverse dynamics, whose optimum is near.
jains = partial(Algorithm, like_torques=True)
# Tracers on the minimal bodies, which may have any unit of length and turn by sums of angles.
minimal = partial(jains, any_unit=True, sums_angles=True)


def friction_slopes_of(tracing: Tracing) -> AnyArray:
    """(n, n, 3, 1) derivatives of the drive terms but rotors, which see the robot's own frames."""
    return friction_slopes(tracing.drive_tree, tracing.drive_state())


def shafts(tracing: Tracing) -> AnyArray:
    """(n, n, 1) coupled rotors, which the moved bodies do not hold."""
    return coupled_inertia(tracing.drive_tree)


def joint_columns(tracing: Tracing, *names: str) -> list[AnyArray]:
    """(n, 1) columns of inputs."""
    # A batch of one state: Jain's textbook algorithms take arrays (n, N).
    return [tracing.angles() if name == "q" else tracing.joints(name)[:, None] for name in names]


def named_matrices(names: tuple[str, str, str], stacked: AnyArray, tracing: Tracing) -> Outputs:
    """Stacked derivatives as one output each."""
    # stacked: (n, n, 3, 1), the third index being dq, dqd, dqdd or dtau.
    return {name: tracing.matrix(stacked[:, :, k, 0]) for k, name in enumerate(names)}


def composite_derivatives(tracing: Tracing, qdd: AnyArray) -> Outputs:
    """Derivatives of torque from composite bodies in their own frames."""
    motion = tracing.joints("q"), tracing.joints("qd"), qdd
    D = inverse_derivatives(tracing.bodies, *motion, tracing.choice.summed)[..., None] + friction_slopes_of(tracing)
    D[:, :, 2] = D[:, :, 2] + shafts(tracing)
    return named_matrices(("dq", "dqd", "dqdd"), D, tracing)


def torques_of(tracing: Tracing, qdd: AnyArray) -> list[Any]:
    """Torques of inverse dynamics; signs have no tangent, so that sharp friction takes no part in the derivatives."""
    rigid = rigid_torques(tracing, tracing.joints("qd"), qdd)
    friction = friction_torques(tracing, rigid)
    total: list[Any] = tracing.efforts([a + b for a, b in zip(rigid, friction, strict=True)]).tolist()
    return total


def directions(tracing: Tracing, *names: str) -> dict[int, int]:
    """Reference of each input -> that of its change."""
    return {
        # Each input's value belongs to the direction in which it moves.
        scalar.reference: change.reference
        for name in names
        for scalar, change in zip(tracing.inputs[name], tracing.inputs[f"d{name}"], strict=True)
    }


def tangent_matrix(torques: list[Any], inputs: AnyArray, held: dict[int, int]) -> AnyArray:
    """d torques / d inputs, one tangent per column."""
    # Columns share all of the function's own values: the graph makes each once.
    one = inputs[0].graph.constant(1.0)
    columns = [tangents(torques, {**held, scalar.reference: one}) for scalar in inputs]
    return np.array(columns, dtype=object).T


def slopes_of(tracing: Tracing, torques: list[Any], weights: AnyArray, *names: str) -> Outputs:
    """Gradients of weights . torques by the named inputs."""
    inputs = [scalar for name in names for scalar in tracing.inputs[name]]
    # One sweep back through the program gives all inputs' slopes, whatever their number.
    found = adjoints(torques, list(weights), inputs)
    n = len(tracing.inputs[names[0]])
    return {f"d{name}": np.array(found[k * n : (k + 1) * n], dtype=object) for k, name in enumerate(names)}
