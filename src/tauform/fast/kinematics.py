"""Kinematics: placements of frames, and how they move with the joints."""

from __future__ import annotations

from typing import Literal

from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.fast.dispatch import Tiered
from tauform.fast.tier import Tier
from tauform.rigidbody import kinematics

_PLACEMENT = Tiered(kinematics.forward_kinematics)
# No program of `tf.compile` has this name.
_LINKS = Tiered(kinematics.link_placements, adopts=False)
_JACOBIAN = Tiered(kinematics.jacobian)


@_PLACEMENT.public
def forward_kinematics(robot: Robot, q: ArrayLike, frame: str | None = None, *, tier: Tier | None = None) -> Array:
    """Placement of a frame in the base, base_from_frame."""
    return _PLACEMENT(robot, {"q": q}, {"frame": frame}, tier)


@_LINKS.public
def link_placements(robot: Robot, q: ArrayLike, *, tier: Tier | None = None) -> Array:
    """Placement of every link in the base, in the order of robot.links."""
    return _LINKS(robot, {"q": q}, {}, tier)


@_JACOBIAN.public
def jacobian(
    robot: Robot,
    q: ArrayLike,
    frame: str | None = None,
    axes: Literal["world", "local"] = "world",
    *,
    tier: Tier | None = None,
) -> Array:
    """Jacobian of a frame: (w, v) = J qd, angular velocity first, then the velocity of the frame's origin."""
    return _JACOBIAN(robot, {"q": q}, {"frame": frame, "axes": axes}, tier)
