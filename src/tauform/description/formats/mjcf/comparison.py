"""A robot that was read, compared with MuJoCo's own torques of the same file: what acts there must have been read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.deferred import deferred
from tauform.description.robot import Robot
from tauform.errors import DescriptionError

N_STATES = 3
# Of the largest torque: rounding of two different algorithms stays far below.
TORQUE_TOLERANCE = 1e-6


def check_torques(mujoco: Any, model: Any, robot: Robot) -> None:
    """Compare the tree's torques (without Coulomb friction, which MuJoCo counts as a constraint) with mj_inverse.

    Raises:
        DescriptionError: they differ, so that something acts in the model which the reader does not know.
    """
    # Against the direction of imports: the reader's own check needs dynamics.
    inverse_dynamics = deferred("read_mjcf")
    # Equalities and dry friction are constraints to MuJoCo, which mj_inverse leaves to its solver.
    tree = replace(robot, closure=None, joints=tuple(replace(joint, coulomb=0.0) for joint in robot.joints))
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (3, N_STATES, robot.n_bodies))
    expected = np.array([_mujoco_torque(mujoco, model, *state) for state in states.transpose(1, 0, 2)])
    error = np.abs(inverse_dynamics(tree, *states) - expected).max(axis=0)
    worst = int(error.argmax())
    # A sum of large torques that cancel is compared with what it is made of: the largest of all.
    if not error[worst] <= TORQUE_TOLERANCE * np.abs(expected).max():
        raise DescriptionError(
            f"MuJoCo finds other torques than were read, at joint {robot.joints[worst].name!r} by {error[worst]:.2g}: "
            "something acts on it that is not supported; leave out all but bodies, joints and inertias"
        )


def _mujoco_torque(mujoco: Any, model: Any, q: Array, qd: Array, qdd: Array) -> Array:
    """M qdd + bias - passive forces, as they hold for bodies in continuous time without constraints."""
    # Put back afterwards: the model is the caller's.
    flags, others = model.opt.disableflags, model.opt.enableflags
    try:
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        model.opt.enableflags = 0
        data = mujoco.MjData(model)
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        return np.array(data.qfrc_inverse)
    finally:
        model.opt.disableflags, model.opt.enableflags = flags, others
