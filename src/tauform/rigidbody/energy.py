"""Kinetic and potential energy, and both as linear functions of the parameters."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import UnknownNameError
from tauform.rigidbody.drives import kinetic_columns, potential_columns
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.motion import body_twists, transforms_of
from tauform.rigidbody.sweeps.spatial import ANGULAR, LINEAR, cross, joint_transform, rotate_back

Energy = Literal["total", "kinetic", "potential"]


def kinetic_energy(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """Kinetic energy qd^T M(q) qd / 2 of links, rotors and coupled rotors [J].

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.

    Returns:
        (...,) energies.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """

    def core(q: AnyArray, qd: AnyArray) -> AnyArray:
        return weighted(robot.tree, kinetic_functions(robot.tree, q, qd))

    return evaluate(robot, core, q=q, qd=qd)


def potential_energy(robot: Robot, q: ArrayLike, drives: bool = True) -> Array:
    """Potential energy of gravity and springs [J]; gravity's is zero where all mass sits in the origin of the base.

    Args:
        q: (..., n) joint positions [rad or m].
        drives: False leaves out the springs among the drive terms.

    Returns:
        (...,) energies.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
    """
    tree = (robot if drives else robot.rigid).tree
    return evaluate(robot, lambda q: weighted(tree, potential_functions(tree, q)), q=q)


def energy_regressor(robot: Robot, q: ArrayLike, qd: ArrayLike, energy: Energy = "total") -> Array:
    """Row h with energy = h @ robot.parameters.  [Gautier1991, Eq. 10-12]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        energy: "total" (the paper's H = E + U), "kinetic" or "potential".

    Returns:
        (..., n_parameters), columns in the order of robot.parameter_names; friction and offsets store no energy, so
        that their columns are zero.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        UnknownNameError: no such energy.
    """
    if energy not in ("total", "kinetic", "potential"):
        raise UnknownNameError(f'energy: no {energy!r}; choose "total", "kinetic" or "potential"')
    tree = robot.tree

    return evaluate(robot, lambda q, qd: energy_functions(tree, q, qd, energy), q=q, qd=qd)


def energy_functions(tree: Tree, q: AnyArray, qd: AnyArray, energy: Energy) -> AnyArray:
    """(n_parameters, N) contribution of each unit parameter to that energy; arrays of any scalar."""
    if energy == "potential":
        return potential_functions(tree, q)
    kinetic = kinetic_functions(tree, q, qd)
    return kinetic if energy == "kinetic" else kinetic + potential_functions(tree, q)


def kinetic_functions(tree: Tree, q: AnyArray, qd: AnyArray) -> AnyArray:
    """(n_parameters, N) contribution of each unit parameter to the kinetic energy; arrays of any scalar."""
    rows = []
    for twist in body_twists(tree, transforms_of(tree, q), qd):
        w, v = twist[ANGULAR], twist[LINEAR]
        # E = m v.v / 2 + h.(v x w) + w.I w / 2
        # Off-diagonal tensor entries appear twice in w.I w, which takes their half away.
        mass = 0.5 * (v * v).sum(axis=0)
        tensor = [0.5 * w[0] * w[0], w[0] * w[1], 0.5 * w[1] * w[1], w[0] * w[2], w[1] * w[2], 0.5 * w[2] * w[2]]
        rows.append(np.stack([mass, *cross(v, w), *tensor]))
    return np.concatenate([*rows, kinetic_columns(tree, qd)])


def potential_functions(tree: Tree, q: AnyArray) -> AnyArray:
    """(n_parameters, N) contribution of each unit parameter to the potential energy; arrays of any scalar."""
    # g travels outward in the axes of each link: one product per body, where positions would take a transform.
    base = np.broadcast_to(tree.gravity, (3, *q.shape[1:]))
    gravities: list[AnyArray] = []
    heights: list[AnyArray] = []
    rows = []
    for i, parent in enumerate(tree.parents):
        X = joint_transform(tree, i, q[i])
        g = gravities[parent] if parent >= 0 else base
        # U = -g . (m p + h), with g in the link's axes and -g.p carried along
        height = -(g * X.p).sum(axis=0)
        heights.append(heights[parent] + height if parent >= 0 else height)
        gravities.append(rotate_back(X.R, g))
        rows.append(np.stack([heights[i], *(-gravities[i]), *[0 * heights[i]] * 6]))
    return np.concatenate([*rows, potential_columns(tree, q)])


def weighted(tree: Tree, functions: AnyArray) -> AnyArray:
    """Sum of each function times its parameter."""
    parameters = np.concatenate([tree.inertias.reshape(-1, 1), tree.coefficients])
    return (functions * parameters).sum(axis=0)
