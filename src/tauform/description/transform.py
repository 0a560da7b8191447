"""Homogeneous transforms: the few constructors that robot descriptions need."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array
from tauform.errors import DescriptionError
from tauform.portable.correct import arctan2, sin_cos
from tauform.portable.products import chain, product

# How far the columns of a rotation may be from unit length and from right angles.
ROTATION_TOLERANCE = 1e-9


def rigid(values: ArrayLike, where: str) -> Array:
    """A (4, 4) placement, read-only.

    Raises:
        ShapeError: it has another shape or holds a value that is not finite.
        DescriptionError: it is not a rotation and a translation.
    """
    T = fixed_array(values, (4, 4), where)
    R = T[:3, :3]
    # A mirror keeps lengths and angles too; the triple product tells it from a rotation.
    turned = np.abs(product(R, R.T) - np.eye(3)).max() <= ROTATION_TOLERANCE and product(np.cross(R[0], R[1]), R[2]) > 0
    if not turned or not np.array_equal(T[3], [0, 0, 0, 1]):
        raise DescriptionError(f"{where} does not hold a rotation and a translation; check its columns and last row")
    return T


def translation(offset: ArrayLike) -> Array:
    """(4, 4) pure translation."""
    T = np.eye(4)
    T[:3, 3] = offset
    return T


def rotation_x(angle: float) -> Array:
    """(4, 4) rotation about x; exact at multiples of a quarter turn."""
    return _rotation(angle, 1, 2)


def rotation_y(angle: float) -> Array:
    """(4, 4) rotation about y; exact at multiples of a quarter turn."""
    return _rotation(angle, 2, 0)


def rotation_z(angle: float) -> Array:
    """(4, 4) rotation about z; exact at multiples of a quarter turn."""
    return _rotation(angle, 0, 1)


def rotation_rpy(angles: ArrayLike) -> Array:
    """(4, 4) Rz(yaw) Ry(pitch) Rx(roll): roll, pitch and yaw about fixed axes, as URDF has them."""
    roll, pitch, yaw = np.asarray(angles, dtype=np.float64)
    return chain(rotation_z(yaw), rotation_y(pitch), rotation_x(roll))


def quaternion_rotation(quaternion: ArrayLike, where: str) -> Array:
    """(3, 3) rotation of a quaternion w, x, y, z of any length but zero.

    Raises:
        DescriptionError: it has no direction.
    """
    q = fixed_array(quaternion, (4,), where)
    length = float(np.sqrt(product(q, q)))
    if not length > 0:
        raise DescriptionError(f"{where}: {q.tolist()} has no direction; the quaternion of no rotation is w = 1")
    w, x, y, z = q / length
    # Rodrigues: R = 1 + 2 w [v x] + 2 [v x]^2 for a unit quaternion (w, v).
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * product(cross, cross)


def rpy_of(T: Array) -> Array:
    """(3,) roll, pitch and yaw of a rotation, exact to rounding at a pitch of a quarter turn too; yaw is then zero."""
    R = T[:3, :3]
    yaw = angle_of(R[1, 0], R[0, 0])
    s, c = exact_sin_cos(yaw)
    # What is left of R after the yaw is Ry(pitch) Rx(roll): no angle is divided by a small cosine.
    pitch = angle_of(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = angle_of(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    # Adding zero turns -0.0 into 0.0.
    return np.array([roll, pitch, yaw]) + 0.0


def _rotation(angle: float, i: int, j: int) -> Array:
    s, c = exact_sin_cos(angle)
    T = np.eye(4)
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def exact_sin_cos(angle: float) -> tuple[float, float]:
    """sin and cos, exactly 0 or +-1 where the angle is the double nearest to a multiple of pi/2.

    cos(pi/2) in floating point is 6e-17; left as it is, no product with it would ever fold away.
    """
    # pi / 2 is no double: cos(pi / 2) would be 6e-17, and every product with it a term.
    quarter_turns = round(angle / (np.pi / 2))
    # Four units in the last place: angles that were computed, such as 3 * (pi / 2), count too.
    if abs(angle - quarter_turns * (np.pi / 2)) <= 4 * np.spacing(max(abs(angle), 1e-300)):
        return ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))[quarter_turns % 4]
    return sin_cos(float(angle))


def angle_of(y: float, x: float) -> float:
    """Angle of the point (x, y) [rad], the nearest double."""
    return arctan2(float(y), float(x))


def inverse(T: Array) -> Array:
    """Inverse of a homogeneous transform."""
    result = np.eye(4)
    # R^T, not a solver: exact, and it keeps zeros.
    result[:3, :3] = T[:3, :3].T
    result[:3, 3] = -product(T[:3, :3].T, T[:3, 3])
    return result


def tidy(T: Array) -> Array:
    """The same transform with rotation entries that are 0 or +-1 up to rounding made exact."""
    tolerance = 8 * np.finfo(np.float64).eps
    result = np.array(T)
    nearest = np.round(T[:3, :3])
    # Adding zero turns -0.0 into 0.0.
    result[:3, :3] = np.where(np.abs(T[:3, :3] - nearest) <= tolerance, nearest, T[:3, :3]) + 0.0
    return result
