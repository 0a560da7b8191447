"""The prismatic joint: a shift along z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.inertia import LINK_PARAMETERS
from tauform.description.joint_types.functions import CoordinateFunctions, matrices
from tauform.description.joint_types.joint_type import JointType
from tauform.description.transform import translation


def _values(q: float) -> Array:
    return np.array([1.0, q, q * q])


_MOMENTUM = np.zeros((6, 10))  # (h x z, m z)
# Columns of my, mx and m.
_MOMENTUM[(0, 1, 5), (2, 1, 0)] = (1, -1, 1)
# 1, q, q^2
_FUNCTIONS = CoordinateFunctions(
    exponents=np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 0], [0, 0, 0]]),
    derivative=np.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]], dtype=float),
    # mz' = mz + q m,  Ixx' = Ixx + 2 q mz + q^2 m,  Ixz' = Ixz - q mx
    ten=matrices(
        10,
        {(k, k): 1 for k in range(10)},
        {(3, 0): 1, (4, 3): 2, (6, 3): 2, (7, 1): -1, (8, 2): -1},
        {(4, 0): 1, (6, 0): 1},
    ),
    wrench=matrices(6, {(k, k): 1 for k in range(6)}, {(0, 4): -1, (1, 3): 1}),
    momentum=_MOMENTUM,
    values=_values,
)


@dataclass(frozen=True)
class Prismatic(JointType):
    """q is the distance; S = (0, z)."""

    name, letter = "prismatic", "P"
    unit, effort, effort_unit = "m", "force", "N"
    length_power, is_angle, display_factor = 1, False, 1.0
    usual_range, generic_range = 0.5, 1.0
    screw, component = (0.0, 1.0), 5
    # A pure inertia tensor does not feel the slide, nor do first moments where the parent turns about it only.
    free_groups, rotor_like = tuple((name,) for name in LINK_PARAMETERS if name != "m"), "m"
    functions, dh_column = _FUNCTIONS, "d"
    spelling: ClassVar[dict[str, tuple[str, ...]]] = {
        "urdf": ("prismatic",),
        "mjcf": ("slide",),
        "pinocchio": ("JointModelPZ",),
    }

    def placed(self, R: AnyArray, p: AnyArray, q: AnyArray) -> tuple[AnyArray, AnyArray]:
        """R, p + R z q."""
        # A view: the rotation does not depend on q.
        return np.broadcast_to(R, (3, 3, *q.shape)), p + R[:, 2] * q

    def motion(self, position: float) -> Array:
        """Tz(q)."""
        return translation([0, 0, position])

    def axis_in(self, R: AnyArray, p: AnyArray) -> AnyArray:
        """(0, k), k the third column of R."""
        k = R[:, 2]
        return np.concatenate([0 * k, k])

    def axis_rate(self, twist: AnyArray) -> AnyArray:
        """(0, w x z)."""
        zero = 0 * twist[:1]
        return np.concatenate([zero, zero, zero, twist[1:2], -twist[0:1], zero])

    def axis_cross_force(self, wrench: AnyArray) -> AnyArray:
        """(z x f, 0)."""
        zero = 0 * wrench[:1]
        return np.concatenate([-wrench[4:5], wrench[3:4], zero, zero, zero, zero])
