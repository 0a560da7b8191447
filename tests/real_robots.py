"""Real robots for the tests: URDF files of example-robot-data and pybullet_data, and Pinocchio's view of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from tauform.description.robot import Robot
from tools.real_robots import all_urdfs as all_urdfs
from tools.real_robots import example_folder as example_folder
from tools.real_robots import urdf as installed_urdf
from tools.real_robots import without_losses as without_losses


def urdf(name: str) -> Path:
    """The path of a URDF by its file name; the test skips where the package that has it is not installed."""
    try:
        return installed_urdf(name)
    except FileNotFoundError as error:
        pytest.skip(str(error))


def pinocchio_state(model: pin.Model, robot: Robot, q: np.ndarray) -> np.ndarray:
    """q in Pinocchio's order, a continuous joint as cosine and sine."""
    state = pin.neutral(model)
    for joint, value in zip(robot.joints, q, strict=True):
        theirs = model.joints[model.getJointId(joint.name)]
        state[theirs.idx_q : theirs.idx_q + theirs.nq] = value if theirs.nq == 1 else (np.cos(value), np.sin(value))
    return state


def pinocchio_order(model: pin.Model, robot: Robot) -> list[int]:
    """Places of our joints among Pinocchio's velocities."""
    return [model.joints[model.getJointId(joint.name)].idx_v for joint in robot.joints]
