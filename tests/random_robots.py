"""Seeded random trees for the laws: `tf.random_robot` with rotors on some joints, any gravity, friction or none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import tauform as tf


def random_tree(n: int, seed: int, *, chain: bool = False, prismatic: float = 0.3, friction: bool = True) -> tf.Robot:
    """n joints; each hangs on the link before it (chain), or on that link or one of its ancestors (depth first)."""
    rng = np.random.default_rng(seed)
    kinds = "".join("P" if rng.random() < prismatic else "R" for _ in range(n))
    robot = tf.random_robot(kinds, seed, branching=0.0 if chain else 0.3)
    no_friction = {} if friction else {"viscous": 0.0, "coulomb": 0.0, "offset": 0.0}
    joints = tuple(
        replace(joint, rotor_inertia=joint.rotor_inertia if rng.random() < 0.5 else None, **no_friction)
        for joint in robot.joints
    )
    return replace(robot, joints=joints, gravity=rng.normal(size=3) * 5)


def random_states(robot: tf.Robot, n_states: int, seed: int, n_vectors: int = 3) -> np.ndarray:
    """(n_vectors, n_states, n_joints) normal numbers."""
    return np.random.default_rng(seed).normal(size=(n_vectors, n_states, robot.n_joints))
