"""A smooth motion through a robot's range, for pictures of its torques."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.drives.friction import REFERENCE_TEMPERATURE
from tauform.description.robot import Robot

DURATION, N_SAMPLES = 6.0, 301
# The part of the range that a motion sweeps, and the widest range that is of use [rad or m].
SWEPT_SHARE_OF_RANGE, MAX_RANGE = 0.5, 4 * np.pi
# Whole numbers of periods, so that the motion closes; neighbours differ, so that they couple.
PERIODS = (1, 2, 1, 3, 2, 3, 2)


@dataclass(frozen=True, eq=False)
class ShownMotion:
    """Positions, velocities and accelerations over time, t (N,), the others (N, n)."""

    t: Array
    q: Array
    qd: Array
    qdd: Array


def sweep_motion(robot: Robot) -> ShownMotion:
    """Every coordinate swings sinusoidally about the middle of its range, within limits of position and velocity."""
    t = np.linspace(0.0, DURATION, N_SAMPLES)
    low, high = coordinate_ranges(robot).T
    middle = (low + high) / 2
    w = 2 * np.pi * np.array([PERIODS[j % len(PERIODS)] for j in range(robot.n_joints)]) / DURATION
    speeds = {joint.name: joint.limits.velocity for joint in robot.joints}
    fastest = np.array([speeds[name] for name in robot.joint_names])
    # The amplitude that reaches half of the range, or the speed limit, v = A w.
    amplitude = np.minimum(SWEPT_SHARE_OF_RANGE * (high - low) / 2, np.where(np.isfinite(fastest), fastest, np.inf) / w)
    # Phases one radian apart, so that joints do not turn back together.
    phase = w * t[:, None] + np.arange(robot.n_joints)
    return ShownMotion(
        t, middle + amplitude * np.sin(phase), amplitude * w * np.cos(phase), -amplitude * w**2 * np.sin(phase)
    )


def reference_temperature(robot: Robot) -> dict[str, Any]:
    """The temperature at which Fv holds, as an argument of torque functions; nothing where friction does not ask."""
    if not robot.needs_temperature:
        return {}
    return {"temperature": np.full(robot.n_joints, REFERENCE_TEMPERATURE)}


def coordinate_ranges(robot: Robot) -> Array:
    """(n, 2) lower and upper bound of each coordinate: its limits, or half a turn and half a metre either way."""
    joints = {joint.name: joint for joint in robot.joints}
    ranges = []
    for name in robot.joint_names:
        joint = joints[name]
        usual = joint.type.usual_range
        low, high = joint.limits.lower, joint.limits.upper
        # A range that is not finite, empty or of several turns is no use for a slider.
        usable = np.isfinite([low, high]).all() and low < high <= low + MAX_RANGE
        ranges.append((low, high) if usable else (-usual, usual))
    return np.array(ranges)


def home_position(robot: Robot) -> Array:
    """(n,) zero, or the nearest position within the range."""
    low, high = coordinate_ranges(robot).T
    return np.clip(0.0, low, high)
