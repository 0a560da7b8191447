"""Geometry: what a closed form was derived for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array, read_only
from tauform.description.inertia import Inertia
from tauform.description.joint import Joint, Link
from tauform.description.joint_types import JointType
from tauform.description.robot import Robot


@dataclass(frozen=True, eq=False)
class Geometry:
    """Geometry that a model was derived for; inertias and friction play no part.

    Attributes:
        parent_from_joint: (n, 4, 4).
        types: of the n joints.
        gravity: (3,).
        parents: joint before each, -1 for the base.
    """

    parent_from_joint: Array
    types: tuple[JointType, ...]
    gravity: Array
    parents: tuple[int, ...]

    @classmethod
    def of(cls, robot: Robot) -> Geometry:
        """The geometry of a tree."""
        return cls(
            read_only([joint.parent_from_joint for joint in robot.joints]),
            tuple(joint.type for joint in robot.joints),
            read_only(robot.gravity),
            tuple(joint.parent for joint in robot.joints),
        )

    @property
    def is_chain(self) -> bool:
        """Whether each joint follows the one before it."""
        return self.parents == tuple(range(-1, len(self.parents) - 1))

    def robot(self, name: str, joint_names: Sequence[str]) -> Robot:
        """A tree of this geometry without inertias."""
        # Names of links do not matter to the dynamics, and files do not keep them.
        rows = zip(joint_names, self.types, self.parents, self.parent_from_joint, strict=True)
        joints = tuple(
            Joint(joint_name, own.name, parent, placement, constants=own.constants)
            for joint_name, own, parent, placement in rows
        )
        links = tuple(Link(f"link{i + 1}", Inertia(np.zeros(10))) for i in range(len(joints)))
        return Robot(name, joints, links, self.gravity)
