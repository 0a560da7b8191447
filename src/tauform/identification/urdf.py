"""A copy of a URDF with identified inertias and friction in it, and what a URDF has no place for in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tauform.arrays import Array
from tauform.description.assembly import axis_frame
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fit import Fit


@dataclass(frozen=True)
class WrittenUrdf:
    """A URDF that was written.

    Attributes:
        path: of the file.
        findings: what it does not say, or says otherwise than the fit; the file holds them as a comment.
    """

    path: Path
    findings: tuple[str, ...]

    def __str__(self) -> str:
        return "; ".join([str(self.path), *self.findings])


def write_urdf(fit: Fit, source: Path, path: Path) -> WrittenUrdf:
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
        links[_link(element, "child")].insert(0, _inertial(inertia.moved(_link_from_z(element))))
        _set_dynamics(element, joint.viscous, joint.coulomb)
    findings = (*_made_physical(fit, physical), *_left_out(robot), *_merged(merged))
    root.insert(0, _comment(physical, findings))
    ElementTree.indent(document)
    try:
        document.write(path, encoding="unicode", xml_declaration=True)
    except OSError as error:
        raise IdentificationError(f"{path}: cannot be written ({error.strerror})") from None
    return WrittenUrdf(path, findings)


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


def _left_out(robot: Robot) -> Iterator[str]:
    rotors = {f"Ia_{j + 1}": joint.rotor_inertia or 0.0 for j, joint in enumerate(robot.joints)}
    if any(rotors.values()):
        yield f"URDF has no place for rotor inertias ({_listed(rotors)}); in MJCF they are the joints' armature"
    offsets = {f"Fo_{j + 1}": joint.offset for j, joint in enumerate(robot.joints)}
    if any(offsets.values()):
        yield f"URDF has no place for friction offsets ({_listed(offsets)}); add them to the torques"


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in values.items() if value)


def _merged(names: list[str]) -> Iterator[str]:
    if names:
        yield f"what moves rigidly with a link is part of it and lost its own inertia: {', '.join(names)}"


def _comment(fit: Fit, findings: tuple[str, ...]) -> Any:
    kept = f"Inertias, damping (Fv) and friction (Fc) identified by {fit.method}; error on {fit.unseen.source} "
    lines = [f"{kept}{100 * fit.unseen.total:.2g} %.", *(f"Note: {finding}." for finding in findings)]
    # Two hyphens would end a comment.
    return ElementTree.Comment(" " + "\n       ".join(lines).replace("--", "- -") + " ")


def _link(joint: Any, role: str) -> str:
    return str(joint.find(role).get("link"))


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
