"""MuJoCo: mj_inverse and mj_forward, which do all that its pipeline needs, and the steps up to its mass matrix."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.cli.comparison.models import mujoco_model
from tools.python_peers.peer import Peer, direct, looped


def peer(robot: tf.Robot) -> Peer:
    """States are copied into its data; batches loop."""
    model = mujoco_model(robot)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    qpos, qvel, qacc, applied, inverse = data.qpos, data.qvel, data.qacc, data.qfrc_applied, data.qfrc_inverse
    matrix = np.zeros((robot.n_joints, robot.n_joints))

    def inverse_dynamics(q: Array, qd: Array, qdd: Array) -> Array:
        qpos[:], qvel[:], qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        return inverse

    def mass_matrix(q: Array) -> Array:
        qpos[:] = q
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, matrix)
        return matrix

    def forward_dynamics(q: Array, qd: Array, tau: Array) -> Array:
        qpos[:], qvel[:], applied[:] = q, qd, tau
        mujoco.mj_forward(model, data)
        return qacc

    calls: dict[str, Callable[..., Array]] = {
        "inverse_dynamics": inverse_dynamics,
        "mass_matrix": mass_matrix,
        "forward_dynamics": forward_dynamics,
    }
    one = {name: direct(function) for name, function in calls.items()}
    return Peer(f"MuJoCo {mujoco.__version__}", one, {name: looped(function) for name, function in calls.items()})
