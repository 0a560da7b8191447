"""Joints that follow others: relations by name, and loop constraints q_tree = F q + offset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array
from tauform.description.fields import number
from tauform.description.joint import Closure
from tauform.description.robot import Robot
from tauform.errors import DescriptionError
from tauform.messages import no_such
from tauform.portable.products import product


def constraints_of(robot: Robot) -> tuple[Array, Array]:
    """(n_bodies, n_joints) F and (n_bodies,) offset, also of a robot whose joints are all free."""
    return robot.tree_rates, robot.closure.offset if robot.closure else np.zeros(robot.n_bodies)


def related(robot: Robot, relations: Mapping[str, Mapping[str, float | str]]) -> Robot:
    """Make joints follow others, beside those that follow already; see `Robot.with_relations`."""
    coordinates = list(robot.joint_names)
    active = [name for name in coordinates if name not in relations]
    G, constant = np.eye(len(coordinates)), np.zeros(len(coordinates))
    for passive, terms in relations.items():
        row = _coordinate(robot, passive)
        G[row] = 0.0
        for leader, factor in terms.items():
            value = number(factor, f"relations: {passive}")
            if leader == "":
                constant[row] = value
            elif leader in relations:
                raise DescriptionError(f"relations: {passive!r} follows {leader!r}, which itself follows; resolve it")
            else:
                G[row, _coordinate(robot, leader)] = value
    F, offset = constraints_of(robot)
    columns = [coordinates.index(name) for name in active]
    return looped(robot, product(F, G[:, columns]), product(F, constant) + offset, active)


def _coordinate(robot: Robot, name: str) -> int:
    if name not in robot.joint_names and name in [joint.name for joint in robot.joints]:
        raise DescriptionError(f"relations: joint {name!r} follows others already; relate those that it follows")
    if name not in robot.joint_names:
        raise no_such("relations: joint", name, robot.joint_names)
    return robot.joint_names.index(name)


def looped(robot: Robot, F: ArrayLike, offset: ArrayLike, active: Sequence[str]) -> Robot:
    """Add loop constraints; see `Robot.with_loops`."""
    F = fixed_array(F, (robot.n_bodies, len(active)), "F")
    offset = fixed_array(offset, (robot.n_bodies,), "offset")
    if robot.closure is not None:
        places = [[joint.name for joint in robot.joints].index(name) for name in robot.closure.active]
        earlier, start = constraints_of(robot)
        if not (
            np.allclose(F, product(earlier, F[places]))
            and np.allclose(offset, product(earlier, offset[places]) + start)
        ):
            raise DescriptionError(
                f"F: {robot.name} has constraints already, and these let joints move that follow others; "
                "let F keep them, or take the robot without them"
            )
    return replace(robot, closure=Closure(F, offset, tuple(active)))
