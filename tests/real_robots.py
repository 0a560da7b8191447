"""Real robots for the tests: URDF files of example-robot-data and pybullet_data, and Pinocchio's view of them."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

from tauform.description.robot import Robot


def example_folder() -> Path:
    """The data folder of example-robot-data; it shares its installation prefix with Pinocchio."""
    prefix = next(parent for parent in Path(pin.__file__).parents if parent.name == "cmeel.prefix")
    return prefix / "share" / "example-robot-data" / "robots"


def all_urdfs() -> list[Path]:
    """Every URDF of example-robot-data."""
    return sorted(example_folder().rglob("*.urdf"))


def urdf(name: str) -> Path:
    """The path of a URDF by its file name; "iiwa14" is the one of pybullet_data."""
    if name == "iiwa14":
        spec = importlib.util.find_spec("pybullet_data")
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin).parent / "kuka_iiwa" / "model.urdf"
    return next(path for path in all_urdfs() if path.stem == name)


def without_losses(robot: Robot) -> Robot:
    """The bare tree that Pinocchio computes with: no friction, no rotors, mimic joints free."""
    bare = {"viscous": 0.0, "coulomb": 0.0, "offset": 0.0, "rotor_inertia": None}
    return replace(robot, closure=None, joints=tuple(replace(joint, **bare) for joint in robot.joints))


def pinocchio_state(model: pin.Model, robot: Robot, q: np.ndarray) -> np.ndarray:
    """q in Pinocchio's order, a continuous joint as cosine and sine."""
    state = pin.neutral(model)
    for joint, value in zip(robot.joints, q, strict=True):
        theirs = model.joints[model.getJointId(joint.name)]
        state[theirs.idx_q : theirs.idx_q + theirs.nq] = value if theirs.nq == 1 else (np.cos(value), np.sin(value))
    return state


def pinocchio_order(model: pin.Model, robot: Robot) -> list[int]:
    """Where each of our joints stands among Pinocchio's velocities."""
    return [model.joints[model.getJointId(joint.name)].idx_v for joint in robot.joints]
