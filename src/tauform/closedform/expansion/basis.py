"""The functions of one joint that dynamics are made of, and the matrices that multiply them.

A joint moves ten inertial parameters and wrenches from its link to its parent by matrices whose entries are
polynomials in cos q and sin q (revolute) or q (prismatic): T(q) = sum_e T_e f_e(q), with the f_e of Lloyd2021
Eqs. 5 and 7 after sin^2 = 1 - cos^2 is used. For joint motion alone the T_e hold small integers, so structural
zeros are exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.description.transform import exact_sin_cos
from tauform.portable.products import product

# Digits of the monomial code: 1, c, s, c^2, s c of a revolute joint; 1, q, q^2 of a prismatic one.
N_DIGITS = 5
REVOLUTE_EXPONENTS = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 2], [0, 1, 1]])  # of q, sin q, cos q
PRISMATIC_EXPONENTS = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 0], [0, 0, 0]])
# Row e, column f: how much of function e is in the derivative of function f.
_REVOLUTE_DERIVATIVE = np.array(
    [[0, 0, 0, 0, -1], [0, 0, 1, 0, 0], [0, -1, 0, 0, 0], [0, 0, 0, 0, 2], [0, 0, 0, -2, 0]], dtype=float
)
_PRISMATIC_DERIVATIVE = np.array([[0, 1, 0], [0, 0, 2], [0, 0, 0]], dtype=float)
# A rotation's entry, or a length relative to the robot's largest, below this is what trigonometry left of zero.
ALIGNED = 4 * np.finfo(float).eps

_OTHERS = 1.0 - np.eye(3)
_PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # the six tensor entries in their order among the ten


@dataclass(frozen=True, eq=False)
class JointMatrices:
    """How one joint moves rows: row_in_link = row_in_parent @ matrix, one matrix a function of the joint.

    Attributes:
        ten, ten_rate: (k, 10, 10) inertial parameters, link to parent, and the derivative by q.
        wrench, wrench_rate: (k, 6, 6) the same for wrenches (moment, force).
        momentum: (6, 10) wrench of the link when its joint accelerates by one, from the ten.
    """

    ten: Array
    ten_rate: Array
    wrench: Array
    wrench_rate: Array
    momentum: Array


def joint_matrices(robot: Robot, fixed: dict[int, float]) -> list[JointMatrices]:
    """The matrices of each joint of a chain; a fixed joint has a single, constant function."""
    placements = np.array([joint.parent_from_joint for joint in robot.joints])
    R, p = placements[:, :3, :3].copy(), placements[:, :3, 3].copy()
    R[np.abs(R) <= ALIGNED] = 0.0
    p[np.abs(p) <= ALIGNED * np.abs(p).max()] = 0.0
    ten, wrench = placed_ten(R, p), _placed_wrench(R, p)
    return [_one_joint(robot, i, ten[i], wrench[i], fixed.get(i)) for i in range(robot.n_bodies)]


def _one_joint(robot: Robot, i: int, ten: Array, wrench: Array, position: float | None) -> JointMatrices:
    revolute = robot.joints[i].is_revolute
    derivative = _REVOLUTE_DERIVATIVE if revolute else _PRISMATIC_DERIVATIVE
    T = product(ten, _TEN_ABOUT_Z if revolute else _TEN_ALONG_Z)
    X = product(wrench, _WRENCH_ABOUT_Z if revolute else _WRENCH_ALONG_Z)
    dT = _combined(derivative, T)
    # A wrench has degree one: it needs the first functions only, and so does its derivative.
    dX = _combined(derivative[: len(X), : len(X)], X)
    if position is not None:
        values = _function_values(revolute, position)
        T, dT = (_combined(values[None], matrix) for matrix in (T, dT))
        X, dX = (_combined(values[None, : len(X)], matrix) for matrix in (X, dX))
    return JointMatrices(T, dT, X, dX, _MOMENTUM_ABOUT_Z if revolute else _MOMENTUM_ALONG_Z)


def _combined(weights: Array, matrices: Array) -> Array:
    """(r, ...) sums of k matrices, weighted by (r, k)."""
    return product(weights, matrices.reshape(len(matrices), -1)).reshape(-1, *matrices.shape[1:])


def _function_values(revolute: bool, q: float) -> Array:
    s, c = exact_sin_cos(q)
    return np.array([1.0, c, s, c * c, s * c] if revolute else [1.0, q, q * q])


def placed_ten(R: Array, p: Array) -> Array:
    """(n, 10, 10) the ten parameters in another frame; products only, so that a tiny twist keeps all its digits."""
    n = len(R)
    T = np.zeros((n, 10, 10))
    T[:, 0, 0] = 1.0
    T[:, 1:4, 0] = p
    T[:, 1:4, 1:4] = R
    for row, (a, b) in enumerate(_PAIRS, start=4):
        # I = sum (r.r 1 - r r^T): from the mass, from the first moment, from the tensor
        T[:, row, 0] = product(p * p, _OTHERS[a]) if a == b else -p[:, a] * p[:, b]
        if a == b:
            T[:, row, 1:4] = 2 * ((p * _OTHERS[a])[:, :, None] * R).sum(axis=1)
        else:
            T[:, row, 1:4] = -(R[:, a] * p[:, b, None] + R[:, b] * p[:, a, None])
        for column, (c, d) in enumerate(_PAIRS, start=4):
            straight = R[:, a, c] * R[:, b, d]
            T[:, row, column] = straight if c == d else straight + R[:, a, d] * R[:, b, c]
    return T


def _placed_wrench(R: Array, p: Array) -> Array:
    """(n, 6, 6) f' = R f, n' = R n + p x R f."""
    X = np.zeros((len(R), 6, 6))
    X[:, :3, :3] = X[:, 3:, 3:] = R
    X[:, :3, 3:] = np.cross(p[:, :, None], R, axisa=1, axisb=1, axisc=1)
    return X


def _matrices(size: int, *entries: dict[tuple[int, int], float]) -> Array:
    result = np.zeros((len(entries), size, size))
    for matrix, places in zip(result, entries, strict=True):
        for place, value in places.items():
            matrix[place] = value
    return result


# Ixx' = Iyy + c^2 (Ixx - Iyy) - 2 s c Ixy,  Ixy' = -Ixy + 2 c^2 Ixy + s c (Ixx - Iyy),  Iyy' likewise
_TEN_ABOUT_Z = _matrices(
    10,
    {(0, 0): 1, (3, 3): 1, (9, 9): 1, (4, 6): 1, (6, 4): 1, (5, 5): -1},
    {(1, 1): 1, (2, 2): 1, (7, 7): 1, (8, 8): 1},
    {(1, 2): -1, (2, 1): 1, (7, 8): -1, (8, 7): 1},
    {(4, 4): 1, (4, 6): -1, (5, 5): 2, (6, 6): 1, (6, 4): -1},
    {(4, 5): -2, (5, 4): 1, (5, 6): -1, (6, 5): 2},
)
# mz' = mz + q m,  Ixx' = Ixx + 2 q mz + q^2 m,  Ixz' = Ixz - q mx
_TEN_ALONG_Z = _matrices(
    10,
    {(k, k): 1 for k in range(10)},
    {(3, 0): 1, (4, 3): 2, (6, 3): 2, (7, 1): -1, (8, 2): -1},
    {(4, 0): 1, (6, 0): 1},
)
_WRENCH_ABOUT_Z = _matrices(
    6,
    {(2, 2): 1, (5, 5): 1},
    {(0, 0): 1, (1, 1): 1, (3, 3): 1, (4, 4): 1},
    {(0, 1): -1, (1, 0): 1, (3, 4): -1, (4, 3): 1},
)
_WRENCH_ALONG_Z = _matrices(6, {(k, k): 1 for k in range(6)}, {(0, 4): -1, (1, 3): 1})
# (I z, z x h) and (h x z, m z)
_MOMENTUM_ABOUT_Z = np.zeros((6, 10))
_MOMENTUM_ABOUT_Z[(0, 1, 2, 3, 4), (7, 8, 9, 2, 1)] = (1, 1, 1, -1, 1)
_MOMENTUM_ALONG_Z = np.zeros((6, 10))
_MOMENTUM_ALONG_Z[(0, 1, 5), (2, 1, 0)] = (1, -1, 1)
