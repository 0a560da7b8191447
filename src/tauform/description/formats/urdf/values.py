"""Numbers of URDF elements whose texts were checked: vectors, placements, inertia tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array
from tauform.description.fields import checked_angles
from tauform.description.formats.urdf.parts import TENSOR_ENTRIES
from tauform.description.transform import quaternion_rotation, rotation_rpy, translation
from tauform.errors import DescriptionError


def vector(element: Any, key: str, default: ArrayLike) -> Array:
    """The numbers of an attribute; the default where element or attribute is absent."""
    text = None if element is None else element.get(key)
    return np.array(default if text is None else text.split(), dtype=np.float64)


def placement(origin: Any) -> Array:
    """(4, 4) of <origin>: xyz, and rpy (about fixed axes) or, from version 1.1 on, quat_xyzw.

    Raises:
        DescriptionError: it gives both orientations, angles in degrees, or a quaternion without direction.
    """
    T = translation(fixed_array(vector(origin, "xyz", np.zeros(3)), (3,), "origin xyz"))
    if origin is None or origin.get("quat_xyzw") is None:
        angles = checked_angles(vector(origin, "rpy", np.zeros(3)), "origin rpy")
        T[:3, :3] = rotation_rpy(angles)[:3, :3]
        return T
    if origin.get("rpy") is not None:
        raise DescriptionError("<origin> gives both rpy and quat_xyzw; keep one")
    x, y, z, w = vector(origin, "quat_xyzw", ())
    T[:3, :3] = quaternion_rotation(np.array([w, x, y, z]), "origin quat_xyzw")
    return T


def tensor_of(inertia: Any) -> Array:
    """(3, 3) of <inertia>."""
    tensor = np.zeros((3, 3))
    for key, (i, j) in TENSOR_ENTRIES.items():
        tensor[i, j] = tensor[j, i] = float(inertia.get(key))
    return tensor
