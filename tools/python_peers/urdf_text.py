"""A robot as a URDF, for tools that read nothing else; friction, rotors and limits are left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from tauform import Inertia, Robot


def urdf_text(robot: Robot) -> str:
    """Joints about or along z, a link each; a base that some tools want to weigh something."""
    base = f'<link name="base">{_inertial(Inertia.of(1.0, inertia=np.eye(3), inertia_about="com"))}</link>'
    return "\n".join([f'<robot name="{robot.name}">', base, *_elements(robot), "</robot>", ""])


def _elements(robot: Robot) -> Iterator[str]:
    for i, (joint, inertia) in enumerate(zip(robot.joints, robot.inertias, strict=True)):
        xyz = _numbers(joint.parent_from_joint[:3, 3])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where two angles turn about one axis any choice will do
            rpy = _numbers(Rotation.from_matrix(joint.parent_from_joint[:3, :3]).as_euler("xyz"))
        parent = f"body{joint.parent}" if joint.parent >= 0 else "base"
        yield f'<link name="body{i}">{_inertial(inertia)}</link>'
        yield f'<joint name="{joint.name}" type="{joint.kind}"><origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="0 0 1"/>'
        yield f'<parent link="{parent}"/><child link="body{i}"/>'
        yield '<limit lower="-10" upper="10" effort="1e4" velocity="100"/></joint>'


def _inertial(inertia: Inertia) -> str:
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    tensor = inertia.tensor_about_com[np.triu_indices(3)]
    entries = " ".join(f'{name}="{float(value)!r}"' for name, value in zip(names, tensor, strict=True))
    origin = f'<origin xyz="{_numbers(inertia.com)}" rpy="0 0 0"/>'
    return f'<inertial>{origin}<mass value="{inertia.mass!r}"/><inertia {entries}/></inertial>'


def _numbers(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)
