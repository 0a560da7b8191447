"""Seeded random trees for the laws: revolute and prismatic joints, rotors, friction, physical inertias."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tauform.description.inertia import Inertia
from tauform.description.joint import Frame, Joint, Link
from tauform.description.robot import Robot


def placement(rng: np.random.Generator) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    T[:3, 3] = rng.uniform(-0.5, 0.5, 3)
    return T


def body(rng: np.random.Generator) -> Inertia:
    """A physical body: the second moments of a few point masses."""
    points, masses = rng.uniform(-0.3, 0.3, (6, 3)), rng.uniform(0.1, 1.0, 6)
    tensor = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
    return Inertia.of(masses.sum(), masses @ points / masses.sum(), tensor, inertia_about="origin")


def random_tree(n: int, seed: int, *, chain: bool = False, prismatic: float = 0.3, friction: bool = True) -> Robot:
    """n joints; each hangs on the link before it (chain), or on that link or one of its ancestors (depth first)."""
    rng = np.random.default_rng(seed)
    parents = [-1]
    while len(parents) < n:
        parent = len(parents) - 1
        while parent >= 0 and not chain and rng.random() < 0.3:
            parent = parents[parent]
        parents.append(parent)
    joints = tuple(
        Joint(
            name=f"joint{i + 1}",
            kind="prismatic" if rng.random() < prismatic else "revolute",
            parent=parents[i],
            parent_from_joint=placement(rng),
            rotor_inertia=rng.uniform(0.01, 0.2) if rng.random() < 0.5 else None,
            viscous=rng.uniform(0, 2) * friction,
            coulomb=rng.uniform(0, 2) * friction,
            offset=rng.normal() * friction,
        )
        for i in range(n)
    )
    links = tuple(Link(f"link{i + 1}", body(rng)) for i in range(n))
    frames = (Frame("tool", n - 1, placement(rng)),)
    return Robot(f"random{n}", joints, links, rng.normal(size=3) * 5, frames, tip="tool")


def random_states(robot: Robot, n_states: int, seed: int, n_vectors: int = 3) -> np.ndarray:
    """(n_vectors, n_states, n_joints) normal numbers."""
    return np.random.default_rng(seed).normal(size=(n_vectors, n_states, robot.n_joints))
