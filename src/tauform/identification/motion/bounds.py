"""Bounds of a planned motion: limits that the user gives, else the robot's, else usual ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError

# Of joints that declare no limit [rad or m, and per s].
DEFAULT_RANGE, DEFAULT_SPEED, DEFAULT_ACCELERATION = np.pi / 2, 2.0, 5.0


@dataclass(frozen=True, eq=False)
class Bounds:
    """(n,) limits of positions (lower, upper), speeds, accelerations and efforts."""

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array
    effort: Array

    @property
    def centre(self) -> Array:
        """(n,) middle of the positions."""
        return (self.lower + self.upper) / 2

    @property
    def half(self) -> Array:
        """(n,) half of the range."""
        return (self.upper - self.lower) / 2


def bounds_of(
    robot: Robot,
    position: tuple[ArrayLike, ArrayLike] | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    effort: ArrayLike | None = None,
) -> Bounds:
    """Limits as given, else the robot's, else usual ones; efforts are free where nobody limits them.

    Raises:
        IdentificationError: a joint is left without any motion, or what is given are no limits of the joints.
    """
    joints = {joint.name: joint for joint in robot.joints}
    limits = [joints[name].limits for name in robot.joint_names]
    # Continuous joints have no limits: half a turn in all shows them as well as more would.
    finite = np.array([np.isfinite(limit.lower) and np.isfinite(limit.upper) for limit in limits])
    lower = np.where(finite, [limit.lower for limit in limits], -DEFAULT_RANGE)
    upper = np.where(finite, [limit.upper for limit in limits], DEFAULT_RANGE)
    if position is not None:
        ends = list(position)
        if len(ends) != 2:
            raise IdentificationError(f"position: expected (lower, upper), got {len(ends)} entries")
        # The user's own, even beyond the description's: it may be too careful.
        lower, upper = (one_per_joint(end, robot.n_joints, "position") for end in ends)
        # A range must be swept: an infinite one has no middle.
        if not np.isfinite([lower, upper]).all():
            raise IdentificationError("position: expected limits that are finite; leave it out for the robot's own")
    bounds = Bounds(
        lower=lower,
        upper=upper,
        speed=_known([limit.velocity for limit in limits], DEFAULT_SPEED, velocity, robot, "velocity"),
        # Descriptions declare no acceleration: URDF has no place for one.
        acceleration=_known([np.inf] * robot.n_joints, DEFAULT_ACCELERATION, acceleration, robot, "acceleration"),
        effort=_known([limit.effort for limit in limits], np.inf, effort, robot, "effort"),
    )
    for j, name in enumerate(robot.joint_names):
        sizes = (bounds.half[j], bounds.speed[j], bounds.acceleration[j], bounds.effort[j])
        if not all(size > 0 for size in sizes):
            raise IdentificationError(f"joint {name!r}: its limits leave no motion; widen or lock it")
    return bounds


def _known(declared: Sequence[float], usual: float, given: ArrayLike | None, robot: Robot, name: str) -> Array:
    if given is not None:
        return one_per_joint(given, robot.n_joints, name)
    # A limit of 0 would allow no motion: it is taken for unknown.
    array = np.array(declared)
    return np.where(np.isfinite(array) & (array > 0), array, usual)


def one_per_joint(given: ArrayLike, n_joints: int, name: str) -> Array:
    """(n,) numbers, given as such or as one for all joints.

    Raises:
        IdentificationError: they are no numbers, or of another shape.
    """
    expected = f"{name}: expected one number or {n_joints}, one per joint"
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise IdentificationError(f"{expected}, got {given!r:.60}") from None
    if array.shape not in ((), (1,), (n_joints,)):
        raise IdentificationError(f"{expected}, got shape {array.shape}")
    # Infinite limits are allowed: they leave a quantity free.
    if np.isnan(array).any():
        raise IdentificationError(f"{expected}, got one that is not a number")
    return np.broadcast_to(array, (n_joints,))
