"""The same robot twice: ours, and a Pinocchio model of it, with the map between their coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import tauform as tf

pin = pytest.importorskip("pinocchio")

EXAMPLE_ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
# Name -> file under example-robot-data (iiwa14: under pybullet_data), joints to lock at zero (ours, then those of
# theirs that mimic them).
REAL_ROBOTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "panda": ("panda_description/urdf/panda.urdf", ("panda_finger_joint1", "panda_finger_joint2")),
    "ur3": ("ur_description/urdf/ur3_robot.urdf", ()),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", ()),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", ()),
    "kinova": ("kinova_description/robots/kinova.urdf", ()),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", ()),
    "talos_left_arm": ("talos_data/robots/talos_left_arm.urdf", ()),
    "tiago": ("tiago_description/robots/tiago_no_hand.urdf", ()),
    "solo12": ("solo_description/robots/solo12.urdf", ()),
    "hyq": ("hyq_description/robots/hyq_no_sensors.urdf", ()),
    "iiwa14": ("kuka_iiwa/model.urdf", ()),
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
    model = pin.Model()
    model.gravity.linear = np.array(robot.gravity)
    ids = []
    for joint, inertia in zip(robot.joints, robot.inertias, strict=True):
        kind = pin.JointModelRZ() if joint.is_revolute else pin.JointModelPZ()
        parent = 0 if joint.parent < 0 else ids[joint.parent]
        ids.append(model.addJoint(parent, kind, pin.SE3(np.array(joint.parent_from_joint)), joint.name))
        body = pin.Inertia(inertia.mass, np.array(inertia.com), np.array(inertia.tensor_about_com))
        model.appendBodyToJoint(ids[-1], body, pin.SE3.Identity())
    model.armature = np.array([joint.rotor_inertia or 0.0 for joint in robot.joints])
    return Pair(robot, model, model.createData(), tuple(ids))


def real_robot(name: str) -> Pair:
    """A robot of example-robot-data (or pybullet_data) read by both, with the same gravity and without friction."""
    file, locked = REAL_ROBOTS[name]
    path = EXAMPLE_ROBOTS / file
    if name == "iiwa14":
        path = Path(pytest.importorskip("pybullet_data").getDataPath()) / file
    if not path.is_file():
        pytest.skip(f"{file} is not on this machine")
    model = pin.buildModelFromUrdf(str(path))
    if locked:
        model = pin.buildReducedModel(model, [model.getJointId(joint) for joint in locked], pin.neutral(model))
    robot = tf.load(path, lock=dict.fromkeys(locked[:1], 0.0), gravity=model.gravity.linear)
    ids = tuple(model.getJointId(joint) for joint in robot.joint_names)
    rigid = np.array(robot.parameters)
    rigid[10 * robot.n_bodies :] = 0
    model.armature = np.zeros(model.nv)
    return Pair(robot.with_parameters(rigid), model, model.createData(), ids)
