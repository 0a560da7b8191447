"""The revolute joint: a turn about z. Without limits other formats call it continuous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.joint_types.functions import CoordinateFunctions, matrices
from tauform.description.joint_types.joint_type import JointType
from tauform.description.transform import exact_sin_cos, rotation_z
from tauform.portable.elementwise import sin_cos


def _values(q: float) -> Array:
    # Exact at quarter turns, where terms would be left of what should vanish.
    s, c = exact_sin_cos(q)
    return np.array([1.0, c, s, c * c, s * c])


_MOMENTUM = np.zeros((6, 10))  # (I z, z x h)
_MOMENTUM[(0, 1, 2, 3, 4), (7, 8, 9, 2, 1)] = (1, 1, 1, -1, 1)
# 1, c, s, c^2, s c
_FUNCTIONS = CoordinateFunctions(
    exponents=np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 2], [0, 1, 1]]),
    derivative=np.array(
        [[0, 0, 0, 0, -1], [0, 0, 1, 0, 0], [0, -1, 0, 0, 0], [0, 0, 0, 0, 2], [0, 0, 0, -2, 0]], dtype=float
    ),
    # Ixx' = Iyy + c^2 (Ixx - Iyy) - 2 s c Ixy,  Ixy' = -Ixy + 2 c^2 Ixy + s c (Ixx - Iyy),  Iyy' likewise
    ten=matrices(
        10,
        {(0, 0): 1, (3, 3): 1, (9, 9): 1, (4, 6): 1, (6, 4): 1, (5, 5): -1},
        {(1, 1): 1, (2, 2): 1, (7, 7): 1, (8, 8): 1},
        {(1, 2): -1, (2, 1): 1, (7, 8): -1, (8, 7): 1},
        {(4, 4): 1, (4, 6): -1, (5, 5): 2, (6, 6): 1, (6, 4): -1},
        {(4, 5): -2, (5, 4): 1, (5, 6): -1, (6, 5): 2},
    ),
    wrench=matrices(
        6,
        {(2, 2): 1, (5, 5): 1},
        {(0, 0): 1, (1, 1): 1, (3, 3): 1, (4, 4): 1},
        {(0, 1): -1, (1, 0): 1, (3, 4): -1, (4, 3): 1},
    ),
    momentum=_MOMENTUM,
    values=_values,
)


@dataclass(frozen=True)
class Revolute(JointType):
    """q is the angle; S = (z, 0)."""

    name, letter = "revolute", "R"
    unit, effort, effort_unit = "rad", "torque", "N m"
    length_power, is_angle, display_factor = 0, True, 180 / np.pi
    usual_range = generic_range = np.pi
    screw, component = (1.0, 0.0), 2
    # Matter spread evenly about the axis: Ixx with Iyy, mz, or m on the axis.
    free_groups, rotor_like = (("Ixx", "Iyy"), ("mz",), ("m",)), "Izz"
    functions, dh_column = _FUNCTIONS, "theta"
    spelling: ClassVar[dict[str, tuple[str, ...]]] = {
        "urdf": ("revolute", "continuous"),
        "mjcf": ("hinge",),
        "pinocchio": ("JointModelRZ",),
    }

    def placed(self, R: AnyArray, p: AnyArray, q: AnyArray) -> tuple[AnyArray, AnyArray]:
        """R Rz(q), p."""
        # Portable sines: textbook results decide searches, and must be the same bits everywhere.
        s, c = sin_cos(q)
        # R Rz(q) by columns: the third does not change, and costs nothing.
        turned = np.empty((3, 3, *q.shape), dtype=np.result_type(R, c))
        turned[:, 0] = R[:, 0] * c + R[:, 1] * s
        turned[:, 1] = R[:, 1] * c - R[:, 0] * s
        turned[:, 2] = R[:, 2]
        return turned, np.broadcast_to(p, (3, *q.shape))

    def motion(self, position: float) -> Array:
        """Rz(q)."""
        return rotation_z(position)

    def axis_in(self, R: AnyArray, p: AnyArray) -> AnyArray:
        """(k, p x k), k the third column of R."""
        # The axis passes through the link's origin p, so that its linear part is p x k.
        k = R[:, 2]
        return np.concatenate([k, p[[1, 2, 0]] * k[[2, 0, 1]] - p[[2, 0, 1]] * k[[1, 2, 0]]])

    def axis_rate(self, twist: AnyArray) -> AnyArray:
        """(w x z, v x z)."""
        zero = 0 * twist[:1]
        return np.concatenate([twist[1:2], -twist[0:1], zero, twist[4:5], -twist[3:4], zero])

    def axis_cross_force(self, wrench: AnyArray) -> AnyArray:
        """(z x n, z x f)."""
        zero = 0 * wrench[:1]
        return np.concatenate([-wrench[1:2], wrench[0:1], zero, -wrench[4:5], wrench[3:4], zero])
