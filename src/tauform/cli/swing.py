"""The motion that bounds on the command line stand for: every joint swings within its limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from tauform.arrays import Array
    from tauform.closedform.profile import States
    from tauform.description.robot import Robot
    from tauform.realtime.multirate.run import MotionFunction

LARGEST_BOUND = 1e6  # rad/s or m/s, and per second
USUAL_SPEED = 2.0


def bounds_of_swing(
    robot: Robot, acceleration: Sequence[float], velocity: Sequence[float] | None = None
) -> tuple[Array, Array, Array]:
    """(n,) centre, velocity and acceleration of a swing within the limits, each joint at a frequency of its own.

    Frequencies are near to one another but different, so that joints meet in every combination. Without velocities
    joints are as fast as their limits allow, up to a usual speed.
    """
    import numpy as np

    _check_positive("velocity", velocity or ())
    _check_positive("acceleration", acceleration)
    limits = {joint.name: joint.limits for joint in robot.joints}
    # By name: joints of a closed loop that follow others are not among joint_names.
    own = [limits[name] for name in robot.joint_names]
    # (n,) each; joints without limits have infinities, with which the formulas below still hold.
    lower, upper = np.array([limit.lower for limit in own]), np.array([limit.upper for limit in own])
    # Frequencies that differ a little: joints in step would repeat a single path through the states.
    A = np.array(acceleration) * np.linspace(0.85, 1.15, robot.n_joints)
    # V and A together make a joint swing by V^2 / A to either side.
    fastest = np.minimum([limit.velocity for limit in own], np.sqrt(A * np.maximum(upper - lower, 0.0) / 2))
    if (fastest <= 0).any():
        name = robot.joint_names[int(fastest.argmin())]
        raise typer.BadParameter(f"joint {name!r}: its limits leave no motion; fix it with --lock {name}=0")
    V = np.minimum(USUAL_SPEED, fastest) if velocity is None else np.array(velocity)
    for name, v, a, most in zip(robot.joint_names, V, A, fastest, strict=True):
        # Room for rounding: a velocity that was printed from this bound is accepted.
        if v > most * (1 + 1e-9):
            # One percent inside the bound: printed with three digits, it must not round to beyond it.
            slower = ",".join(f"{bound:.3g}" for bound in np.where(fastest < V, 0.99 * fastest, V))
            raise typer.BadParameter(
                f"--velocity: at {v:g}, and a swing by {v**2 / a:.3g} each way, joint {name!r} leaves its limits; "
                f"give one bound per joint, for example --velocity {slower}"
            )
    # As near to zero as the limits allow, with V^2 / A of room to either side.
    return np.minimum(np.maximum(0.0, lower + V**2 / A), upper - V**2 / A), V, A


def _check_positive(name: str, bounds: Sequence[float]) -> None:
    wrong = [bound for bound in bounds if not 0 < bound < LARGEST_BOUND]
    if wrong:
        raise typer.BadParameter(f"--{name}: expected positive bounds below {LARGEST_BOUND:g}, got {wrong[0]:g}")


def swing(centre: Array, V: Array, A: Array, temperature: tuple[float, float] | None = None) -> MotionFunction:
    """The motion within the bounds, as a function of time; temperatures are those in the middle."""
    import numpy as np

    def motion(t: Array) -> States:
        # Phases of one radian apart: not all joints begin in the middle at once.
        phase = np.outer(t, A / V) + np.arange(len(V))
        # q = c + V^2/A sin, qd = V cos, qdd = -A sin at the rate A/V: each keeps its bound exactly.
        states = centre + V**2 / A * np.sin(phase), V * np.cos(phase), -A * np.sin(phase)
        return states if temperature is None else (*states, np.full_like(phase, np.mean(temperature)))

    return motion
