"""A URDF that is to be copied with other inertias: whether it is the robot's own, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tauform.arrays import Array
from tauform.description.formats.assembly import axis_frame
from tauform.description.formats.urdf.elements import check_elements
from tauform.description.robot import GeneralClosure, Robot
from tauform.description.transform import inverse, rotation_rpy, translation
from tauform.errors import DescriptionError, IdentificationError

# How far a joint's frame may stand from the robot's [m, and entries of the rotation]; straightened frames differ a bit.
MAX_FRAME_OFFSET = 0.02


@dataclass(frozen=True, eq=False)
class UrdfSource:
    """A document with its links and joints by name."""

    path: Path
    document: Any
    links: dict[str, Any]
    joints: dict[str, Any]

    @classmethod
    def of_robot(cls, path: Path, robot: Robot) -> UrdfSource:
        """Read the URDF of a robot, its comments too.

        Raises:
            IdentificationError: it cannot be read, or is not that of this robot.
        """
        # Comments of the user's file survive the copy.
        parser = ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True))
        try:
            # Checked by the same rules as a description, on a tree without comments.
            check_elements(ElementTree.parse(path).getroot())
            document = ElementTree.parse(path, parser)
        except (OSError, ElementTree.ParseError, DescriptionError) as error:
            raise IdentificationError(f"{path}: cannot be read as a URDF ({error})") from None
        root = document.getroot()
        links, joints = ({str(e.get("name")): e for e in root.findall(tag)} for tag in ("link", "joint"))
        source = cls(path, document, links, joints)
        source._check(robot)
        return source

    def link_of(self, joint: Any, role: str) -> str:
        """Name of a joint's parent or child."""
        return str(joint.find(role).get("link"))

    def link_from_z(self, joint: Any) -> Array:
        """(4, 4) rotation from our link frame, whose z is the axis, to the URDF's link frame."""
        axis = joint.find("axis")
        # The URDF standard's axis where none is written: x.
        direction = np.array([float(v) for v in (axis.get("xyz") if axis is not None else "1 0 0").split()])
        return axis_frame(direction, str(joint.get("name")))

    def carrier(self, link: str, robot: Robot) -> str | None:
        """The link of the robot's that a link is, or moves rigidly with; None where that is the base."""
        above = {self.link_of(joint, "child"): joint for joint in self.joints.values()}
        moving = {self.link_of(self.joints[joint.name], "child") for joint in robot.joints}
        # Up through fixed and locked joints to the link that moves.
        while link not in moving and link in above:
            link = self.link_of(above[link], "parent")
        return link if link in moving else None

    def placed_on(self, parent: str, child: str, robot: Robot) -> Array | None:
        """(4, 4) of a link on another one that the robot holds rigid with it; None where the robot lacks one."""
        places = {frame.name: (frame.link, frame.link_from_frame) for frame in robot.frames}
        for i, joint in enumerate(robot.joints):
            element = self.joints[joint.name]
            places[self.link_of(element, "child")] = i, inverse(self.link_from_z(element))
        if parent not in places or child not in places or places[parent][0] != places[child][0]:
            return None
        return inverse(places[parent][1]) @ places[child][1]

    def _check(self, robot: Robot) -> None:
        remedy = "give the file that the robot was read from"
        missing = sorted({joint.name for joint in robot.joints} - set(self.joints))
        if missing:
            raise IdentificationError(f"{self.path.name}: has no joint {missing[0]!r}; {remedy}")
        ends = {self.link_of(joint, role) for joint in self.joints.values() for role in ("parent", "child")}
        absent = sorted(ends - set(self.links))
        if absent:
            raise IdentificationError(f"{self.path.name}: has no link {absent[0]!r}, though a joint names it; {remedy}")
        for i, joint in enumerate(robot.joints):
            placed = self._placement(robot, i)
            # Names alone do not make it the same robot: two arms of a family share them.
            if placed is not None and np.abs(placed - joint.parent_from_joint).max() > MAX_FRAME_OFFSET:
                raise IdentificationError(
                    f"{self.path.name}: joint {joint.name!r} stands elsewhere than in {robot.name}; {remedy}"
                )
        for name in _followers(robot):
            # A free joint in the file would be driven on its own.
            if self.joints[name].find("mimic") is None:
                raise IdentificationError(f"{self.path.name}: joint {name!r} follows no other one there; {remedy}")

    def _placement(self, robot: Robot, i: int) -> Array | None:
        """(4, 4) of a joint on the link before it; None on the base, or behind a joint that is locked in the robot."""
        before = robot.joints[i].parent
        if before < 0:
            return None
        above = {self.link_of(joint, "child"): joint for joint in self.joints.values()}
        carrier, element = self.joints[robot.joints[before].name], self.joints[robot.joints[i].name]
        placed = _origin(element) @ self.link_from_z(element)
        link = self.link_of(element, "parent")
        while link != self.link_of(carrier, "child"):
            joint = above.get(link)
            # Behind a locked joint the placement depends on its angle, which the file does not say.
            if joint is None or joint.get("type") != "fixed":
                return None
            placed, link = _origin(joint) @ placed, self.link_of(joint, "parent")
        # Both frames are turned to z along the axis, as ours are, before they are compared.
        return inverse(self.link_from_z(carrier)) @ placed


def check_joints(robot: Robot) -> None:
    """Raise IdentificationError where a URDF has no joints like the robot's."""
    if robot.closure is None:
        return
    if isinstance(robot.closure, GeneralClosure):
        raise IdentificationError(
            f"URDF: joints of {robot.name} follow others by functions, mimic of a URDF is linear; save the identified "
            "robot as .toml"
        )
    for joint, row in zip(robot.joints, robot.closure.F, strict=True):
        # More than one entry in a row of F: a sum, which mimic cannot say.
        if np.count_nonzero(row) > 1:
            raise IdentificationError(
                f"URDF: joint {joint.name!r} of {robot.name} follows several joints, mimic of a URDF follows one; save "
                "the identified robot as .toml, or lock a joint"
            )


def _followers(robot: Robot) -> list[str]:
    return [] if robot.closure is None else [j.name for j in robot.joints if j.name not in robot.closure.active]


def _origin(joint: Any) -> Array:
    origin = joint.find("origin")
    xyz, rpy = (
        [float(v) for v in (origin.get(key) if origin is not None and origin.get(key) else "0 0 0").split()]
        for key in ("xyz", "rpy")
    )
    return translation(xyz) @ rotation_rpy(rpy)
