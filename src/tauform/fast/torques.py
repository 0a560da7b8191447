"""Torques, accelerations and momenta."""

from __future__ import annotations

from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.fast.dispatch import Tiered
from tauform.fast.tier import Tier
from tauform.rigidbody import forward_dynamics as forward
from tauform.rigidbody import friction as drives_of
from tauform.rigidbody import gravity, momentum
from tauform.rigidbody import inverse_dynamics as inverse
from tauform.rigidbody.forward_dynamics import ForwardMethod
from tauform.rigidbody.sweeps.wrenches import Wrenches

_INVERSE = Tiered(inverse.inverse_dynamics)
# The only one here that solves with the mass matrix.
_FORWARD = Tiered(forward.forward_dynamics, divides=True)
_BIAS = Tiered(gravity.bias_torque)
_GRAVITY = Tiered(gravity.gravity_torque)
_FRICTION = Tiered(drives_of.friction)
_MOMENTUM = Tiered(momentum.generalized_momentum)


@_INVERSE.public
def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    temperature: ArrayLike | None = None,
    drives: bool = True,
    wrenches: Wrenches | None = None,
    *,
    tier: Tier | None = None,
) -> Array:
    """Joint torques tau = M qdd + C qd + g + friction - J^T w, all drive terms included."""
    options = {"temperature": temperature, "drives": drives, "wrenches": wrenches}
    return _INVERSE(robot, {"q": q, "qd": qd, "qdd": qdd}, options, tier)


@_FORWARD.public
def forward_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    method: ForwardMethod | None = None,
    temperature: ArrayLike | None = None,
    drives: bool = True,
    wrenches: Wrenches | None = None,
    *,
    tier: Tier | None = None,
) -> Array:
    """Accelerations qdd = M^-1 (tau - C qd - g - friction + J^T w), the inverse of `inverse_dynamics`."""
    options = {"method": method, "temperature": temperature, "drives": drives, "wrenches": wrenches}
    return _FORWARD(robot, {"q": q, "qd": qd, "tau": tau}, options, tier)


@_BIAS.public
def bias_torque(
    robot: Robot, q: ArrayLike, qd: ArrayLike, wrenches: Wrenches | None = None, *, tier: Tier | None = None
) -> Array:
    """Torque C(q, qd) qd + g(q) - J^T w at zero acceleration, friction excluded."""
    return _BIAS(robot, {"q": q, "qd": qd}, {"wrenches": wrenches}, tier)


@_GRAVITY.public
def gravity_torque(robot: Robot, q: ArrayLike, *, tier: Tier | None = None) -> Array:
    """Torque g(q) that holds the robot still against gravity, friction and offset excluded."""
    return _GRAVITY(robot, {"q": q}, {}, tier)


@_FRICTION.public
def friction(
    robot: Robot,
    qd: ArrayLike,
    q: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    temperature: ArrayLike | None = None,
    *,
    tier: Tier | None = None,
) -> Array:
    """Torque of all drive terms that are not inertial: friction, offsets, springs, shared shafts, (..., n)."""
    return _FRICTION(robot, {"qd": qd, "q": q, "qdd": qdd}, {"temperature": temperature}, tier)


@_MOMENTUM.public
def generalized_momentum(robot: Robot, q: ArrayLike, qd: ArrayLike, *, tier: Tier | None = None) -> Array:
    """p = M qd, without forming the mass matrix, (..., n)."""
    return _MOMENTUM(robot, {"q": q, "qd": qd}, {}, tier)
