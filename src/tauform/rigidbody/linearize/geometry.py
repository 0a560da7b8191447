"""Sensitivity to the geometry: lengths, twists and offsets between joints.

A joint that is mounted a little elsewhere moves as if six more joints, three turns and three slides that stand still,
lay between it and its parent. So derivatives by the placement of joints are derivatives by positions of joints of a
tree with these (Jain1993, Algorithms 1 and 2), and the Jacobian of that tree is the regressor of geometric calibration.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.drives import OF_JOINTS
from tauform.description.drives.groups import JointState
from tauform.description.drives.springs import BetweenPoints
from tauform.description.joint import Closure
from tauform.description.joint_types import PRISMATIC, REVOLUTE
from tauform.description.robot import Robot
from tauform.description.tree import Tree, joint_drives
from tauform.errors import DescriptionError, UnknownNameError
from tauform.portable.products import product
from tauform.rigidbody.drives import friction_slopes
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.inertia.factorize import factorize
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.kinematics import frame_jacobian
from tauform.rigidbody.linearize.inverse_matrices import inverse_matrices
from tauform.rigidbody.linearize.transposed import inverse_transposed
from tauform.rigidbody.load import has_load, load_gains
from tauform.rigidbody.sweeps.evaluation import evaluate

# Of each joint, in its own frame before it moves: turns about x, y, z, then shifts along them.
DISPLACEMENTS = ("rx", "ry", "rz", "x", "y", "z")
# Rotations that bring z to the axis of each displacement.
_TO_AXIS = np.array([[[0, 0, 1], [1, 0, 0], [0, 1, 0]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]], np.eye(3)])
_PER_BODY = len(DISPLACEMENTS) + 1


def geometry_names(robot: Robot) -> tuple[str, ...]:
    """Columns of derivatives by the geometry: "rx_1", ..., "z_1", "rx_2", ..., six of each joint of the tree."""
    return tuple(f"{kind}_{i + 1}" for i in range(robot.n_bodies) for kind in DISPLACEMENTS)


def linearize_inverse_geometry(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
    """Derivative of `inverse_dynamics` by the placement of the joints: lengths, twists and offsets.

    Of a modified DH row with theta = 0, rx, x, rz and z are alpha, a, theta and d.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.

    Returns:
        (..., n, 6 n_bodies) of turns rx, ry, rz [N m/rad] and shifts x, y, z [N] of each joint in its own frame, before
        it moves; the joints that it carries move with it. Relations between joints are held.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        DescriptionError: loops of the robot close by its geometry, which would change with it.
    """
    D = _rigid(robot, q, qd, qdd)
    if has_load(robot.tree):
        # Friction that depends on load grows with the torque of the links.
        D = D * _load_factors(robot, q, qd, qdd)
    return D + _of_springs(robot, q) if _springs(robot.tree) else D


def linearize_forward_geometry(
    robot: Robot, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, temperature: ArrayLike | None = None
) -> Array:
    """Derivative of `forward_dynamics` by the placement of the joints, -M^-1 dtau.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        tau: (..., n) joint torques or forces [N m or N].
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.

    Returns:
        (..., n, 6 n_bodies), columns as of `linearize_inverse_geometry`.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        SingularMassMatrixError: the mass matrix is not positive definite; the message names the link.
        DescriptionError: loops of the robot close by its geometry, which would change with it.
    """
    qdd = forward_dynamics(robot, q, qd, tau, temperature=temperature)
    # At fixed torque 0 = dtau + M dqdd; the gain of friction by load cancels, as in `linearize_forward_parameters`.
    D = _rigid(robot, q, qd, qdd)
    if _springs(robot.tree):
        # Springs do not pass through that gain, so it is left in their part.
        by_springs = _of_springs(robot, q)
        D = D + (by_springs / _load_factors(robot, q, qd, qdd) if has_load(robot.tree) else by_springs)
    return -np.moveaxis(factorize(robot, q).solve(np.moveaxis(D, -1, 0)), 0, -1)


def kinematic_regressor(
    robot: Robot, q: ArrayLike, frame: str | None = None, axes: Literal["world", "local"] = "world"
) -> Array:
    """How a frame moves when joints are mounted elsewhere: what geometric calibration solves for.

    Args:
        q: (..., n) joint positions [rad or m].
        frame: name of a frame or link; None is the tool.
        axes: of the turn and shift, as of `jacobian`.

    Returns:
        (..., 6, 6 n_bodies): turn and shift of the frame, columns as of `linearize_inverse_geometry`.

    Raises:
        ShapeError: the last dimension differs from robot.n_joints, or a value is not finite.
        UnknownNameError: no such frame or axes.
        DescriptionError: loops of the robot close by its geometry, which would change with it.
    """
    if axes not in ("world", "local"):
        raise UnknownNameError(f'axes: no {axes!r}; choose "world" or "local"')
    _refuse_geometric_loops(robot)
    place, tree = robot.tool if frame is None else robot.frame(frame), displaced_tree(robot.tree)
    link = place.link if place.link < 0 else _PER_BODY * place.link + len(DISPLACEMENTS)
    moved = replace(place, link=link)

    def core(q: AnyArray) -> AnyArray:
        return frame_jacobian(tree, _standing(q), moved, axes == "local")[:, _displacements(tree)]

    return evaluate(robot, core, q=q)


def weighted_geometry(tree: Tree, q: AnyArray, qd: AnyArray, qdd: AnyArray, weights: AnyArray) -> AnyArray:
    """(6 n, N): weights times the derivative of torques, without friction by load; O(n) where there are no springs."""
    moved = displaced_tree(tree)
    rows = inverse_transposed(moved, *(_standing(x) for x in (q, qd, qdd, weights)))[_displacements(moved), 0]
    return rows + (weights[:, None] * _spring_slopes(moved, q)).sum(axis=0) if _springs(tree) else rows


@lru_cache(maxsize=32)
def displaced_tree(tree: Tree) -> Tree:
    """The tree with six massless joints before each of its own; rotors stay, and springs between points."""
    n = _PER_BODY * tree.n
    # Turns, then slides; each frame undoes the turn to the axis before it.
    frames = [*_TO_AXIS, *_TO_AXIS, np.eye(3)]
    undone = [np.eye(3), *(frame.T for frame in frames[:-1])]
    between = [product(before, frame) for before, frame in zip(undone, frames, strict=True)]
    rotations = np.array([R for _ in range(tree.n) for R in between], dtype=tree.rotations.dtype)[..., None]
    translations = np.zeros((n, 3, 1), dtype=tree.translations.dtype)
    # R times the first frame, on any scalar.
    rotations[::_PER_BODY] = (tree.rotations[:, :, :, None] * between[0][None, None, ..., None]).sum(axis=2)
    translations[::_PER_BODY] = tree.translations
    inertias = np.zeros((n, 10, 1), dtype=tree.inertias.dtype)
    inertias[_PER_BODY - 1 :: _PER_BODY] = tree.inertias
    own = np.zeros((n, len(OF_JOINTS)), dtype=tree.coefficients.dtype)
    own[_PER_BODY - 1 :: _PER_BODY, 0] = tree.rotors[:, 0]
    parents = [
        (_PER_BODY * parent + _PER_BODY - 1 if parent >= 0 else -1) if k == 0 else _PER_BODY * i + k - 1
        for i, parent in enumerate(tree.parents)
        for k in range(_PER_BODY)
    ]
    # A point of a link stays one of the same link, which is the last of seven.
    bodies = {i: _PER_BODY * i + _PER_BODY - 1 for i in range(tree.n)}
    springs = _springs(tree)
    types = [kind for own_type in tree.types for kind in (*(REVOLUTE,) * 3, *(PRISMATIC,) * 3, own_type)]
    return Tree(
        parents=tuple(parents),
        types=tuple(types),
        rotations=rotations,
        translations=translations,
        inertias=inertias,
        drives=(*joint_drives(n), *(tree.drives[k].moved(bodies).placed(parents) for k in springs)),
        coefficients=np.concatenate([own.reshape(-1, 1), tree.coefficients[springs]]),
        gravity=tree.gravity,
    )


def _rigid(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
    """(..., n, 6 n_bodies) of links and rotors."""
    _refuse_geometric_loops(robot)
    tree = displaced_tree(robot.tree)

    def core(q: AnyArray, qd: AnyArray, qdd: AnyArray) -> AnyArray:
        D = inverse_matrices(tree, *(_standing(x) for x in (q, qd, qdd)))
        return D[_PER_BODY - 1 :: _PER_BODY, _displacements(tree), 0]

    return evaluate(robot, core, project=1, q=q, qd=qd, qdd=qdd)


def _springs(tree: Tree) -> list[int]:
    """Drive terms between points of two links: the ones that know where joints are mounted."""
    return [k for k, term in enumerate(tree.drives) if isinstance(term, BetweenPoints)]


def _of_springs(robot: Robot, q: ArrayLike) -> Array:
    """(..., n, 6 n_bodies) of drive terms between points."""
    tree = displaced_tree(robot.tree)
    return evaluate(robot, lambda q: _spring_slopes(tree, q), project=1, q=q)


def _spring_slopes(tree: Tree, q: AnyArray) -> AnyArray:
    """(n, 6 n, N) derivative by the displacements of a displaced tree."""
    positions = _standing(q)
    # Springs do not feel velocities; the other terms of the tree are zero.
    slopes = friction_slopes(tree, JointState(positions, 0 * positions))
    return slopes[_PER_BODY - 1 :: _PER_BODY, _displacements(tree), 0]


def _load_factors(robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
    """(..., n, 1) torque of a joint per torque of what it carries: one, and its friction by load."""
    return 1 + load_gains(robot, qd, inverse_dynamics(robot, q, qd, qdd, drives=False))[..., None]


def _refuse_geometric_loops(robot: Robot) -> None:
    if not (robot.closure is None or isinstance(robot.closure, Closure)):
        raise DescriptionError(
            f"robot {robot.name!r} has loops that close by its geometry; derivatives by the geometry hold relations "
            "between joints, which would change with it"
        )


def _standing(x: AnyArray) -> AnyArray:
    """(7 n, N) of (n, N): displacements stand still at zero."""
    rows = np.zeros((_PER_BODY * len(x), *x.shape[1:]), dtype=x.dtype)
    rows[_PER_BODY - 1 :: _PER_BODY] = x
    return rows


def _displacements(tree: Tree) -> list[int]:
    return [k for k in range(tree.n) if k % _PER_BODY < len(DISPLACEMENTS)]
