"""URDF, read by its letter: what moves, weighs and collides; meshes stay on disk."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import LARGEST, read_only
from tauform.description.finding import Finding
from tauform.description.formats.assembly import Body, BodyJoint, assemble
from tauform.description.formats.strict_xml import parse_xml
from tauform.description.formats.urdf.elements import check_elements
from tauform.description.formats.urdf.gazebo import simulator_findings
from tauform.description.formats.urdf.notes import default_findings
from tauform.description.formats.urdf.shapes import urdf_shapes, urdf_visuals
from tauform.description.formats.urdf.values import placement, tensor_of, vector
from tauform.description.formats.xacro.expand import expand
from tauform.description.inertia import Inertia
from tauform.description.joint import Limits
from tauform.description.joint_types import spelled
from tauform.description.robot import EARTH_GRAVITY, Robot
from tauform.errors import DescriptionError, TauformError
from tauform.messages import no_such

TYPES = spelled("urdf")
# URDF's own default of <axis>.
DEFAULT_AXIS = (1.0, 0.0, 0.0)


def read_urdf(path: Path, package_dirs: Sequence[Path] = ()) -> Robot:
    """Read a URDF file: fixed links merged into the link that carries them and kept as frames.

    Args:
        package_dirs: folders that hold ROS packages, where meshes are looked for too.

    Raises:
        DescriptionError: the file is not XML or not a tree of joints that we support; the message says where.
    """
    return _from_text(path.read_bytes(), path, package_dirs)


def read_xacro(path: Path, package_dirs: Sequence[Path] = (), *, allow_code: bool = False) -> Robot:
    """Read a xacro file: as the URDF that it expands to; see `read_urdf` and `xacro.expand`.

    Raises:
        DescriptionError: it cannot be expanded, runs code without `allow_code`, or is no robot that we support.
        MissingExtraError: xacro is not installed.
    """
    text, warned = expand(path, package_dirs, allow_code=allow_code)
    # Meshes are looked for beside the xacro file, which wrote their names.
    robot = _from_text(text, path, package_dirs)
    notes = tuple(Finding("note", path.name, f"xacro says: {what}", "see the file") for what in warned)
    return replace(robot, notes=(*notes, *robot.notes))


def _from_text(text: bytes, path: Path, package_dirs: Sequence[Path]) -> Robot:
    try:
        root = parse_xml(text)
        # Before anything is read of it: a misspelt element would be missing in silence.
        notes = (*check_elements(root), *simulator_findings(root))
        robot = _robot(root)
        shapes = urdf_shapes(root, path.parent, package_dirs)
        visuals = urdf_visuals(root, path.parent, package_dirs)
        return replace(robot, shapes=shapes, visuals=visuals, notes=(*notes, *default_findings(root, robot)))
    except TauformError as error:
        raise type(error)(f"{path.name}: {error}") from None


def _robot(root: Any) -> Robot:
    inertias = {link.get("name"): _inertia(link) for link in root.findall("link")}
    if not inertias:
        raise DescriptionError("the URDF has no links; nothing is left to derive")
    bodies = [_body(joint, inertias) for joint in root.findall("joint")]
    # Links that no joint carries are roots; `assemble` refuses more than one.
    carried = {body.name for body in bodies}
    roots = [Body(name, None, np.eye(4), inertia) for name, inertia in inertias.items() if name not in carried]
    robot = assemble(root.get("name"), [*roots, *bodies], read_only(EARTH_GRAVITY))
    relations = _relations({joint.get("name"): joint for joint in root.findall("joint")})
    return robot.with_relations(relations) if relations else robot


def _inertia(link: Any) -> Inertia:
    inertial = link.find("inertial")
    if inertial is None:
        return Inertia.zero()
    where = f"link {link.get('name')!r}"
    try:
        mass = float(inertial.find("mass").get("value"))
        # URDF's tensor is about the centre of mass, in the axes of <inertial>'s own origin.
        about_com = Inertia.of(mass, inertia=tensor_of(inertial.find("inertia")), inertia_about="com")
        return about_com.moved(placement(inertial.find("origin")))
    except TauformError as error:
        raise DescriptionError(f"{where}: {error}") from None


def _body(joint: Any, inertias: Mapping[str, Inertia]) -> Body:
    name, kind = joint.get("name"), joint.get("type")
    where = f"joint {name!r}"
    parent, child = joint.find("parent").get("link"), joint.find("child").get("link")
    for link in (parent, child):
        if link not in inertias:
            raise no_such(f"{where}: link", link, inertias)
    try:
        origin = placement(joint.find("origin"))
    except TauformError as error:
        raise DescriptionError(f"{where}: {error}") from None
    # Merged later: its inertia belongs to the link that carries it.
    if kind == "fixed":
        return Body(child, parent, origin, inertias[child])
    if kind not in TYPES:
        raise DescriptionError(
            f"{where} is of type {kind!r}; only {', '.join(TYPES)} and fixed are supported: "
            "make it fixed (a fixed base) or replace it by a chain of those"
        )
    axis = vector(joint.find("axis"), "xyz", DEFAULT_AXIS)
    moving = BodyJoint(name, TYPES[kind], axis, drive=_drive(joint))
    return Body(child, parent, origin, inertias[child], moving)


def _drive(joint: Any) -> dict[str, Any]:
    limit, dynamics = joint.find("limit"), joint.find("dynamics")
    bounds: dict[str, float] = {}
    if limit is not None:
        # Silent ones are unlimited; positions below have URDF's own default.
        bounds = {key: float(limit.get(key)) for key in ("velocity", "effort") if limit.get(key) is not None}
        if joint.get("type") != "continuous":  # URDF: missing bounds are 0
            bounds |= {key: float(limit.get(key, "0")) for key in ("lower", "upper")}
    # Where others cannot read "inf" a huge number stands for it.
    drive: dict[str, Any] = {"limits": Limits(**{key: x for key, x in bounds.items() if abs(x) < LARGEST})}
    if dynamics is not None:
        losses = {"viscous": "damping", "coulomb": "friction"}
        drive |= {name: float(dynamics.get(key, "0")) for name, key in losses.items()}
    return drive


def _relations(joints: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Mimic joints as relations to joints that follow nothing: a follower's follower is resolved."""
    mimics = {name: joint.find("mimic") for name, joint in joints.items() if joint.find("mimic") is not None}
    lost = _mimics_of_nothing(mimics, joints)
    relations = {}
    for name in mimics:
        if joints[name].get("type") == "fixed" or name in lost:
            continue
        factor, constant, leader, seen = 1.0, 0.0, name, {name}
        while leader in mimics and leader not in lost:
            # q = multiplier q_leader + offset; an absent multiplier is 1, an absent offset 0
            mimic, follower = mimics[leader], leader
            constant += factor * float(mimic.get("offset", "0"))
            factor *= float(mimic.get("multiplier", "1"))
            leader = mimic.get("joint")
            if leader in seen:
                raise DescriptionError(f"joint {name!r} mimics itself through {follower!r}; remove one mimic")
            seen.add(leader)
        # A fixed leader stays at zero.
        fixed = joints[leader].get("type") == "fixed"
        relations[name] = {"": constant} if fixed else {leader: factor, "": constant}
    return relations


def _mimics_of_nothing(mimics: Mapping[str, Any], joints: Mapping[str, Any]) -> list[str]:
    lost = [name for name, mimic in mimics.items() if mimic.get("joint") not in joints]
    if lost:
        listed = ", ".join(map(repr, lost))
        missing = no_such("joint", mimics[lost[0]].get("joint"), joints)
        text = f"joints {listed} mimic joints that are not there and are read as independent: {missing}"
        warnings.warn(text, stacklevel=8)  # the line that called load
    return lost
