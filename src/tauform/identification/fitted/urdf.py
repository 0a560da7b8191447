"""A copy of a URDF with identified inertias and friction in it, and what a URDF has no place for in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tauform.arrays import Array
from tauform.description.formats.assembly import axis_frame
from tauform.description.formats.save import Written
from tauform.description.formats.urdf.notes import left_out_of_urdf
from tauform.description.formats.urdf.parts import comment, inertial_element, set_dynamics
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fitted.fit import Fit


def write_urdf(fit: Fit, source: Path, path: Path) -> Written:
    """Copy `source` to `path` with the fit's links and friction; a fit that is not physical is made so first.

    Fv and Fc become damping and friction of <dynamics>, as Gazebo and MuJoCo read them. What moves rigidly with an
    identified link (flanges, grippers, locked joints) is part of it, so these parts lose their own inertia.

    Raises:
        IdentificationError: the file is not the URDF of this robot, or cannot be written.
        MissingExtraError: the fit is not physical and the extra `feasible` is not installed.
    """
    physical = fit if fit.physical is not None else fit.physically_consistent()
    robot = physical.identified_robot
    document = _read(source)
    root = document.getroot()
    links = {link.get("name"): link for link in root.findall("link")}
    joints = {joint.get("name"): joint for joint in root.findall("joint")}
    missing = sorted({joint.name for joint in robot.joints} - set(joints))
    if missing:
        raise IdentificationError(
            f"{source.name}: has no joint {missing[0]!r}; give the file that the robot was read from"
        )
    merged = list(_strip_inertias(links, joints, robot))
    for joint, inertia in zip(robot.joints, robot.inertias, strict=True):
        element = joints[joint.name]
        links[_link(element, "child")].insert(0, inertial_element(inertia.moved(_link_from_z(element))))
        set_dynamics(element, joint)
    findings = (*_made_physical(fit, physical), *left_out_of_urdf(robot), *_merged(merged))
    root.insert(0, comment(_lines(physical, findings)))
    ElementTree.indent(document)
    try:
        document.write(path, encoding="unicode", xml_declaration=True)
    except OSError as error:
        raise IdentificationError(f"{path}: cannot be written ({error.strerror})") from None
    return Written(path, findings)


def _read(source: Path) -> ElementTree.ElementTree[Any]:
    """The document with its comments."""
    try:
        return ElementTree.parse(source, ElementTree.XMLParser(target=ElementTree.TreeBuilder(insert_comments=True)))
    except (OSError, ElementTree.ParseError) as error:
        raise IdentificationError(f"{source}: cannot be read as a URDF ({error})") from None


def _strip_inertias(links: Mapping[Any, Any], joints: Mapping[Any, Any], robot: Robot) -> Iterator[str]:
    """Take the inertias of all links that move, and name those that move rigidly with another one."""
    above = {_link(joint, "child"): joint for joint in joints.values()}
    moving = {_link(joints[joint.name], "child") for joint in robot.joints}
    for name, link in links.items():
        carrier = name
        while carrier not in moving and carrier in above:
            carrier = _link(above[carrier], "parent")
        # Nothing was identified of the base: what is part of it keeps its inertia.
        held = link.findall("inertial") if carrier in moving else []
        for inertial in held:
            link.remove(inertial)
        if held and carrier != name:
            yield name


def _made_physical(fit: Fit, physical: Fit) -> Iterator[str]:
    if physical is not fit:
        before, after = (100 * x.held_out.total for x in (fit, physical))
        yield (
            f"the fit is not physical, so it holds the nearest links that could be built, fit.physically_consistent(): "
            f"their error on held-out blocks is {after:.3g} %, that of the fit {before:.3g} %"
        )


def _merged(names: list[str]) -> Iterator[str]:
    if names:
        yield f"what moves rigidly with a link is part of it and lost its own inertia: {', '.join(names)}"


def _lines(fit: Fit, findings: tuple[str, ...]) -> list[str]:
    kept = f"Inertias, damping (Fv) and friction (Fc) identified by {fit.method}; error on {fit.unseen.source} "
    return [f"{kept}{100 * fit.unseen.total:.2g} %.", *(f"Note: {finding}." for finding in findings)]


def _link(joint: Any, role: str) -> str:
    return str(joint.find(role).get("link"))


def _link_from_z(joint: Any) -> Array:
    """(4, 4) rotation from our link frame, whose z is the axis, to the URDF's link frame."""
    axis = joint.find("axis")
    direction = np.array([float(v) for v in (axis.get("xyz") if axis is not None else "1 0 0").split()])
    return axis_frame(direction, str(joint.get("name")))
