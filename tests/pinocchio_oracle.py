"""The same robot twice: ours, and a Pinocchio model of it, with the map between their coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import tauform as tf
from real_robots import urdf
from tauform.cli.comparison.models import pinocchio_model

pin = pytest.importorskip("pinocchio")

# Name -> file, joints to lock at zero (ours, then those of theirs that mimic them).
REAL_ROBOTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "panda": ("panda", ("panda_finger_joint1", "panda_finger_joint2")),
    "ur3": ("ur3_robot", ()),
    "ur5": ("ur5_robot", ()),
    "ur10": ("ur10_robot", ()),
    "kinova": ("kinova", ()),
    "xarm7": ("xarm7", ()),
    "talos_left_arm": ("talos_left_arm", ()),
    "tiago": ("tiago_no_hand", ()),
    "solo12": ("solo12", ()),
    "hyq": ("hyq_no_sensors", ()),
    "iiwa14": ("iiwa14", ()),
}


@dataclass(frozen=True, eq=False)
class Pair:
    """A Robot, its Pinocchio model, and for each of our joints the id of theirs."""

    robot: tf.Robot
    model: object
    data: object
    ids: tuple[int, ...]

    def theirs(self, q: np.ndarray) -> np.ndarray:
        """Their configuration: a continuous joint is a cosine and a sine."""
        result = np.zeros(self.model.nq)
        for value, i in zip(q, self.ids, strict=True):
            joint = self.model.joints[i]
            result[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        return result

    @property
    def order(self) -> list[int]:
        """Index in their velocity vector of each of our joints."""
        return [self.model.joints[i].idx_v for i in self.ids]

    def theirs_v(self, v: np.ndarray) -> np.ndarray:
        """Their velocity, acceleration or torque."""
        result = np.zeros(self.model.nv)
        result[self.order] = v
        return result


def model_of(robot: tf.Robot) -> Pair:
    """A Pinocchio model built joint by joint from ours; rotors become armature, friction is left out."""
    model = pinocchio_model(robot)
    return Pair(robot, model, model.createData(), tuple(range(1, model.njoints)))


def real_robot(name: str) -> Pair:
    """A robot of example-robot-data (or pybullet_data) read by both, with the same gravity and without friction."""
    file, locked = REAL_ROBOTS[name]
    path = urdf(file)
    model = pin.buildModelFromUrdf(str(path))
    if locked:
        model = pin.buildReducedModel(model, [model.getJointId(joint) for joint in locked], pin.neutral(model))
    robot = tf.load(path, lock=dict.fromkeys(locked[:1], 0.0), gravity=model.gravity.linear)
    ids = tuple(model.getJointId(joint) for joint in robot.joint_names)
    rigid = np.array(robot.parameters)
    rigid[robot.layout.drives] = 0
    model.armature = np.zeros(model.nv)
    return Pair(robot.with_parameters(rigid), model, model.createData(), ids)
