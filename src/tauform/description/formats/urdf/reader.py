"""URDF and xacro, read by yourdfpy and xacrodoc: what moves, weighs and collides; meshes stay on disk."""

from __future__ import annotations

import io
import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from tauform.arrays import LARGEST, Array, fixed_array, read_only
from tauform.description.formats.assembly import Body, BodyJoint, assemble
from tauform.description.formats.urdf.elements import check_elements
from tauform.description.inertia import Inertia
from tauform.description.joint import Limits
from tauform.description.robot import EARTH_GRAVITY, Robot
from tauform.description.shapes import urdf_shapes
from tauform.errors import DescriptionError, MissingExtraError, TauformError
from tauform.messages import no_such

KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}


def read_urdf(path: Path) -> Robot:
    """Read a URDF or xacro file: fixed links merged into the link that carries them and kept as frames.

    Raises:
        DescriptionError: the file is not XML or not a tree of joints that we support; the message says where.
        MissingExtraError: yourdfpy or xacrodoc is not installed.
    """
    text = _expand(path) if path.suffix.lower() == ".xacro" else path.read_bytes()
    try:
        urdf = _parse(text)
        return replace(_robot(urdf), shapes=urdf_shapes(urdf, path.parent))
    except TauformError as error:
        raise type(error)(f"{path.name}: {error}") from None


def _expand(path: Path) -> bytes:
    try:
        from xacrodoc import XacroDoc
    except ImportError:
        raise MissingExtraError("reading xacro needs xacrodoc; pip install tauform[urdf]") from None
    try:
        return XacroDoc.from_file(str(path)).to_urdf_string().encode()
    except Exception as error:  # xacro raises many kinds, none of a common base
        raise DescriptionError(f"{path.name}: xacro cannot expand it ({_first_line(error)})") from None


def _parse(text: bytes) -> Any:
    try:
        import yourdfpy
        from lxml import etree  # which yourdfpy itself reads with
    except ImportError:
        raise MissingExtraError("reading URDF needs yourdfpy; pip install tauform[urdf]") from None
    # yourdfpy repairs broken XML silently, so well-formedness is ours to check; undeclared prefixes are harmless.
    try:
        root: Any = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        if "unbound prefix" not in str(error):
            raise DescriptionError(f"not XML ({error}); correct that line") from None
        root = etree.fromstring(text, etree.XMLParser(recover=True))
    except (LookupError, ValueError) as error:
        raise DescriptionError(f"its encoding cannot be read ({error}); save it as UTF-8") from None
    if root.tag != "robot":
        raise DescriptionError(f"the root element is <{root.tag}>, a URDF has <robot>; check the file")
    check_elements(root)
    try:
        with _silent("yourdfpy"):
            model = yourdfpy.URDF.load(io.BytesIO(text), build_scene_graph=False, load_meshes=False)
    except Exception as error:  # the reader has no exception of its own
        raise DescriptionError(f"not a URDF that can be read ({type(error).__name__}: {_first_line(error)})") from None
    return model.robot


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


@contextmanager
def _silent(logger: str) -> Iterator[None]:
    logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logging.getLogger(logger).setLevel(logging.NOTSET)


def _robot(urdf: Any) -> Robot:
    if not urdf.links:
        raise DescriptionError("the URDF has no links; nothing is left to derive")
    inertias = {link.name: _inertia(link) for link in urdf.links}
    bodies = [_body(joint, inertias) for joint in urdf.joints]
    carried = {body.name for body in bodies}
    roots = [Body(name, None, np.eye(4), inertia) for name, inertia in inertias.items() if name not in carried]
    robot = assemble(urdf.name or "robot", [*roots, *bodies], read_only(EARTH_GRAVITY))
    relations = _relations(urdf)
    return robot.with_relations(relations) if relations else robot


def _inertia(link: Any) -> Inertia:
    inertial = link.inertial
    if inertial is None or inertial.mass is None:
        return Inertia.zero()
    tensor = np.zeros((3, 3)) if inertial.inertia is None else inertial.inertia
    try:
        about_com = Inertia.of(float(inertial.mass), inertia=tensor, inertia_about="com")
        return about_com.moved(_origin(inertial.origin, "inertial origin"))
    except TauformError as error:
        raise DescriptionError(f"link {link.name!r}: {error}") from None


def _origin(origin: Array | None, where: str) -> Array:
    return np.eye(4) if origin is None else fixed_array(origin, (4, 4), where)


def _body(joint: Any, inertias: dict[str, Inertia]) -> Body:
    where = f"joint {joint.name!r}"
    for link in (joint.parent, joint.child):
        if link not in inertias:
            raise no_such(f"{where}: link", link, inertias)
    origin = _origin(joint.origin, f"{where}: origin")
    if joint.type == "fixed":
        return Body(joint.child, joint.parent, origin, inertias[joint.child])
    if joint.type not in KINDS:
        raise DescriptionError(
            f"{where} is of type {joint.type!r}; only revolute, continuous, prismatic and fixed are supported: "
            "make it fixed (a fixed base) or replace it by a chain of those"
        )
    moving = BodyJoint(joint.name, KINDS[joint.type], joint.axis, drive=_drive(joint))  # type: ignore[arg-type]
    return Body(joint.child, joint.parent, origin, inertias[joint.child], moving)


def _drive(joint: Any) -> dict[str, Any]:
    limit, dynamics = joint.limit, joint.dynamics
    bounds = {} if limit is None else {"velocity": limit.velocity, "effort": limit.effort}
    if limit is not None and joint.type != "continuous":  # URDF: missing bounds are 0
        bounds |= {"lower": limit.lower or 0.0, "upper": limit.upper or 0.0}
    # Where others cannot read "inf" a huge number stands for it.
    known = {key: float(x) for key, x in bounds.items() if x is not None and abs(x) < LARGEST}
    drive: dict[str, Any] = {"limits": Limits(**known)}
    if dynamics is not None:
        drive |= {"viscous": float(dynamics.damping or 0.0), "coulomb": float(dynamics.friction or 0.0)}
    return drive


def _relations(urdf: Any) -> dict[str, dict[str, float]]:
    """Mimic joints as relations to joints that follow nothing: a follower's follower is resolved."""
    joints = {joint.name: joint for joint in urdf.joints}
    lost = _mimics_of_nothing(joints)
    relations = {}
    for name, joint in joints.items():
        if joint.mimic is None or joint.type == "fixed" or name in lost:
            continue
        factor, constant, seen = 1.0, 0.0, {name}
        leader = joint
        while leader.mimic is not None and leader.name not in lost:
            # q = multiplier q_leader + offset; an absent multiplier is 1, an absent offset 0
            mimic = leader.mimic
            constant += factor * (mimic.offset or 0.0)
            factor *= 1.0 if mimic.multiplier is None else mimic.multiplier
            if mimic.joint in seen:
                raise DescriptionError(f"joint {name!r} mimics itself through {leader.name!r}; remove one mimic")
            seen.add(mimic.joint)
            leader = joints[mimic.joint]
        # A fixed leader stays at zero.
        relations[name] = {"": constant} if leader.type == "fixed" else {leader.name: factor, "": constant}
    return relations


def _mimics_of_nothing(joints: Mapping[str, Any]) -> list[str]:
    lost = [name for name, joint in joints.items() if joint.mimic and joint.mimic.joint not in joints]
    if lost:
        listed = ", ".join(map(repr, lost))
        missing = no_such("joint", joints[lost[0]].mimic.joint, joints)
        text = f"joints {listed} mimic joints that are not there and are read as independent: {missing}"
        warnings.warn(text, stacklevel=7)  # the line that called load
    return lost
