"""Write any Robot as a URDF: a link for each body, joints about their axes, frames as fixed links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tauform.arrays import LARGEST, Array
from tauform.description.formats.urdf.notes import left_out_of_urdf, other_than_urdf
from tauform.description.formats.urdf.parts import comment, geometry, inertial_element, numbers, origin, set_dynamics
from tauform.description.inertia import Inertia
from tauform.description.joint import Frame, Joint
from tauform.description.loops.relation import single_leader
from tauform.description.robot import GeneralClosure, Robot
from tauform.description.shapes import Shape
from tauform.description.transform import inverse
from tauform.errors import DescriptionError
from tauform.escaping.markup import beyond_xml
from tauform.portable.products import product
from tauform.wording import call


@dataclass(frozen=True, eq=False)
class UrdfBody:
    """A moving link of the URDF: its name there, and its frame on our link."""

    name: str
    link_from_body: Array


def to_urdf(robot: Robot, folder: Path, notes: Sequence[str] = (), heading: str = "") -> tuple[str, tuple[str, ...]]:
    """The robot as the text of a URDF that stands in a folder, and what it does not hold.

    Args:
        notes: further findings, first in its comment.
        heading: first line of the comment.

    Raises:
        DescriptionError: a link is virtual (a negative mass, or moments without one), which no URDF can say.
    """
    _check_names(robot)
    for link in robot.links:
        _check_real(f"link {link.name!r}", link.inertia)
    # URDF has one space of names for links; our frames become links there.
    taken = {frame.name for frame in robot.frames} | {link.name for link in robot.links}
    bodies = [_body(robot, i, taken) for i in range(robot.n_bodies)]
    # A frame at the base's origin gives the root its name, so that reading and writing again keeps it.
    root = next((frame.name for frame in robot.frames if _is_root(robot, frame)), None) or _free("base", taken)
    writer = _Writer(robot, {-1: UrdfBody(root, np.eye(4)), **dict(enumerate(bodies))}, folder)
    renamed = [
        f"the axis of joint {joint.name!r} passes beside the frame of {link.name!r}, so the link that turns is called "
        f"{body.name!r} and {link.name!r} is fixed to it"
        for joint, link, body in zip(robot.joints, robot.links, bodies, strict=True)
        if body.name != link.name
    ]
    findings = (*notes, *left_out_of_urdf(robot), *other_than_urdf(robot), *renamed)
    document = ElementTree.Element("robot", name=robot.name)
    lines = [*([heading] if heading else []), *(f"Note: {finding}." for finding in findings)]
    # Findings stand in the file too: whoever opens it alone must see what it lacks.
    if lines:
        document.append(comment(lines))
    document.extend(list(writer.elements()))
    ElementTree.indent(document)
    return f'<?xml version="1.0"?>\n{ElementTree.tostring(document, encoding="unicode")}\n', findings


def _check_names(robot: Robot) -> None:
    joints, links = (("joint", joint.name) for joint in robot.joints), (("link", link.name) for link in robot.links)
    frames = (("frame", frame.name) for frame in robot.frames)
    for kind, name in (("robot", robot.name), *joints, *links, *frames):
        letter = beyond_xml(name)
        if letter is not None:
            raise DescriptionError(
                f"{kind} {name!r}: a URDF cannot hold the character {letter!r}; rename it, or save the robot as .toml"
            )


def _check_real(where: str, inertia: Inertia) -> None:
    # A URDF holds the centre of mass, moment over mass, which such a body has not.
    if inertia.mass < 0 or (inertia.mass == 0 and inertia.first_moment.any()):
        raise DescriptionError(
            f"{where}: a virtual body (mass {inertia.mass:g} kg, first moment {inertia.first_moment.tolist()}) has no "
            "place in a URDF",
            remedy=f"save it as .toml, or find physically consistent links with {call('feasible_parameters')}",
        )


def _is_root(robot: Robot, frame: Frame) -> bool:
    named = frame.name in [link.name for link in robot.links]
    return frame.link == -1 and not named and np.array_equal(frame.link_from_frame, np.eye(4))


def _body(robot: Robot, i: int, taken: set[str]) -> UrdfBody:
    """The link's own frame, or the frame of the link's name where the joint's axis passes through its origin."""
    joint, name = robot.joints[i], robot.links[i].name
    frame = robot.frame(name)
    # A URDF joint turns about the child's origin: a frame beside the axis cannot be the child.
    if frame.link == i and (not joint.type.is_angle or not frame.link_from_frame[:2, 3].any()):
        return UrdfBody(name, frame.link_from_frame)
    return UrdfBody(_free(f"{name}_at_joint", taken), np.eye(4))


