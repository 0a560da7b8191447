"""Matrices of the joints, which move parameters and wrenches: the functions of its type, at its place on the parent.

T(q) = T_placement sum_e T_e f_e(q), with the functions f_e of `tauform.description.joint_types`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.portable.products import product

# A rotation's entry, or a length relative to the robot's largest, below this is what trigonometry left of zero.
MAX_ROUNDED_ZERO = 4 * np.finfo(float).eps

_OTHERS = 1.0 - np.eye(3)
_PAIRS = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # the six tensor entries in their order among the ten


@dataclass(frozen=True, eq=False)
class JointMatrices:
    """Matrices of one joint: row_in_link = row_in_parent @ matrix, one matrix per function of the joint.

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
    # Noise of cos(pi/2) would make a monomial of every product that it enters.
    R[np.abs(R) <= MAX_ROUNDED_ZERO] = 0.0
    p[np.abs(p) <= MAX_ROUNDED_ZERO * np.abs(p).max()] = 0.0
    ten, wrench = placed_ten(R, p), _placed_wrench(R, p)
    return [_one_joint(robot, i, ten[i], wrench[i], fixed.get(i)) for i in range(robot.n_bodies)]


def _one_joint(robot: Robot, i: int, ten: Array, wrench: Array, position: float | None) -> JointMatrices:
    own = robot.joints[i].type.functions
    T, X = product(ten, own.ten), product(wrench, own.wrench)
    dT = _combined(own.derivative, T)
    # A wrench has degree one: it needs the first functions only, and so does its derivative.
    dX = _combined(own.derivative[: len(X), : len(X)], X)
    if position is not None:
        values = own.values(position)
        T, dT = (_combined(values[None], matrix) for matrix in (T, dT))
        X, dX = (_combined(values[None, : len(X)], matrix) for matrix in (X, dX))
    return JointMatrices(T, dT, X, dX, own.momentum)


def _combined(weights: Array, matrices: Array) -> Array:
    """(r, ...) sums of k matrices, weighted by (r, k)."""
    return product(weights, matrices.reshape(len(matrices), -1)).reshape(-1, *matrices.shape[1:])


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
