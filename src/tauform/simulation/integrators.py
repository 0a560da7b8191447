"""One time step of qdd = a(q, qd) under torques that are held, on arrays (n, ...) of any scalar.

NumPy runs these lines for the reference of a step, tracing for its program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from tauform.arrays import AnyArray

Integrator = Literal["semi_implicit", "rk4", "midpoint"]
AccelerationFunction = Callable[[AnyArray, AnyArray], AnyArray]
# Fixed-point iterations of the implicit midpoint rule; each takes a factor (step times stiffness of the motion) / 2.
MIDPOINT_ITERATIONS = 5


class Stepped(NamedTuple):
    """State after a step, and the acceleration at its beginning."""

    q: AnyArray
    qd: AnyArray
    qdd: AnyArray


def semi_implicit(a: AccelerationFunction, q: AnyArray, qd: AnyArray, h: Any) -> Stepped:
    """Semi-implicit Euler, first order, one evaluation: qd' = qd + h a, q' = q + h qd'.

    Symplectic where the mass matrix is constant; of an arm, energy drifts.
    """
    qdd = a(q, qd)
    after = qd + h * qdd
    return Stepped(q + h * after, after, qdd)


def rk4(a: AccelerationFunction, q: AnyArray, qd: AnyArray, h: Any) -> Stepped:
    """The classical Runge-Kutta method, fourth order."""
    half, sixth = 0.5 * h, h * (1.0 / 6.0)
    a1 = a(q, qd)
    v2 = qd + half * a1
    a2 = a(q + half * qd, v2)
    v3 = qd + half * a2
    a3 = a(q + half * v2, v3)
    v4 = qd + h * a3
    a4 = a(q + h * v3, v4)
    # q' = q + h/6 (v1 + 2 v2 + 2 v3 + v4) with the velocities written out
    return Stepped(q + h * (qd + sixth * (a1 + a2 + a3)), qd + sixth * (a1 + 2.0 * (a2 + a3) + a4), a1)


def midpoint(a: AccelerationFunction, q: AnyArray, qd: AnyArray, h: Any) -> Stepped:
    """Implicit midpoint rule, second order and symmetric in time: energy swings, and does not drift.

    qd' = qd + h a((q + q')/2, (qd + qd')/2), q' = q + h (qd + qd')/2, solved by fixed-point iteration.
    """
    half = 0.5 * h
    # From Euler's step, which is off by O(h^2): each iteration gains one order of h.
    first = change = a(q, qd)
    for _ in range(MIDPOINT_ITERATIONS):
        middle = qd + half * change
        change = a(q + half * middle, middle)
    return Stepped(q + h * (qd + half * change), qd + h * change, first)


INTEGRATORS: dict[str, Callable[[AccelerationFunction, AnyArray, AnyArray, Any], Stepped]] = {
    "semi_implicit": semi_implicit,
    "rk4": rk4,
    "midpoint": midpoint,
}
