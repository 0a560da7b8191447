"""Linearised dynamics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.fast.dispatch import Tiered
from tauform.fast.tier import Tier
from tauform.rigidbody.linearize import forward, inverse
from tauform.rigidbody.linearize.forward import ForwardLinearization, LinearizationMethod
from tauform.rigidbody.linearize.inverse import InverseLinearization

_INVERSE = Tiered(inverse.linearize_inverse, result=InverseLinearization)
_INVERSE_VECTOR = Tiered(inverse.linearize_inverse_vector)
# Forward dynamics divide by pivots, which kernels hand over for a check.
_FORWARD = Tiered(forward.linearize_forward, result=ForwardLinearization, divides=True)
_FORWARD_VECTOR = Tiered(forward.linearize_forward_vector, divides=True)


@_INVERSE.public
def linearize_inverse(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    temperature: ArrayLike | None = None,
    drives: bool = True,
    *,
    tier: Tier | None = None,
) -> InverseLinearization:
    """Derivatives of `inverse_dynamics`, all drive terms included.  [Jain1993, Algorithm 2]"""
    states = {"q": q, "qd": qd, "qdd": qdd}
    return _INVERSE(robot, states, {"temperature": temperature, "drives": drives}, tier)


@_INVERSE_VECTOR.public
def linearize_inverse_vector(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    dq: ArrayLike | None = None,
    dqd: ArrayLike | None = None,
    dqdd: ArrayLike | None = None,
    temperature: ArrayLike | None = None,
    drives: bool = True,
    *,
    tier: Tier | None = None,
) -> Array:
    """Change of torque under small changes of motion, O(n), without the matrices.  [Jain1993, Algorithm 1]"""
    states = {"q": q, "qd": qd, "qdd": qdd, **_changes(robot, dq=dq, dqd=dqd, dqdd=dqdd)}
    return _INVERSE_VECTOR(robot, states, {"temperature": temperature, "drives": drives}, tier)


@_FORWARD.public
def linearize_forward(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    method: LinearizationMethod | None = None,
    temperature: ArrayLike | None = None,
    drives: bool = True,
    *,
    tier: Tier | None = None,
) -> ForwardLinearization:
    """Derivatives of `forward_dynamics`, all drive terms included.  [Jain1993, Algorithms 6 and 4]"""
    options = {"method": method, "temperature": temperature, "drives": drives}
    return _FORWARD(robot, {"q": q, "qd": qd, "tau": tau}, options, tier)


@_FORWARD_VECTOR.public
def linearize_forward_vector(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike | None = None,
    dqd: ArrayLike | None = None,
    dtau: ArrayLike | None = None,
    method: LinearizationMethod | None = None,
    temperature: ArrayLike | None = None,
    drives: bool = True,
    *,
    tier: Tier | None = None,
) -> Array:
    """Change of acceleration under small changes of state and torque.  [Jain1993, Algorithms 5 and 3]"""
    states = {"q": q, "qd": qd, "tau": tau, **_changes(robot, dq=dq, dqd=dqd, dtau=dtau)}
    options = {"method": method, "temperature": temperature, "drives": drives}
    return _FORWARD_VECTOR(robot, states, options, tier)


def _changes(robot: Robot, **given: ArrayLike | None) -> dict[str, ArrayLike]:
    """None is no change."""
    # Zeros: kernels take every port.
    return {name: np.zeros(robot.n_joints) if value is None else value for name, value in given.items()}
