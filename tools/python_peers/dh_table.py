"""Any chain of revolute joints as a modified DH table, with its inertias in the frames of that table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform import Inertia, Robot
from tauform.arrays import Array
from tauform.description.transform import inverse, rotation_z, translation

# Sine of the angle between axes that count as parallel.
PARALLEL = 1e-9


@dataclass(frozen=True)
class DHRow:
    """Rx(alpha) Tx(a) Rz(theta + q) Tz(d), and the link that moves with it."""

    alpha: float
    a: float
    theta: float
    d: float
    inertia: Inertia


@dataclass(frozen=True, eq=False)
class DHTable:
    """Rows from the base on, and gravity in the frame in which the first row starts."""

    rows: tuple[DHRow, ...]
    gravity: Array


def dh_table(robot: Robot) -> DHTable:
    """Split every placement about and along the two z axes; what belongs to the earlier axis moves to its row."""
    steps = [_Step.of(joint.parent_from_joint) for joint in robot.joints]
    rows = []
    for i, (step, inertia) in enumerate(zip(steps, robot.inertias, strict=True)):
        last = i + 1 == len(steps)
        turn, shift = (0.0, 0.0) if last else (steps[i + 1].turn, steps[i + 1].shift)
        own_from_row = rotation_z(turn) @ translation((0, 0, shift))
        rows.append(DHRow(step.alpha, step.a, step.theta + turn, step.d + shift, inertia.moved(inverse(own_from_row))))
    return DHTable(tuple(rows), rotation_z(-steps[0].turn)[:3, :3] @ robot.gravity)


@dataclass(frozen=True)
class _Step:
    """A placement as Rz(turn) Tz(shift) Rx(alpha) Tx(a) Rz(theta) Tz(d)."""

    turn: float
    shift: float
    alpha: float
    a: float
    theta: float
    d: float

    @classmethod
    def of(cls, placement: Array) -> _Step:
        R, p = placement[:3, :3], placement[:3, 3]
        sine = np.hypot(R[0, 2], R[1, 2])
        if sine > PARALLEL:
            # x lies along the common normal, which is at right angles to both axes.
            turn = np.arctan2(R[0, 2], -R[1, 2])
        else:
            turn = np.arctan2(p[1], p[0]) if np.hypot(p[0], p[1]) > 0 else 0.0
        x, y = np.array([np.cos(turn), np.sin(turn), 0.0]), np.array([-np.sin(turn), np.cos(turn), 0.0])
        alpha = np.arctan2(-y @ R[:, 2], R[2, 2])
        # p = shift z + a x + d R z, of which z has no part along y.
        d = y @ p / (y @ R[:, 2]) if sine > PARALLEL else p[2] * R[2, 2]
        rest = (rotation_z(turn)[:3, :3] @ _rotation_x(alpha)).T @ R
        return cls(turn, p[2] - d * R[2, 2], alpha, x @ p, np.arctan2(rest[1, 0], rest[0, 0]), d)


def _rotation_x(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
