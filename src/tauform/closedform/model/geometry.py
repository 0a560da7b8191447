"""Geometry: what a closed form was derived for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tauform.arrays import Array, read_only
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
