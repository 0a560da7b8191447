"""The papers' arms with their geometry, units or masses changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import tauform as tf
from tauform.description.inertia import Inertia
from tauform.description.joint import Link
from tauform.description.transform import rotation_x


def first_joints(robot: tf.Robot, n: int) -> tf.Robot:
    """The chain cut after n joints."""
    return tf.Robot(robot.name, robot.joints[:n], robot.links[:n], robot.gravity)


def scaled(robot: tf.Robot, length: float = 1.0, mass: float = 1.0) -> tf.Robot:
    """The same arm in other units of length and mass; gravity keeps its number."""
    powers = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    joints = []
    for joint in robot.joints:
        placement = np.array(joint.parent_from_joint)
        placement[:3, 3] *= length
        joints.append(replace(joint, parent_from_joint=placement, lengths=()))
    links = [Link(x.name, Inertia(x.inertia.parameters * mass * length**powers)) for x in robot.links]
    return tf.Robot(robot.name, tuple(joints), tuple(links), robot.gravity)


def twisted(robot: tf.Robot, angle: float, only: int | None = None) -> tf.Robot:
    """Joint frames turned about their x axis: every one after the first, or a single one."""
    turned = range(1, len(robot.joints)) if only is None else (only,)
    joints = [
        replace(joint, parent_from_joint=joint.parent_from_joint @ rotation_x(angle), lengths=())
        if i in turned
        else joint
        for i, joint in enumerate(robot.joints)
    ]
    return tf.Robot(robot.name, tuple(joints), robot.links, robot.gravity)


def relative_error(value: np.ndarray, expected: np.ndarray) -> float:
    """Largest error of any joint, relative to that joint's largest torque."""
    scale = np.abs(expected).max(axis=0)
    return float((np.abs(value - expected).max(axis=0) / np.where(scale > 0, scale, 1.0)).max())
