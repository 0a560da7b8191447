"""Robots, motions and real recordings that the tests of identification share."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.identification.motion.trajectory import Basis, Trajectory

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


@cache
def arm() -> tf.Robot:
    """A three-joint arm out of a six-joint one: quick to identify, with friction and rotors."""
    robot = tf.load("kr6_r700").locked({"joint4": 0.3, "joint5": 0.2, "joint6": 0.1})
    return with_drives(robot)


def with_drives(robot: tf.Robot, seed: int = 5) -> tf.Robot:
    """The robot with random rotors and friction."""
    parameters = np.array(robot.parameters)
    drives = robot.layout.by_joint(parameters)
    drives[:] = np.random.default_rng(seed).uniform(0.3, 1.0, drives.shape) * [0.3, 3.0, 3.0, 1.0]
    return robot.with_parameters(parameters)


def motion(robot: tf.Robot, seed: int, duration: float = 8.0, harmonics: int = 5, rate: float = 100.0) -> Trajectory:
    """A random periodic motion of about 1.5 rad."""
    basis = Basis.fourier(duration, harmonics, rate)
    a = np.random.default_rng(seed).normal(size=(robot.n_joints, basis.n))
    a *= 1.5 / np.abs(a @ basis.values).max(axis=1)[:, None]
    q, qd, qdd = ((a @ x).T for x in (basis.values, basis.rates, basis.accelerations))
    return Trajectory(basis.t, q, qd, qdd, robot.joint_names)


def scorer() -> Any:
    """The fixed scorer beside the real recordings; the test is skipped without them."""
    path = DATA / "score.py"
    if not path.exists():
        pytest.skip("the real recordings are not here")
    spec = importlib.util.spec_from_file_location("score", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def real_robot(name: str) -> tf.Robot:
    """The robot of a real recording; the test is skipped without it."""
    if name in ("tx40", "lwr4") and not DATA.exists():
        pytest.skip("the real recordings are not here")
    if name == "tx40":
        return tf.load(DATA / "tx40" / "tx40_mdh_modified.urdf")
    if name == "lwr4":
        return tf.load(DATA / "kuka_lwr4" / "kuka_lwr4.urdf")
    if name == "panda":
        return tf.load(example("panda_description/urdf/panda.urdf"), lock={"panda_finger_joint1": 0.0})
    return tf.load(example("ur_description/urdf/ur10_robot.urdf"))


def example(path: str) -> Path:
    """A file of example-robot-data."""
    pinocchio = pytest.importorskip("pinocchio")
    root = Path(pinocchio.__file__).resolve()
    for parent in root.parents:
        found = parent / "share" / "example-robot-data" / "robots" / path
        if found.exists():
            return found
    pytest.skip("example-robot-data is not installed")
