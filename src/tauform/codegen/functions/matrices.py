"""Coriolis matrix, regressors, kinematics."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.base.regressor import base_columns, base_regressor, declared_base
from tauform.codegen.functions.function import Algorithm, Function, joint_vectors
from tauform.codegen.functions.torques import rigid_torques
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.description.robot import GeneralClosure, Robot
from tauform.rigidbody.coriolis import christoffel, coriolis_matrix
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.kinematics import (
    forward_kinematics,
    frame_jacobian,
    frame_placement,
    jacobian,
)
from tauform.rigidbody.load import has_load
from tauform.rigidbody.regressor import (
    inverse_regressor,
    reference_regressor,
    reference_torque,
    slotine_li_regressor,
)


def base_slotine_li_regressor(
    robot: Robot, q: AnyArray, qd: AnyArray, qd_r: AnyArray, qdd_r: AnyArray, *temperature: AnyArray
) -> Array:
    """The base columns of the regressor with reference velocities."""
    return slotine_li_regressor(robot, q, qd, qd_r, qdd_r, None, *temperature)[..., base_columns(robot)]


def _columns_of(tracing: Tracing, Y: AnyArray) -> AnyArray:
    robot = tracing.problem.robot
    # Columns of the base parameters' pivots; the others are not even computed: nobody reads them.
    chosen = Y[:, base_columns(robot), 0]
    # One column per parameter: efforts of the tree's joints become those of q.
    return np.array([tracing.efforts(column) for column in chosen.T], dtype=object).T


def regressor_columns(tracing: Tracing) -> AnyArray:
    """(n, n_parameters, 1) regressor of the tree; parameters belong to the robot's own frames, so frames stay."""
    tree = tracing.problem.robot.tree
    q, qd, qdd = (tracing.joints(name)[:, None] for name in ("q", "qd", "qdd"))
    # Load friction makes columns that depend on the torque itself.
    carried = rigid_torques(tracing, qd[:, 0], qdd[:, 0]) if has_load(tree) else None
    state = tracing.drive_state(carried)
    return inverse_regressor(tree, q, qd, qdd, state.temperature, state.carried)


def reference_columns(tracing: Tracing) -> AnyArray:
    """(n, n_parameters, 1) the same with reference velocities."""
    tree = tracing.problem.robot.tree
    q, qd, qd_r, qdd_r = (tracing.joints(name)[:, None] for name in ("q", "qd", "qd_r", "qdd_r"))
    carried = reference_torque(tree, q, qd, qd_r, qdd_r)[:, 0].tolist() if has_load(tree) else None
    state = tracing.drive_state(carried)
    return reference_regressor(tree, q, qd, qd_r, qdd_r, state.temperature, state.carried)


def _regressor(tracing: Tracing) -> Outputs:
    return {"Y": _columns_of(tracing, regressor_columns(tracing))}


def _slotine_li(tracing: Tracing) -> Outputs:
    return {"Y": _columns_of(tracing, reference_columns(tracing))}


def _bending(tracing: Tracing) -> AnyArray | float:
    """G^T M Gdot of general loops."""
    # Linear loops have a constant G: Gdot is zero.
    if not isinstance(tracing.problem.robot.closure, GeneralClosure):
        return 0.0
    return tracing.bent_matrix(composite_rigid_body(tracing.bodies.to_tree(), tracing.angles())[..., 0])


def _coriolis(tracing: Tracing) -> Outputs:
    C = christoffel(tracing.bodies.to_tree(), tracing.angles(), tracing.joints("qd")[:, None])
    return {"C": tracing.matrix(C[..., 0]) + _bending(tracing)}


def _placement(tracing: Tracing) -> Outputs:
    robot = tracing.problem.robot
    # In the robot's own frames: the tool's placement must be the one that users know.
    X = frame_placement(robot.tree, tracing.joints("q")[:, None], robot.tool)
    T: list[list[Any]] = [[*X.R[k, :, 0], X.p[k, 0]] for k in range(3)]
    # (4, 4) homogeneous: the last row is constant and costs nothing.
    return {"T": np.array([*T, [0.0, 0.0, 0.0, 1.0]], dtype=object)}


def _jacobian(tracing: Tracing) -> Outputs:
    robot = tracing.problem.robot
    J = frame_jacobian(robot.tree, tracing.joints("q")[:, None], robot.tool, local=False)[..., 0]
    # A row of J acts on joint velocities as an effort does: J G takes it from the tree to q.
    return {"J": np.array([tracing.efforts(row) for row in J], dtype=object)}


MATRICES = (
    Function(
        "coriolis_matrix",
        "C of Christoffel symbols, so that Mdot - 2C is skew",
        joint_vectors("q", "qd"),
        coriolis_matrix,
        {"christoffel": Algorithm(_coriolis, like_torques=True)},
        may_vanish=True,
    ),
    Function(
        "base_regressor",
        "Y with tau = Y @ theta",
        joint_vectors("q", "qd", "qdd", drives=True),
        base_regressor,
        {"newton_euler": Algorithm(_regressor, moves_frames=False)},
        theta=declared_base,
    ),
    Function(
        "slotine_li_regressor",
        "Y with reference velocities, for adaptive control",
        joint_vectors("q", "qd", "qd_r", "qdd_r", drives=True),
        base_slotine_li_regressor,
        {"newton_euler": Algorithm(_slotine_li, moves_frames=False)},
        theta=declared_base,
    ),
    Function(
        "forward_kinematics",
        "placement of the tool in the base frame",
        joint_vectors("q"),
        forward_kinematics,
        {"direct": Algorithm(_placement, moves_frames=False)},
    ),
    Function(
        "jacobian",
        "Jacobian of the tool in base axes, angular rows first",
        joint_vectors("q"),
        jacobian,
        {"direct": Algorithm(_jacobian, moves_frames=False)},
    ),
)