def _free(name: str, taken: set[str]) -> str:
    """Take this name, or with underscores behind it one that is not taken yet."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


@dataclass(frozen=True, eq=False)
class _Writer:
    """A robot, its bodies by index (-1 is the root) and the folder that meshes are named from."""

    robot: Robot
    bodies: dict[int, UrdfBody]
    folder: Path

    def elements(self) -> Iterator[Any]:
        """Links and joints, parents first, then what is fixed to them."""
        shapes: dict[str, list[tuple[str, Shape]]] = {}
        for tag, some in (("visual", self.robot.visuals), ("collision", self.robot.shapes)):
            for shape in some:
                shapes.setdefault(shape.frame, []).append((tag, shape))
        joint_names = {joint.name for joint in self.robot.joints}
        yield self._link(self.bodies[-1].name, None, shapes)
        for i, (joint, link) in enumerate(zip(self.robot.joints, self.robot.links, strict=True)):
            body = self.bodies[i]
            # Our inertia is about the joint's frame; the URDF wants it in the body's.
            yield self._link(body.name, link.inertia.moved(inverse(body.link_from_body)), shapes)
            yield self._moving(i, joint)
        link_names = {body.name for body in self.bodies.values()}
        for frame, inertia in self._fixed():
            name = frame.name
            if name not in link_names:  # of two frames of one name the first counts
                link_names.add(name)
                yield self._link(name, inertia, shapes)
                yield self._joint(_free(f"{name}_fixed", joint_names), "fixed", frame.link, name, frame.link_from_frame)

    def _fixed(self) -> Iterator[tuple[Frame, Inertia | None]]:
        """Frames, and the payload as a link of its own."""
        yield from ((frame, None) for frame in self.robot.frames)
        if self.robot.payload:
            _check_real("payload", self.robot.payload.inertia)
            place = self.robot.frame(self.robot.payload.frame)
            taken = {frame.name for frame in self.robot.frames} | {body.name for body in self.bodies.values()}
            # A link of its own: readers that know no payload merge it, and it can be told apart.
            carried = Frame(_free("payload", taken), place.link, place.link_from_frame)
            yield carried, self.robot.payload.inertia

    def _link(self, name: str, inertia: Inertia | None, shapes: dict[str, list[tuple[str, Shape]]]) -> Any:
        element = ElementTree.Element("link", name=name)
        # By URDF's own rule a link without <inertial> is massless.
        if inertia is not None and inertia.parameters.any():
            element.append(inertial_element(inertia))
        for tag, shape in shapes.get(name, []):
            solid = geometry(shape.solid, self.folder)
            if solid is not None:
                part = ElementTree.SubElement(element, tag)
                part.append(origin(shape.frame_from_shape))
                ElementTree.SubElement(part, "geometry").append(solid)
                if shape.colour is not None:
                    material = ElementTree.SubElement(part, "material", name="")
                    ElementTree.SubElement(material, "color", rgba=numbers([*shape.colour, 1.0]))
        return element

    def _joint(self, name: str, kind: str, parent: int, child: str, parent_from_child: Array) -> Any:
        element = ElementTree.Element("joint", name=name, type=kind)
        carrier = self.bodies[parent]
        # Both ends are ours; the URDF's origin is relative to the carrier's own frame.
        element.append(origin(product(inverse(carrier.link_from_body), parent_from_child)))
        ElementTree.SubElement(element, "parent", link=carrier.name)
        ElementTree.SubElement(element, "child", link=child)
        return element

    def _moving(self, i: int, joint: Joint) -> Any:
        body, limits = self.bodies[i], joint.limits
        # the last word is that of a joint without limits, where URDF has one
        words = joint.type.words("urdf")
        bounded = len(words) == 1 or np.isfinite([limits.lower, limits.upper]).any()
        kind = words[0] if bounded else words[-1]
        placed = product(joint.parent_from_joint, body.link_from_body)
        element = self._joint(joint.name, kind, joint.parent, body.name, placed)
        # Our axis is z of the link: its third row in the body's axes.
        ElementTree.SubElement(element, "axis", xyz=numbers(body.link_from_body[2, :3]))
        # A URDF must state these of a bounded joint; what is unlimited gets the largest number that `load` takes.
        bounds = {"lower": limits.lower, "upper": limits.upper} if bounded else {}
        bounds |= {"effort": limits.effort, "velocity": limits.velocity}
        if bounded or np.isfinite([limits.effort, limits.velocity]).any():
            clipped = {key: numbers([np.clip(value, -LARGEST, LARGEST)]) for key, value in bounds.items()}
            ElementTree.SubElement(element, "limit", clipped)
        if joint.viscous or joint.coulomb:
            set_dynamics(element, joint)
        mimic = _mimic(self.robot, i)
        if mimic:
            ElementTree.SubElement(element, "mimic", mimic)
        return element


def _mimic(robot: Robot, i: int) -> dict[str, str] | None:
    """Attributes of <mimic> where the joint follows one other; a constant follows any joint, times zero."""
    closure = robot.closure
    if closure is None or robot.joints[i].name in closure.active:
        return None
    if isinstance(closure, GeneralClosure):
        own = next(relation for relation in closure.relations if robot.joints[i].name in relation.joints)
        found = single_leader(own)
        if found is None:
            return None
        leader, factor, constant = found
        return {"joint": leader, "multiplier": numbers([factor]), "offset": numbers([constant])}
    leaders = np.flatnonzero(closure.F[i])
    # <mimic> names one joint; what is left out here stands among the findings.
    if len(leaders) > 1:
        return None
    # A joint that is held at a constant follows the first one, times zero.
    k = int(leaders[0]) if len(leaders) else 0
    return {
        "joint": closure.active[k],
        "multiplier": numbers([closure.F[i, k]]),
        "offset": numbers([closure.offset[i]]),
    }
