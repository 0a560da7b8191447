"""Geometry: what a closed form was derived for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray, Array, read_only
from tauform.description.inertia import Inertia
from tauform.description.joint import Closure, Joint, Link
from tauform.description.joint_types import JointType
from tauform.description.robot import Robot


class Followers(NamedTuple):
    """Joints that follow others."""

    closure: Closure
    joint_names: tuple[str, ...]

    @classmethod
    def of(cls, robot: Robot) -> Followers | None:
        """Those of a robot; None where all joints are free."""
        # General loops have no closed form, so that nothing asks for theirs.
        if not isinstance(robot.closure, Closure):
            return None
        return cls(robot.closure, tuple(joint.name for joint in robot.joints))


@dataclass(frozen=True, eq=False)
class Geometry:
    """Geometry that a model was derived for; inertias and friction play no part.

    Attributes:
        parent_from_joint: (n, 4, 4).
        types: of the n joints.
        gravity: (3,).
        parents: joint before each, -1 for the base.
        followers: how joints of the tree follow those of q, and the names of all of them; None where all are free.
    """

    parent_from_joint: Array
    types: tuple[JointType, ...]
    gravity: Array
    parents: tuple[int, ...]
    followers: Followers | None = None

    @classmethod
    def of(cls, robot: Robot) -> Geometry:
        """The geometry of a tree."""
        return cls(
            read_only([joint.parent_from_joint for joint in robot.joints]),
            tuple(joint.type for joint in robot.joints),
            read_only(robot.gravity),
            tuple(joint.parent for joint in robot.joints),
            Followers.of(robot),
        )

    @property
    def n_bodies(self) -> int:
        """Number of joints of the tree."""
        return len(self.types)

    def tree_velocities(self, qd: AnyArray, moving: Sequence[int]) -> AnyArray:
        """(n_bodies, ...) velocities of all joints of the tree, on any scalar, where only some of q move."""
        if self.followers is None:
            return qd
        rates = np.zeros_like(self.followers.closure.F)
        # What is given of fixed joints is not read.
        rates[:, list(moving)] = self.followers.closure.F[:, list(moving)]
        return _weighted(rates, qd)

    def moving_bodies(self, moving: Sequence[int]) -> list[int]:
        """Joints of the tree that move where only some of q do."""
        if self.followers is None:
            return list(moving)
        return np.flatnonzero(self.followers.closure.F[:, list(moving)].any(axis=1)).tolist()

    def acting_on(self, a: int) -> list[tuple[int, float]]:
        """Joints of the tree that act on joint a of q, and by what factor."""
        if self.followers is None:
            return [(a, 1.0)]
        column = self.followers.closure.F[:, a]
        return [(i, float(column[i])) for i in np.flatnonzero(column).tolist()]

    def felt(self, torques: AnyArray) -> AnyArray:
        """(n, ...) torques of the joints of q, from those of the tree."""
        return torques if self.followers is None else _weighted(self.followers.closure.F.T, torques)

    @property
    def is_chain(self) -> bool:
        """Whether each joint follows the one before it."""
        return self.parents == tuple(range(-1, len(self.parents) - 1))

    def robot(self, name: str, joint_names: Sequence[str]) -> Robot:
        """A tree of this geometry without inertias."""
        # Names of links do not matter to the dynamics, and files do not keep them.
        names = joint_names if self.followers is None else self.followers.joint_names
        rows = zip(names, self.types, self.parents, self.parent_from_joint, strict=True)
        joints = tuple(
            Joint(joint_name, own.name, parent, placement, constants=own.constants)
            for joint_name, own, parent, placement in rows
        )
        links = tuple(Link(f"link{i + 1}", Inertia(np.zeros(10))) for i in range(len(joints)))
        tree = Robot(name, joints, links, self.gravity)
        return tree if self.followers is None else replace(tree, closure=self.followers.closure)


def _weighted(rows: Array, values: AnyArray) -> AnyArray:
    """rows @ values, without products with 0 and 1, which symbols would show."""
    sums = []
    for row in rows:
        # A joint that follows none stands still.
        total = 0 * values[0]
        for k in np.flatnonzero(row).tolist():
            weight = float(row[k])
            total = total + (values[k] if weight == 1 else -values[k] if weight == -1 else weight * values[k])
        sums.append(total)
    return np.array(sums, dtype=values.dtype)
