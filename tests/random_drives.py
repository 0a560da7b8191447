"""Seeded random drive terms of every shape, for laws and comparisons."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

import tauform as tf
from random_robots import random_tree
from tauform.description.drives import OF_JOINTS, SHAPES, Drive, End
from tauform.description.drives.shafts import Coupled
from tauform.description.drives.springs import BetweenPoints

FURTHER = tuple(name for name, shape in SHAPES.items() if shape not in OF_JOINTS)


def with_random_drives(robot: tf.Robot, seed: int, shapes: Iterable[str] = FURTHER, smooth: bool = False) -> tf.Robot:
    """The robot with one term of each shape that its joints allow; Coulomb friction smooth at every other joint."""
    rng = np.random.default_rng(seed)
    terms = [term for name in shapes for term in _random_term(robot, SHAPES[name], rng, smooth)]
    own = list(robot.drives)
    for j in range(0, robot.n_bodies, 1 if smooth else 2):
        place = robot.layout.coulomb(j) - robot.layout.links.stop
        own[place] = SHAPES["coulomb"](
            joints=(j,), coefficient=own[place].coefficient, width=float(rng.uniform(0.1, 1.0))
        )
    return robot.with_drives([*own, *terms])


def robot_with_every_drive(kind: str) -> tf.Robot:
    """A chain, tree or loop of four bodies, two of them on slides as a rule, with a term of every shape."""
    bare = random_tree(4, 3 if kind == "tree" else 5, chain=kind == "chain", prismatic=0.0 if kind == "loop" else 0.3)
    if kind == "loop":
        names = bare.joint_names
        bare = bare.with_relations({names[3]: {names[1]: -0.7, names[2]: 0.4, "": 0.2}})
    return with_random_drives(bare, 1)


def random_temperatures(robot: tf.Robot, n_states: int, seed: int) -> np.ndarray:
    """(n_states, n_joints) degrees Celsius."""
    return np.random.default_rng(seed).uniform(-10.0, 80.0, (n_states, robot.n_joints))


def _random_term(robot: tf.Robot, shape: type[Drive], rng: np.random.Generator, smooth: bool) -> list[Drive]:
    names = [joint.name for joint in robot.joints]
    joints = [j for j in range(robot.n_bodies) if shape.shape not in ("sine", "cosine") or robot.joints[j].is_revolute]
    if shape.reads & {"carried", "temperature"}:
        joints = [j for j in joints if names[j] in robot.joint_names]
    constants: dict[str, object] = {}
    if "width" in shape.constant_names():
        constants["width"] = float(rng.uniform(0.1, 1.0)) * (smooth or not issubclass(shape, Coupled))
    coefficient = float(rng.uniform(0.05, 0.5))
    if issubclass(shape, BetweenPoints):
        links = rng.choice(np.arange(-1, robot.n_bodies), 2, replace=False)
        ends = tuple(End(int(link), tuple(rng.normal(size=3).tolist())) for link in links)
        rest = {"rest": float(rng.uniform(0.0, 0.5))} if shape.shape == "spring" else {}
        return [shape(coefficient=10 * coefficient, ends=ends, **rest)]
    if issubclass(shape, Coupled):
        kinds = {kind: [j for j in joints if robot.joints[j].kind == kind] for kind in ("revolute", "prismatic")}
        pairs = [own for own in kinds.values() if len(own) > 1]
        if not pairs:
            return []
        chosen = rng.choice(pairs[0], 2, replace=False)
        # A shaft holds less than the rotors of its joints, or the mass matrix would not be positive definite.
        coefficient *= 0.1
        return [shape(joints=chosen.tolist(), coefficient=coefficient, sense=int(rng.choice([-1, 1])), **constants)]
    if shape.shape == "stiffness":
        constants["rest"] = float(rng.normal())
    return [shape(joints=(int(rng.choice(joints)),), coefficient=coefficient, **constants)] if joints else []
