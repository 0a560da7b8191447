"""Errors joint by joint: a small joint's torque may be wrong while the norm of all torques hardly shows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import Profile
from tauform.codegen.program.program import Program
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.realtime.reduction.subject import Subject, function_states

Norm = Literal["vector", "joint"]
# Functions whose results are a torque per joint.
OF_TORQUES = ("inverse_dynamics", "gravity_torque")
SCALE_STATES = 20_000
# A joint that carries nothing is measured against this share of the joint that carries most.
SMALLEST_TORQUE = 1e-9


def joint_tolerances(
    robot: Robot, tolerance: float | Sequence[float], norm: Norm, function: str
) -> tuple[float, Array | None]:
    """The largest tolerance, and (n,) those of the joints; None where the norm of the whole vector counts.

    Raises:
        ModelError: another number of tolerances than joints, an unknown norm, or a function without joint torques.
    """
    listed = np.atleast_1d(np.asarray(tolerance, dtype=float))
    # A list of tolerances says joint by joint without the norm's name.
    by_joint = norm == "joint" or np.ndim(tolerance) > 0
    if norm not in ("vector", "joint"):
        raise ModelError(f'norm: expected "vector" or "joint", got {norm!r}')
    if listed.ndim != 1 or len(listed) not in (1, robot.n_joints):
        raise ModelError(
            f"tolerance: expected one number or {robot.n_joints}, one per joint of {robot.name}, got {len(listed)}"
        )
    if by_joint and function not in OF_TORQUES:
        raise ModelError(f"norm: errors of each joint are those of {' and '.join(OF_TORQUES)}, not of {function}")
    for value in listed.tolist():
        if not 0 < value < 1:
            raise ModelError(f"tolerance: expected a number between 0 and 1 (0.01 is 1 %), got {value}")
    return float(listed.max()), np.broadcast_to(listed, (robot.n_joints,)) if by_joint else None


def joint_sizes(subject: Subject, exact: Program, profile: Profile) -> Array:
    """(n,) root mean square of each joint's result over the profile, what its errors are relative to."""
    # Sizes are part of the guarantee's meaning: they must not move with the seed of the search.
    states = profile.sample(SCALE_STATES, np.random.default_rng(0))
    torque = np.asarray(exact(*function_states(subject, exact, states)))
    sizes = np.sqrt((torque * torque).mean(axis=0))
    # A joint on a vertical axis may carry nothing: errors relative to zero would refuse every program.
    return np.maximum(sizes, SMALLEST_TORQUE * sizes.max())


def joint_weights(sizes: Array, tolerances: Array) -> Array:
    """(n,) weights: where the norm of weighed errors is within the largest tolerance, every joint is within its own.

    With w_j = max(tolerance) / (tolerance_j size_j), |w dtau| <= max(tolerance) bounds |dtau_j| by tolerance_j size_j.
    """
    # A joint with half the tolerance weighs twice.
    weights: Array = tolerances.max() / (tolerances * sizes)
    return weights
