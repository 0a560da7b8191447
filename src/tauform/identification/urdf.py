"""A copy of a URDF with identified inertias and friction in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tauform.arrays import Array
from tauform.description.assembly import axis_frame
from tauform.description.inertia import Inertia
from tauform.errors import IdentificationError
from tauform.identification.fit import Fit


def write_urdf(fit: Fit, source: Path, path: Path) -> Path:
    """Copy `source` to `path` with the fit's links; a fit that is not physical is made so first.

    What was rigidly fixed to a link (flanges, grippers, locked joints) is part of the identified link, so these
    parts lose their own inertia.

    Raises:
        IdentificationError: the file is not the URDF of this robot, or cannot be written.
        MissingExtraError: the fit is not physical and the extra `feasible` is not installed.
    """
    physical = fit if fit.physical is not None else fit.physically_consistent()
    robot = physical.identified_robot
    try:
        document = ElementTree.parse(source)
    except (OSError, ElementTree.ParseError) as error:
        raise IdentificationError(f"{source}: cannot be read as a URDF ({error})") from None
    root = document.getroot()
    elements = {link.get("name"): link for link in root.findall("link")}
    joints = {joint.get("name"): joint for joint in root.findall("joint")}
    known = {joint.name for joint in robot.joints}
    missing = sorted(known - set(joints))
    if missing:
        raise IdentificationError(
            f"{source.name}: has no joint {missing[0]!r}; give the file that the robot was read from"
        )
    for link in list(elements.values()):
        for inertial in link.findall("inertial"):
            link.remove(inertial)
    for joint, inertia in zip(robot.joints, robot.inertias, strict=True):
        element = joints[joint.name]
        child = elements[_child(element)]
        child.insert(0, _inertial(inertia.moved(_link_from_z(element))))
        _set_dynamics(element, joint.viscous, joint.coulomb)
    ElementTree.indent(document)
    try:
        document.write(path, encoding="unicode", xml_declaration=True)
    except OSError as error:
        raise IdentificationError(f"{path}: cannot be written ({error.strerror})") from None
    return path


def _child(joint: Any) -> str:
    return str(joint.find("child").get("link"))


def _link_from_z(joint: Any) -> Array:
    """(4, 4) rotation from our link frame, whose z is the axis, to the URDF's link frame."""
    axis = joint.find("axis")
    direction = np.array([float(v) for v in (axis.get("xyz") if axis is not None else "1 0 0").split()])
    return axis_frame(direction, str(joint.get("name")))


def _inertial(inertia: Inertia) -> Any:
    element = ElementTree.Element("inertial")
    com = inertia.com
    tensor = inertia.tensor_about_com
    ElementTree.SubElement(element, "origin", xyz=" ".join(f"{v:.12g}" for v in com), rpy="0 0 0")
    ElementTree.SubElement(element, "mass", value=f"{inertia.mass:.12g}")
    entries = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    ElementTree.SubElement(element, "inertia", {name: f"{tensor[i, j]:.12g}" for name, (i, j) in entries.items()})
    return element


def _set_dynamics(joint: Any, viscous: float, coulomb: float) -> None:
    for old in joint.findall("dynamics"):
        joint.remove(old)
    ElementTree.SubElement(joint, "dynamics", damping=f"{viscous:.12g}", friction=f"{coulomb:.12g}")
