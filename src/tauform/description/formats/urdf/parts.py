"""Elements of a URDF, written: what links and joints are made of."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tauform.arrays import Array
from tauform.description.inertia import Inertia
from tauform.description.joint import Joint
from tauform.description.shapes import Box, Cylinder, Mesh, Solid, Sphere
from tauform.description.transform import rpy_of
from tauform.escaping.markup import xml_comment

TENSOR_ENTRIES = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}


def inertial_element(inertia: Inertia) -> Any:
    """<inertial> of a body: its mass, centre of mass and tensor about it, in the axes of the link."""
    element = ElementTree.Element("inertial")
    ElementTree.SubElement(element, "origin", xyz=numbers(inertia.com), rpy="0 0 0")
    ElementTree.SubElement(element, "mass", value=numbers([inertia.mass]))
    tensor = inertia.tensor_about_com
    entries = {key: numbers([tensor[i, j]]) for key, (i, j) in TENSOR_ENTRIES.items()}
    ElementTree.SubElement(element, "inertia", entries)
    return element


def set_dynamics(element: Any, joint: Joint) -> None:
    """Put Fv and Fc into <dynamics> of a joint's element, in place of what it says."""
    # Two of them would contradict each other.
    for old in element.findall("dynamics"):
        element.remove(old)
    ElementTree.SubElement(element, "dynamics", damping=numbers([joint.viscous]), friction=numbers([joint.coulomb]))


def comment(lines: Iterable[str]) -> Any:
    """A comment of some lines."""
    return ElementTree.Comment(" " + "\n       ".join(map(xml_comment, lines)) + " ")


def origin(parent_from_child: Array) -> Any:
    """<origin> of a placement."""
    xyz, rpy = parent_from_child[:3, 3], rpy_of(parent_from_child)
    return ElementTree.Element("origin", xyz=numbers(xyz), rpy=numbers(rpy))


def numbers(values: Iterable[float]) -> str:
    """The shortest texts that read back as the same numbers."""
    # Adding zero turns -0.0 into 0.0.
    return " ".join(repr(float(value) + 0.0).removesuffix(".0") for value in values)


def geometry(solid: Solid | None, folder: Path) -> Any:
    """Contents of <geometry> for a solid, a mesh by its way from a folder; None for one that URDF does not know."""
    if isinstance(solid, Box):
        return ElementTree.Element("box", size=numbers(solid.size))
    if isinstance(solid, Cylinder):
        return ElementTree.Element("cylinder", radius=numbers([solid.radius]), length=numbers([solid.length]))
    if isinstance(solid, Sphere):
        return ElementTree.Element("sphere", radius=numbers([solid.radius]))
    if isinstance(solid, Mesh):
        # Relative, so that the folder can be moved; an address is none of the disk's.
        name = solid.file if "://" in solid.file else Path(os.path.relpath(solid.file, folder)).as_posix()
        return ElementTree.Element("mesh", filename=name, scale=numbers(solid.scale))
    return None
