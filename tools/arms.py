"""The arms that benchmarks run on, without friction and rotors, which the peers do not have in all functions."""

from __future__ import annotations

from importlib.util import find_spec

import tauform as tf
from tools.real_robots import urdf, without_losses

CATALOGUE = ("kr6_r700", "lbr7", "sr6ia")
# The iiwa14 is left out where its package is not installed: it has no wheel for every Python.
REAL = ("panda", "ur5", *(["iiwa14"] if find_spec("pybullet_data") else []), "xarm7")
ARMS = (*CATALOGUE, *REAL)
FILES = {"ur5": "ur5_robot"}
TIPS = {"panda": "panda_link7", "xarm7": "link7"}
SNAP = 1e-5


def arm(name: str, snap: float | None = SNAP) -> tf.Robot:
    """An arm of the catalogue, of example-robot-data or of pybullet_data, its URDF's frames snapped.

    Raises:
        FileNotFoundError: the package that has its URDF is not installed.
    """
    if name in CATALOGUE:
        return without_losses(tf.load(name))
    return without_losses(tf.load(urdf(FILES.get(name, name)), tip=TIPS.get(name), snap=snap))
