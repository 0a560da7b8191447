"""Drive terms at work: torques, columns, energies and derivatives, all from the shapes' one definition.

Inertial terms (rotors, coupled shafts) are part of the mass matrix; all others make up what `friction` returns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, joint_vector
from tauform.description.drives.dual import Dual
from tauform.description.drives.friction import ABSOLUTE_ZERO
from tauform.description.drives.groups import Group, JointState, acting
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import DescriptionError, ShapeError
from tauform.wording import argument

# Places of the three derivatives among those of a linearisation.
SLOPES = {"q": 0, "qd": 1, "qdd": 2}


def friction_torque(tree: Tree, motion: JointState) -> AnyArray:
    """(n, N) torque of all terms that are not inertial, without load friction where `motion.carried` is None."""
    given = next(rows for rows in motion if rows is not None)
    torque = np.zeros((tree.n_v, *given.shape[1:]), dtype=np.result_type(given, tree.coefficients))
    for group, coefficients in acting(tree.drive_groups, tree.coefficients):
        # Load friction needs the torque of links and rotors, which callers that solve for it do not have yet.
        if not group.shape.is_inertial and not (motion.carried is None and "carried" in group.shape.reads):
            _add(torque, group.velocities(tree), coefficients, group.torques(group.own(tree, motion)))
    return torque


def coupled_torque(tree: Tree, qdd: AnyArray) -> AnyArray:
    """(n, N) torque of shafts that two joints turn together."""
    torque = np.zeros(qdd.shape, dtype=np.result_type(qdd, tree.coefficients))
    for group, coefficients in _coupled(tree):
        _add(torque, group.velocities(tree), coefficients, group.torques(group.own(tree, JointState(None, None, qdd))))
    return torque


def coupled_inertia(tree: Tree) -> AnyArray:
    """(n, n, 1) what such shafts add to the mass matrix."""
    M = np.zeros((tree.n, tree.n, 1), dtype=tree.coefficients.dtype)
    # Linear in qdd, so a unit acceleration of each joint gives a column.
    for k in range(tree.n):
        M[:, k] = coupled_torque(tree, np.eye(tree.n)[:, k, None])
    return M


def drive_columns(tree: Tree, motion: JointState) -> AnyArray:
    """(n, n_drives, N) torque of each term for a coefficient of one."""
    assert motion.qd is not None
    shape = (tree.n_v, len(tree.drives), *motion.qd.shape[1:])
    # Complex if any of the motion is: a step may be in q alone.
    columns = np.zeros(shape, dtype=np.result_type(motion.qd, *(rows for rows in motion if rows is not None)))
    for group in tree.drive_groups:
        for rows, torque in zip(group.velocities(tree), group.torques(group.own(tree, motion)), strict=True):
            columns[rows, group.columns] = torque
    return columns


def kinetic_columns(tree: Tree, qd: AnyArray) -> AnyArray:
    """(n_drives, N) kinetic energy of each term for a coefficient of one; zero of what is not inertial."""
    return _energies(tree, JointState(None, qd), [group for group in tree.drive_groups if group.shape.is_inertial])


def potential_columns(tree: Tree, q: AnyArray) -> AnyArray:
    """(n_drives, N) energy stored in each spring for a coefficient of one; zero of what is not conservative."""
    return _energies(tree, JointState(q, None), [group for group in tree.drive_groups if group.shape.is_conservative])


def friction_slopes(tree: Tree, motion: JointState) -> AnyArray:
    """(n, n, 3, N) derivatives of `friction_torque` by q, qd and qdd, the carried torque held."""
    # The derivative through the carried torque belongs to the caller, who has that of the links (`load_slopes`).
    skipped = {"carried"} if motion.carried is None else set()
    chosen = [pair for pair in acting(tree.drive_groups, tree.coefficients) if not pair[0].shape.is_inertial]
    return _slopes(tree, motion, [pair for pair in chosen if not skipped & pair[0].shape.reads])


def has_coupled_inertia(tree: Tree) -> bool:
    """Whether the mass matrix holds what its branches alone would not."""
    return next(_coupled(tree), None) is not None


def matrix_parents(tree: Tree) -> tuple[int, ...]:
    """Parents whose branches are the zeros of the mass matrix; shafts between branches leave none."""
    # A chain has no zeros above its diagonal, so nothing of a full matrix is lost.
    return tuple(range(-1, tree.n - 1)) if has_coupled_inertia(tree) else tree.parents


def temperatures(robot: Robot, temperature: ArrayLike | None) -> dict[str, ArrayLike]:
    """Temperatures as an argument of `evaluate`, where a term needs them.

    Raises:
        DescriptionError: a term depends on temperature, and none is given.
        ShapeError: another shape, or a temperature below absolute zero.
    """
    # The four terms of each joint never depend on temperature.
    thermal = [term for term in robot.further_drives if "temperature" in term.reads]
    if not thermal:
        return {}
    if temperature is None:
        name = robot.joints[thermal[0].joints[0]].name
        raise DescriptionError(
            f"temperature: friction of joint {name!r} depends on it",
            argument="temperature",
            remedy=f"give {argument('temperature')}, one value per joint",
        )
    values = joint_vector(temperature, robot.n_joints, "temperature")
    if (np.real(values) < ABSOLUTE_ZERO).any():
        raise ShapeError(f"temperature: a value lies below absolute zero ({ABSOLUTE_ZERO} degrees Celsius)")
    return {"temperature": values}


def _coupled(tree: Tree) -> Iterator[tuple[Group, AnyArray]]:
    pairs = acting(tree.drive_groups, tree.coefficients)
    return (pair for pair in pairs if pair[0].shape.is_inertial and pair[0].shape.n_joints == 2)


def _add(torque: AnyArray, rows: AnyArray, coefficients: AnyArray, own: tuple[Any, ...]) -> None:
    # Joints of a group all differ, so no row is written twice at once.
    for row, value in zip(rows, own, strict=True):
        torque[row] = torque[row] + coefficients * value


def _energies(tree: Tree, motion: JointState, groups: list[Group]) -> AnyArray:
    given = next(rows for rows in motion if rows is not None)
    energies = np.zeros((len(tree.drives), *given.shape[1:]), dtype=given.dtype)
    for group in groups:
        energies[group.columns] = group.energy(group.own(tree, motion))
    return energies


def _slopes(tree: Tree, motion: JointState, chosen: list[tuple[Group, AnyArray]]) -> AnyArray:
    assert motion.qd is not None
    D = np.zeros((tree.n_v, tree.n_v, 3, *motion.qd.shape[1:]), dtype=np.result_type(motion.qd, tree.coefficients))
    for group, coefficients in chosen:
        torques = group.torques(_seeded(group, group.own(tree, motion)))
        rows = group.velocities(tree)
        for i, torque in zip(rows, torques, strict=True):
            # A shape that does not read what was seeded returns a plain array: its derivative is zero.
            slopes = torque.slopes if isinstance(torque, Dual) else {}
            for (name, b), slope in slopes.items():
                by = D[:, :, SLOPES[name]]
                by[i, rows[b]] = by[i, rows[b]] + coefficients * slope
    return D


def _seeded(group: Group, own: Any) -> Any:
    """The motion of a group's joints with unit slopes by each of its coordinates."""
    seeded: dict[str, Any] = {}
    # Temperature and load are no coordinates: nothing is differentiated by them here.
    for name in group.shape.reads & SLOPES.keys():
        rows = getattr(own, name)
        if group.shape.n_joints == 1:
            seeded[name] = Dual(rows, {(name, 0): 1})
        else:
            seeded[name] = tuple(Dual(row, {(name, b): 1}) for b, row in enumerate(rows))
    return own._replace(**seeded)
