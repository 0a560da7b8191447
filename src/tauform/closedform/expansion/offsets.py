"""Zeros of the joints at which the fewest terms are left.

A turn by q between two placements R_i = Rz(a_i) Rx(b_i) Rz(c_i) and R_j = Rz(a_j) Rx(b_j) Rz(c_j) is one by
q + c_i + a_j. In that angle a sine stays a sine; in q itself it is a sum of sine and cosine, and a product of k such
sines is a sum of 2^k terms. A quarter turn only exchanges sine and cosine, so what counts is the rest of it.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import replace
from math import pi

import numpy as np

from tauform.arrays import Array, read_only
from tauform.description.joint_types import REVOLUTE
from tauform.description.robot import Robot
from tauform.portable.correct import arctan2
from tauform.portable.products import norm, product

# Entries of a rotation below this are rounding of the angles that it was made of.
MAX_ROUNDED_ZERO = 64 * np.finfo(float).eps
# Angles that no term would show; far above what rounding makes of a quarter turn.
MIN_OFFSET = 1e-12
QUARTER = pi / 2
# Of the terms: a few less are not worth an addition for each angle, and sin(q + 0.3) for s in every equation.
MAX_SHARE_LEFT = 0.9

Count = Callable[[Robot], int]


def fewest_terms(robot: Robot, fixed: Container[int], count: Count) -> Array:
    """(n,) what to add to q so that the closed form has the fewest terms; zeros where little is gained.

    Args:
        fixed: joints that do not move: these have no functions.
        count: terms of a robot.
    """
    offsets = np.array([0.0 if i in fixed else x for i, x in enumerate(geometric_offsets(robot))])
    plain = np.zeros(robot.n_bodies)
    # Counting takes as long as a derivation.
    if not offsets.any() or (not fixed and in_general_position(robot)):
        return read_only(plain)
    fewest = count(with_zeros(robot, offsets))
    if fewest > MAX_SHARE_LEFT * count(robot):
        return read_only(plain)
    # Tip to base: a last joint, whose link can have any inertia, gains nothing.
    for i in reversed(np.flatnonzero(offsets).tolist()):
        without = np.where(np.arange(len(offsets)) == i, 0.0, offsets)
        n_terms = count(with_zeros(robot, without))
        if n_terms <= fewest:
            offsets, fewest = without, n_terms
    return read_only(offsets)


def in_general_position(robot: Robot) -> bool:
    """Whether no axis is parallel to the one before, at a right angle to it, or placed along an axis of their frames.

    Few products vanish then, from whatever zeros joints are counted: about one term in a hundred per joint, far from
    what is worth other zeros.
    """
    if not all(joint.type.is_angle for joint in robot.joints):
        return False
    for joint in robot.joints:
        if joint.parent >= 0:
            R, p = joint.parent_from_joint[:3, :3], joint.parent_from_joint[:3, 3]
            a, c = _angles(joint.parent_from_joint)
            # p with x at right angles to both axes, in the parent's frame and in the joint's own.
            twist = product(product(_turn(-a), R), _turn(-c))
            seen = product(_turn(-a), p)
            entries = np.concatenate([seen, product(twist.T, seen)]) / norm(p) if p.any() else p
            if min(np.abs(twist[1:, 1:]).min(), np.abs(entries).min()) <= MAX_ROUNDED_ZERO:
                return False
    return True


def _turn(angle: float) -> Array:
    """Rz(angle)."""
    return REVOLUTE.motion(angle)[:3, :3]


def with_zeros(robot: Robot, offsets: Array) -> Robot:
    """The robot whose coordinates are q + offsets: links keep their frames and parameters."""
    joints = []
    for joint, offset in zip(robot.joints, offsets.tolist(), strict=True):
        # P motion(q) = P motion(-offset) motion(q + offset)
        placement = product(joint.parent_from_joint, joint.type.motion(-offset)) if offset else joint.parent_from_joint
        if offset:
            placement[np.abs(placement) <= MAX_ROUNDED_ZERO * np.abs(placement).max()] = 0.0
        joints.append(replace(joint, parent_from_joint=placement, lengths=()) if offset else joint)
    return replace(robot, joints=tuple(joints))


def geometric_offsets(robot: Robot) -> list[float]:
    """Angle of each joint that turns: what is left of c_i + a_j beyond quarter turns; j is its first child."""
    before, after = [0.0] * robot.n_bodies, dict[int, float]()
    for i, joint in enumerate(robot.joints):
        if joint.parent < 0:
            # Gravity takes the part of the axis before the first joint.
            before[i] = _angle_to_gravity(joint.parent_from_joint, robot.gravity)
        else:
            angle, before[i] = _angles(joint.parent_from_joint)
            after.setdefault(joint.parent, angle)
    whole = [before[i] + after.get(i, 0.0) for i in range(robot.n_bodies)]
    return [_beyond_quarters(x) if j.type.is_angle else 0.0 for x, j in zip(whole, robot.joints, strict=True)]


def _beyond_quarters(angle: float) -> float:
    rest = angle - round(angle / QUARTER) * QUARTER
    return rest if abs(rest) > MIN_OFFSET else 0.0


def _angle_to_gravity(placement: Array, gravity: Array) -> float:
    # R^T g = (sin b sin c, sin b cos c, cos b)
    x, y, _ = product(placement[:3, :3].T, gravity).tolist()
    return arctan2(x, y) if max(abs(x), abs(y)) > MAX_ROUNDED_ZERO * norm(gravity) else 0.0


def _angles(placement: Array) -> tuple[float, float]:
    """a and c of R = Rz(a) Rx(b) Rz(c); of parallel axes, x is along their distance."""
    R, p = placement[:3, :3], placement[:3, 3]
    # The third column holds a, the third row c, unless the axes are parallel.
    if max(abs(R[0, 2]), abs(R[1, 2])) > MAX_ROUNDED_ZERO:
        return arctan2(float(R[0, 2]), -float(R[1, 2])), arctan2(float(R[2, 0]), float(R[2, 1]))
    # Rz(a + c), or Rz(a - c) Rx(pi)
    turn, sense = arctan2(float(R[1, 0]), float(R[0, 0])), 1.0 if R[2, 2] > 0 else -1.0
    distant = max(abs(p[0]), abs(p[1])) > MAX_ROUNDED_ZERO * norm(p)
    a = arctan2(float(p[1]), float(p[0])) if distant else 0.0
    return a, sense * (turn - a)
