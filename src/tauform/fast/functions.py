"""Public functions as functions that kernels are made of; most are those that programs are generated for.

The others have more columns, other frames, or results that no controller needs in C.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.functions import FUNCTIONS, Algorithm, Function
from tauform.codegen.functions.function import joint_vectors
from tauform.codegen.functions.inertia import forward_system, minimal_mass_matrix
from tauform.codegen.functions.matrices import reference_columns, regressor_columns
from tauform.codegen.functions.torques import rigid_torques
from tauform.codegen.minimal.tracing import Outputs, Tracer, Tracing
from tauform.description.robot import Robot
from tauform.rigidbody import energy, kinematics
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.regressor import chosen_columns, regressor, slotine_li_regressor
from tauform.rigidbody.sweeps.base_frame import base_placements
from tauform.rigidbody.sweeps.factorization import factorize
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.pivots import PIVOT_TOLERANCE, named_pivots

Build = Callable[..., Function]
# The output that says whether a mass matrix is positive definite.
PIVOTS = "pivots"


def function_of(name: str, options: dict[str, Any]) -> Function:
    """Function that a kernel of this public function computes under these options."""
    build = _BUILD.get(name)
    return FUNCTIONS[name] if build is None else build(**options)


def with_pivots(function: Function) -> Function:
    """A function that solves with the mass matrix, and how far each pivot is from one that is refused."""
    name, algorithm = next(iter(function.algorithms.items()))

    def trace(tracing: Tracing) -> Outputs:
        # Textbook functions refuse pivots below this share of the diagonal: what is left must be positive.
        pivots = np.diag(forward_system(tracing).factors) - PIVOT_TOLERANCE * np.diag(minimal_mass_matrix(tracing))
        return {**algorithm.trace(tracing), PIVOTS: pivots}

    def reference(robot: Robot, q: AnyArray, *others: AnyArray, **wrenches: Any) -> tuple[AnyArray, ...]:
        M = np.moveaxis(mass_matrix(robot, q), (-2, -1), (0, 1))
        # A singular matrix is told by the link's name, as in the public function.
        with named_pivots(robot):
            # As a chain, which covers trees, loops and shared shafts alike.
            factors = factorize(M, tuple(range(-1, len(M) - 1)))
        pivots = [factors[k, k] - PIVOT_TOLERANCE * M[k, k] for k in range(len(M))]
        results = function.reference(robot, q, *others, **wrenches)
        return (*(results if isinstance(results, tuple) else (results,)), np.stack(pivots, axis=-1))

    # Vectorised forms of the function know nothing of the further output.
    return replace(function, reference=reference, algorithms={name: replace(algorithm, trace=trace, wide=None)})


def _function(name: str, inputs: Any, reference: Any, trace: Tracer, may_vanish: bool = False) -> Function:
    return Function(name, name, inputs, reference, {"direct": Algorithm(trace, False)}, may_vanish=may_vanish)


def _regressor(include: tuple[str, ...] | str | None = None) -> Function:
    def trace(tracing: Tracing) -> Outputs:
        return {"Y": _user_columns(tracing, regressor_columns(tracing), include)}

    def reference(robot: Robot, q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: Any = None) -> AnyArray:
        return regressor(robot, q, qd, qdd, include, temperature)  # type: ignore[arg-type]

    return _function("regressor", joint_vectors("q", "qd", "qdd", drives=True), reference, trace)


def _slotine_li(include: tuple[str, ...] | str | None = None) -> Function:
    def trace(tracing: Tracing) -> Outputs:
        return {"Y": _user_columns(tracing, reference_columns(tracing), include)}

    def reference(robot: Robot, q: Any, qd: Any, qd_r: Any, qdd_r: Any, temperature: Any = None) -> AnyArray:
        return slotine_li_regressor(robot, q, qd, qd_r, qdd_r, include, temperature)  # type: ignore[arg-type]

    inputs = joint_vectors("q", "qd", "qd_r", "qdd_r", drives=True)
    return _function("slotine_li_regressor", inputs, reference, trace)


def _user_columns(tracing: Tracing, Y: AnyArray, include: Any) -> AnyArray:
    robot = tracing.problem.robot
    # Columns of the tree's parameters; the last axis is a batch of one.
    chosen = Y[:, chosen_columns(robot, include), 0]
    return np.array([tracing.efforts(column) for column in chosen.T], dtype=object).T


def _placement(frame: str | None = None) -> Function:
    if frame is None:
        return FUNCTIONS["forward_kinematics"]

    def trace(tracing: Tracing) -> Outputs:
        tree, q = tracing.problem.robot.tree, tracing.joints("q")[:, None]
        placed = kinematics.frame_placement(tree, q, tracing.problem.robot.frame(frame))
        return {"T": kinematics.homogeneous(placed)[..., 0]}

    def reference(robot: Robot, q: AnyArray) -> AnyArray:
        return kinematics.forward_kinematics(robot, q, frame)

    return _function("forward_kinematics", joint_vectors("q"), reference, trace)


def _links() -> Function:
    def trace(tracing: Tracing) -> Outputs:
        tree = tracing.problem.robot.tree
        placements = base_placements(tree, transforms_of(tree, tracing.joints("q")[:, None]))
        return {"T": np.stack([kinematics.homogeneous(X)[..., 0] for X in placements])}

    return _function("link_placements", joint_vectors("q"), kinematics.link_placements, trace)


def _jacobian(frame: str | None = None, axes: Any = "world") -> Function:
    def trace(tracing: Tracing) -> Outputs:
        robot = tracing.problem.robot
        place = robot.tool if frame is None else robot.frame(frame)
        J = kinematics.frame_jacobian(robot.tree, tracing.joints("q")[:, None], place, axes == "local")[..., 0]
        # Rows of J take the place of torques: both pass to the user's coordinates by the transpose of the closure.
        return {"J": np.array([tracing.efforts(row) for row in J], dtype=object)}

    def reference(robot: Robot, q: AnyArray) -> AnyArray:
        return kinematics.jacobian(robot, q, frame, axes)

    # A fixed axis gives entries of J that are zero at every state.
    return _function("jacobian", joint_vectors("q"), reference, trace, may_vanish=True)


def _kinetic() -> Function:
    def trace(tracing: Tracing) -> Outputs:
        # E = qd . p / 2 with p = M qd, the torque of an acceleration qd at rest, without weight
        torques = rigid_torques(tracing, qdd=tracing.joints("qd"), gravity=False)
        momentum = tracing.efforts(torques)
        return {"energy": np.array([0.5 * (momentum * tracing.inputs["qd"]).sum()], dtype=object)}

    def reference(robot: Robot, q: AnyArray, qd: AnyArray) -> AnyArray:
        return energy.kinetic_energy(robot, q, qd)[..., None]

    return _function("kinetic_energy", joint_vectors("q", "qd"), reference, trace)


def _potential() -> Function:
    def trace(tracing: Tracing) -> Outputs:
        tree, q = tracing.problem.robot.tree, tracing.joints("q")[:, None]
        return {"energy": energy.weighted(tree, energy.potential_functions(tree, q))}

    def reference(robot: Robot, q: AnyArray) -> AnyArray:
        return energy.potential_energy(robot, q)[..., None]

    return _function("potential_energy", joint_vectors("q"), reference, trace, may_vanish=True)


def _energy_regressor(energy: Any = "total") -> Function:
    from tauform.rigidbody.energy import energy_functions, energy_regressor

    def trace(tracing: Tracing) -> Outputs:
        q, qd = (tracing.joints(name)[:, None] for name in ("q", "qd"))
        return {"h": energy_functions(tracing.problem.robot.tree, q, qd, energy)[:, 0]}

    def reference(robot: Robot, q: AnyArray, qd: AnyArray) -> AnyArray:
        return energy_regressor(robot, q, qd, energy)

    return _function("energy_regressor", joint_vectors("q", "qd"), reference, trace)


_BUILD: dict[str, Build] = {
    "regressor": _regressor,
    "slotine_li_regressor": _slotine_li,
    "forward_kinematics": _placement,
    "link_placements": _links,
    "jacobian": _jacobian,
    "kinetic_energy": _kinetic,
    "potential_energy": _potential,
    "energy_regressor": _energy_regressor,
}
