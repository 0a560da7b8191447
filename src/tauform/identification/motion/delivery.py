"""Delivery: from amplitudes to a trajectory, finely sampled, and checked against every limit there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.motion.criterion import condition
from tauform.identification.motion.planning import LIMIT_SHARE_AT_SAMPLES, MotionProblem
from tauform.identification.motion.recorded import Recorded
from tauform.identification.motion.sweep import Moments, closest
from tauform.identification.motion.trajectory import Basis, Trajectory
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.wording import argument

# How much slower, or smaller, a motion is tried next where it passes an effort or collides.
SLOWDOWN_PER_TRY, SHRINKAGE_PER_TRY, MAX_TRIES = 1.05, 0.95, 40

NOT_LOOKED_AT = "links are not kept apart: collisions are not looked at, or the robot has no collision shapes"


def delivered(
    robot: Robot, problem: MotionProblem, z: Array, rate: float, sampled: Callable[[float, float], Basis]
) -> Trajectory:
    """The trajectory of some amplitudes.

    Args:
        rate: samples per second of the result.
        sampled: the problem's functions, for any duration and rate.

    Raises:
        IdentificationError: it passes an effort, or collides, however slow or small it is made.
    """
    fine = replace(problem, basis=sampled(float(problem.basis.t[-1]), rate))
    # At the fine samples peaks show that the coarse ones missed: scaled once more.
    start, a = fine.split(fine.feasible(fine.joined(*problem.split(z)), LIMIT_SHARE_AT_SAMPLES))
    a, smaller = _clear(fine, start, a, sampled)
    basis, slower = _within_efforts(robot, fine, start, a, lambda duration: sampled(duration, rate))
    q, qd, qdd = _states(start, a, basis)
    findings = []
    if smaller < 1:
        findings.append(f"made smaller, to {smaller:.0%}, to keep links apart")
    if slower > 1:
        findings.append(f"slowed down to {basis.t[-1]:.1f} s to stay within effort limits")
    if fine.clearance is not None:
        findings += fine.clearance.findings()
    else:
        findings.append(NOT_LOOKED_AT)
    # Ends repeat themselves in a periodic motion; some states of many give the same singular values.
    step = max(1, len(q) // 500)
    W = problem.columns(q[::step], qd[::step], qdd[::step])[..., problem.columns.chosen]
    if problem.recorded is not None:
        findings.insert(0, _gain(problem.recorded, W, float(basis.t[-1])))
    return Trajectory(basis.t, q, qd, qdd, robot.joint_names, condition(W), tuple(findings), bounds=problem.bounds)


def _gain(recorded: Recorded, W: Array, duration: float) -> str:
    """What a further motion is expected to add, in words."""
    (before, one), (after, other) = recorded.worst(), recorded.worst(W, duration)
    return f"worst relative deviation now {before:.2g} ({one}); expected with this motion {after:.2g} ({other})"


def _clear(
    fine: MotionProblem, start: Array, a: Array, sampled: Callable[[float, float], Basis]
) -> tuple[Array, float]:
    """Amplitudes at which nothing collides, at the samples or between them, and how much smaller they are."""
    if fine.clearance is None:
        return a, 1.0
    duration = float(fine.basis.t[-1])
    # Smaller amplitudes about the same start: the limits still hold, only collisions are asked again.
    for smaller in SHRINKAGE_PER_TRY ** np.arange(MAX_TRIES):
        moments = Moments.of(start, smaller * a, lambda intervals: sampled(duration, intervals / duration))
        nearest = closest(fine.clearance, moments)
        if nearest.distance > 0:
            return smaller * a, float(smaller)
    raise IdentificationError(
        f"{nearest.pair} collide however small the motion is",
        remedy=f"narrow the range of positions, or let them touch with {argument('unguarded', ...)}",
    )


def _within_efforts(
    robot: Robot, fine: MotionProblem, start: Array, a: Array, sampled: Callable[[float], Basis]
) -> tuple[Basis, float]:
    """The basis of the same path, slowed down until no effort passes its limit, and how much slower that is."""
    limit, duration = fine.bounds.effort, float(fine.basis.t[-1])
    for slower in SLOWDOWN_PER_TRY ** np.arange(MAX_TRIES):
        # The path does not depend on the duration: slowing down keeps positions, and so the clearance.
        basis = sampled(duration * slower)
        effort = np.abs(inverse_dynamics(robot, *_states(start, a, basis))).max(axis=0)
        if (effort <= limit).all():
            return basis, float(slower)
    worst = robot.joint_names[int(np.argmax(effort / limit))]
    raise IdentificationError(f"joint {worst!r} passes its effort limit even when moved slowly; narrow its range")


def _states(start: Array, a: Array, basis: Basis) -> tuple[Array, Array, Array]:
    return start + (a @ basis.values).T, (a @ basis.rates).T, (a @ basis.accelerations).T
