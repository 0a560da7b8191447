"""Defaults of `model_robot`: the states of the reduced program, and the routes to it."""

from __future__ import annotations

import numpy as np

from tauform.closedform.profile import Profile, usual_temperatures
from tauform.codegen.program.program import Program
from tauform.description.robot import Robot
from tauform.pipeline.motion import coordinate_ranges
from tauform.realtime.reduction.reduce import ROUTES

# Bounds of the states that a reduced program is made for, where a joint has no limits; those of Lloyd2021, "fast".
SPEED, ACCELERATION = 1.0, 10.0
# Operations of the longest exact program from which single ones are left out one after the other.
MAX_PRUNED_OPERATIONS = 1000


def default_profile(robot: Robot) -> Profile:
    """Positions within the joints' limits at ordinary speeds: 1 rad/s (m/s) and 10 rad/s^2, or the limits' if lower."""
    speeds = {joint.name: joint.limits.velocity for joint in robot.joints}
    # A slow joint is not asked for more than it can do.
    fastest = np.array([min(SPEED, speeds[name]) for name in robot.joint_names])
    bounds = coordinate_ranges(robot).T, fastest, ACCELERATION
    return Profile.ranges(robot.n_joints, *bounds, name="joint limits", temperature=usual_temperatures(robot))


def default_routes(exact: Program) -> tuple[str, ...]:
    """The routes that take minutes at most; leaving out single operations takes the square of their number."""
    return tuple(route for route in ROUTES if route != "operations" or exact.n_operations <= MAX_PRUNED_OPERATIONS)
