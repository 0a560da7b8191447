"""The arms that benchmarks run on, without friction and rotors, which the peers do not have in all functions."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pinocchio

import tauform as tf

CATALOGUE = ("kr6_r700", "lbr7", "sr6ia")
REAL = ("panda", "ur5", "iiwa14", "xarm7")
ARMS = (*CATALOGUE, *REAL)
SNAP = 1e-5


def arm(name: str) -> tf.Robot:
    """An arm of the catalogue, of example-robot-data or of pybullet_data."""
    if name in CATALOGUE:
        return bare(tf.load(name))
    tip = {"panda": "panda_link7", "xarm7": "link7"}.get(name)
    return bare(tf.load(_urdf(name), tip=tip, snap=SNAP))


def bare(robot: tf.Robot) -> tf.Robot:
    """The robot with nothing but its links."""
    nothing = {"viscous": 0.0, "coulomb": 0.0, "offset": 0.0, "rotor_inertia": None}
    return replace(robot, closure=None, joints=tuple(replace(joint, **nothing) for joint in robot.joints))


def _urdf(name: str) -> Path:
    if name == "iiwa14":
        spec = importlib.util.find_spec("pybullet_data")
        assert spec is not None
        assert spec.origin is not None
        return Path(spec.origin).parent / "kuka_iiwa" / "model.urdf"
    prefix = next(parent for parent in Path(pinocchio.__file__).parents if parent.name == "cmeel.prefix")
    stem = {"ur5": "ur5_robot"}.get(name, name)
    return next((prefix / "share" / "example-robot-data" / "robots").rglob(f"{stem}.urdf"))
