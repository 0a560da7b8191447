"""Gradients of a cost along a simulated motion, by the discrete adjoint: O(n) per step.

A step is q', qd' = linear combinations of q, qd and of the accelerations a_1, ..., a_s of its stages, whose arguments
are such combinations too. The integrators say which, run on unit vectors. Backwards, weights of the state after a step
become weights of those accelerations, and each hands on weights^T (da/dq, da/dqd, da/dtau), which Algorithm 5 of
Jain1993 run backwards gives without a matrix. Nothing is approximated: it is the gradient of the motion as computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array, fixed_array
from tauform.description.joint import Closure
from tauform.description.robot import Robot
from tauform.errors import SimulationError
from tauform.rigidbody.drives import temperatures
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.linearize.forward import linearize_forward_transposed
from tauform.rigidbody.linearize.geometry import geometry_names, weighted_geometry
from tauform.rigidbody.load import has_load
from tauform.rigidbody.regressor import weighted_regressor
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.simulation.integrators import INTEGRATORS, MIDPOINT_ITERATIONS
from tauform.simulation.motion import Motion
from tauform.wording import argument

# Accelerations that an integrator may ask for in one step.
MOST_STAGES = 2 + MIDPOINT_ITERATIONS
# How far accelerations of the motion may be from those of its torques [rad/s^2], and relative to the largest.
MAX_ACCELERATION_ERROR = 1e-6
# Steps whose regressors are held at once.
STEPS_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class MotionGradient:
    """Gradient of a cost along a motion, torques held as they were applied.

    Attributes:
        q0, qd0: (..., n) by the state at the beginning.
        tau: (..., T, n) by the torque of each step; the last row is zero, since no step follows it.
        parameters: (..., n_parameters) by `robot.parameters`; None where they were not asked for.
        geometry: (..., 6 n_bodies) by the placement of the joints, columns `geometry_names`; None likewise.
    """

    q0: Array
    qd0: Array
    tau: Array
    parameters: Array | None
    geometry: Array | None
    geometry_names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"MotionGradient({self.tau.shape[-2]} samples, {self.tau.shape[-1]} joints)"


class Tableau(NamedTuple):
    """What a step combines, over q, qd and the accelerations of its stages.

    Attributes:
        stages: arguments q and qd of each acceleration.
        q, qd: after the step.
    """

    stages: list[tuple[Array, Array]]
    q: Array
    qd: Array


def tableau(integrator: str, step: float) -> Tableau:
    """The combinations of an integrator, from the integrator itself."""
    unit = np.eye(2 + MOST_STAGES)
    stages: list[tuple[Array, Array]] = []

    def acceleration(q: AnyArray, qd: AnyArray) -> AnyArray:
        stages.append((q, qd))
        return unit[1 + len(stages)]

    after = INTEGRATORS[integrator](acceleration, unit[0], unit[1], step)
    return Tableau(stages, after.q, after.qd)


def motion_gradient(
    motion: Motion, dq: ArrayLike | None, dqd: ArrayLike | None, parameters: bool, geometry: bool, temperature: Any
) -> MotionGradient:
    """Gradient of a cost along a motion; see `Motion.gradient`."""
    robot, shape = motion.robot, motion.q.shape
    _check(motion, geometry)
    costs = [np.zeros(shape) if x is None else fixed_array(x, shape, name) for x, name in ((dq, "dq"), (dqd, "dqd"))]
    scheme = tableau(motion.integrator, motion.step)
    warm = _over_time(temperatures(robot, temperature), shape)
    stages = _stages(motion, scheme, warm)
    weights = _backwards(robot, motion.tau, costs, scheme, stages, warm)
    return MotionGradient(
        weights.q0,
        weights.qd0,
        weights.tau,
        _summed(robot, stages, weights.inner, warm, _by_parameters) if parameters else None,
        _summed(robot, stages, weights.inner, warm, _by_geometry) if geometry else None,
        geometry_names(robot) if geometry else (),
    )


class _Stage(NamedTuple):
    """States of one stage at all steps, (..., T, n)."""

    q: Array
    qd: Array
    qdd: Array


class _Weights(NamedTuple):
    """What the sweep backwards leaves; inner is M^-1 times the weights of each stage, (..., T, n)."""

    q0: Array
    qd0: Array
    tau: Array
    inner: list[Array]


def _check(motion: Motion, geometry: bool) -> None:
    robot = motion.robot
    if any(term.is_dry and term.coefficient for term in robot.drives):
        raise SimulationError("gradient: dry friction jumps, and motions with it; give it a width (coulomb_width)")
    if len(motion.t) < 2 or not np.isclose(motion.t[1] - motion.t[0], motion.step, rtol=1e-6):
        raise SimulationError(
            f"gradient: the motion holds some of its steps only; simulate with {argument('every', 1)}"
        )
    limits = {joint.name: joint.limits for joint in robot.joints}
    for j, name in enumerate(robot.joint_names):
        for bound in (limits[name].lower, limits[name].upper):
            if bound is not None and (motion.q[..., j] == bound).any():
                raise SimulationError(f"gradient: joint {name!r} reaches its stop at {bound:g}, where motions jump")
    if has_load(robot.tree):
        raise SimulationError(
            "gradient: friction that depends on load is not differentiated; leave it out (without_drives)"
        )
    if geometry and not (robot.closure is None or isinstance(robot.closure, Closure)):
        raise SimulationError(f"gradient: loops of {robot.name} close by its geometry; leave geometry out")


def _stages(motion: Motion, scheme: Tableau, warm: Array | None) -> list[_Stage]:
    """States of all stages at all steps at once: the motion is known."""
    # Stages combine the state with the accelerations of the stages before.
    known, found = [motion.q, motion.qd], []
    for q_form, qd_form in scheme.stages:
        q, qd = (_combined(form, known) for form in (q_form, qd_form))
        qdd = forward_dynamics(motion.robot, q, qd, motion.tau, temperature=warm)
        known.append(qdd)
        found.append(_Stage(q, qd, qdd))
    error = np.abs(found[0].qdd - motion.qdd)[..., :-1, :].max()
    # Beside one, too: of a robot at rest all accelerations are rounding.
    if error > MAX_ACCELERATION_ERROR * (1 + np.abs(motion.qdd).max()):
        raise SimulationError(
            f"gradient: accelerations differ from those of the motion's torques by {error:.1e}; external wrenches, or "
            "another temperature than in the simulation, are not part of it"
        )
    return found


def _over_time(held: Mapping[str, Any], shape: tuple[int, ...]) -> Array | None:
    """(..., T, n) temperatures, which are constant in a simulation; None where nothing asks for them."""
    if not held:
        return None
    constant = np.asarray(held["temperature"], dtype=np.float64)
    return np.broadcast_to(constant[..., None, :], shape)


def _combined(form: Array, known: list[Array]) -> Array:
    total: Any = sum(c * x for c, x in zip(form, known, strict=False) if c)
    return np.asarray(total)


def _backwards(
    robot: Robot, tau: Array, costs: list[Array], scheme: Tableau, stages: list[_Stage], warm: Array | None
) -> _Weights:
    # The last torque moves nothing: there is no step after it.
    n_steps = tau.shape[-2] - 1
    by_tau, inner = np.zeros_like(tau), [np.zeros_like(tau) for _ in stages]
    # Weights of the state at the end: its own cost.
    q, qd = (cost[..., n_steps, :] for cost in costs)
    for k in reversed(range(n_steps)):
        at = (..., k, slice(None))
        # Weights of what the step combines: q, qd, a_1, ...
        g = [a * q + b * qd for a, b in zip(scheme.q, scheme.qd, strict=True)]
        for s in reversed(range(len(stages))):
            stage, (q_form, qd_form) = stages[s], scheme.stages[s]
            held = None if warm is None else warm[at]
            found = linearize_forward_transposed(robot, stage.q[at], stage.qd[at], tau[at], g[2 + s], held)
            # What the stage was combined of takes its share of the weights.
            for b in range(2 + s):
                g[b] = g[b] + q_form[b] * found.dq + qd_form[b] * found.dqd
            by_tau[at] += found.dtau
            inner[s][at] = found.dtau
        q, qd = g[0] + costs[0][at], g[1] + costs[1][at]
    return _Weights(q, qd, by_tau, inner)


Columns = Callable[..., Array]


def _summed(robot: Robot, stages: list[_Stage], inner: list[Array], warm: Array | None, of: Columns) -> Array:
    """Minus the sum of inner^T dtau over all stages and steps, some steps at a time."""
    total: Any = 0
    for stage, weights in zip(stages, inner, strict=True):
        # Some at a time: columns of all steps would be gigabytes.
        for start in range(0, weights.shape[-2], STEPS_AT_ONCE):
            part = (..., slice(start, start + STEPS_AT_ONCE), slice(None))
            states: dict[str, Any] = {name: x[part] for name, x in stage._asdict().items()}
            states |= {"weights": weights[part]} | ({} if warm is None else {"temperature": warm[part]})
            total = total - of(robot, states).sum(axis=-2)
    return np.asarray(total)


def _by_parameters(robot: Robot, states: dict[str, Any]) -> Array:
    return evaluate(robot, partial(weighted_regressor, robot.tree), **states)


def _by_geometry(robot: Robot, states: dict[str, Any]) -> Array:
    def core(q: AnyArray, qd: AnyArray, qdd: AnyArray, weights: AnyArray, *_: AnyArray) -> AnyArray:
        # Of the drives only springs between points know where joints are mounted; none that does reads temperatures.
        return weighted_geometry(robot.tree, q, qd, qdd, weights)

    return evaluate(robot, core, **states)
