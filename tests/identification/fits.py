"""Fits that several tests look at, each made once in a process."""

from __future__ import annotations

from functools import cache

import numpy as np

import tauform as tf
from identification.arms import arm, motion
from tauform.identification.motion.simulate import simulated_recording

NOISE = [2.0, 1.0, 0.5]


@cache
def fit() -> tf.Fit:
    """A fit of noisy recordings, plain friction."""
    robot = arm()
    rng = np.random.default_rng(0)
    recordings = [simulated_recording(robot, motion(robot, k), rng, torque_noise=NOISE) for k in (1, 2, 3)]
    return tf.identify(robot, recordings, friction="plain", couplings=None)


@cache
def fit_of_quiet_robot() -> tf.Fit:
    """A fit of recordings with a tenth of that noise."""
    robot = arm()
    rng = np.random.default_rng(3)
    recordings = [simulated_recording(robot, motion(robot, k), rng, torque_noise=[0.2, 0.2, 0.1]) for k in (1, 2)]
    return tf.identify(robot, recordings, friction="plain", couplings=None)


def states(robot: tf.Robot, n: int = 20) -> np.ndarray:
    """(3, n, n_joints) q, qd and qdd."""
    return np.random.default_rng(9).normal(size=(3, n, robot.n_joints))


URDF = """<robot name="arm">
  <!-- a comment of the source -->
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0.2"/><mass value="4"/>
    <inertia ixx="0.05" iyy="0.06" izz="0.02" ixy="0" ixz="0" iyz="0.001"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0 0.05 0.15" rpy="0.1 0.2 0.3"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="a" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4"/>
    <axis xyz="1 0 0"/></joint>
</robot>
"""
