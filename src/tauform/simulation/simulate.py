"""simulate: a robot under a controller, over time, in batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, joint_vector
from tauform.description.robot import Robot
from tauform.errors import ShapeError, SimulationError
from tauform.identification.recording.recording import Recording
from tauform.rigidbody.drives import temperatures
from tauform.rigidbody.load import refuse_strong_load
from tauform.rigidbody.sweeps.wrenches import wrench_arrays
from tauform.simulation.control import Controller
from tauform.simulation.integrators import Integrator
from tauform.simulation.motion import Motion
from tauform.simulation.plant import Plant
from tauform.simulation.rollout import Rollout
from tauform.simulation.torques import Control, control_inputs
from tauform.wording import argument, place

# Steps of one simulation; more are a mistake in the units of time.
MAX_STEPS = 100_000_000


def simulate(
    robot: Robot,
    q0: ArrayLike,
    qd0: ArrayLike | None,
    control: Controller | Recording | Control | ArrayLike | None,
    duration: float,
    step: float = 1e-3,
    *,
    integrator: Integrator = "semi_implicit",
    limits: bool = True,
    effort_limits: bool = False,
    temperature: ArrayLike | None = None,
    wrenches: Mapping[str, ArrayLike] | None = None,
    every: int = 1,
    threads: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Motion:
    """Simulate a robot under a controller; a batch of states at once, compiled where no Python function takes part.

    The torque is sampled at the beginning of each step and held. Dry friction (Coulomb without a width, Stribeck, by
    load) is the set-valued law here: a joint at rest stays there until torques exceed it.

    Args:
        q0: (..., n) positions at the beginning [rad or m].
        qd0: (..., n) velocities; None is at rest.
        control: a `tf.Controller`; torques (n,), (T, n) or (..., T, n), one row per step; a Recording, whose torques
            are applied; a function of t, q (..., n) and qd that returns torques (..., n); or None: no torque.
        duration: [s].
        step: [s].
        integrator: "semi_implicit" (Euler), "rk4" (fourth order), or "midpoint" (implicit, energy does not drift).
        limits: joints stop at their position limits, without rebound.
        effort_limits: torques are cut off at the description's efforts.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        wrenches: (..., 6) by frame: force then moment on the robot, in the axes of the frame; constant.
        every: keep every so many steps.
        threads: how many threads may share a batch.
        progress: called with the share that is done.

    Raises:
        ShapeError: arrays that do not fit the robot or each other, or a controller returns another shape.
        SimulationError: no time, positions beyond their limits, dry friction that is not of one coordinate, or a motion
            that runs away, with the time at which.
        SingularMassMatrixError: a link has no inertia about its joint.
    """
    n_steps = _n_steps(duration, step, every)
    # From load friction of 1 on, several accelerations, or none, fit a torque.
    refuse_strong_load(robot)
    external = wrench_arrays(robot, wrenches)
    q, qd = (joint_vector(x, robot.n_joints, name) for x, name in ((q0, "q0"), (_zeros(qd0, robot), "qd0")))
    held = {**temperatures(robot, temperature), **{f"wrench_{name}": array for name, array in external.items()}}
    # Multiples, not sums: rounding of a million additions would show.
    times: Array = step * np.arange(n_steps + 1, dtype=np.float64)
    model = (control.model or robot) if isinstance(control, Controller) else robot
    # A controller's model may depend on temperature where the robot does not.
    believed = temperatures(model, temperature)
    # States, temperatures, wrenches and torques may each bring the batch's dimensions.
    batch = _batch(q, qd, {**held, **believed}, control, robot)
    if 0 in batch:
        raise ShapeError(f"q0: a batch of shape {batch} holds no state; give one at least")
    rows = {name: _row(x, batch) for name, x in {"q": q, "qd": qd, **held}.items()}
    # Functions of the user run between steps: to the program their torque is given.
    law = control.law if isinstance(control, Controller) else "torque"
    # Plants are compared by value: the same simulation again finds its compiled step.
    plant = Plant(robot, integrator, law, model, limits, tuple(external), effort_limits)
    _check_start(plant, rows["q"])
    # All steps at once where no state is needed: a step then only reads.
    given = control_inputs(control, robot, rows["q"], times, step, batch, _temperature(believed, batch))
    if "tau" in given:
        given["tau"] = plant.cut_off(given["tau"])
    rollout = Rollout(plant, batch, rows, given, control if callable(control) else None, times, float(step), threads)
    q, qd, qdd, tau = (x.reshape(*batch, -1, robot.n_joints) for x in rollout.kept(every, progress))
    # Every so many-th time, as the states are kept.
    return Motion(robot, times[::every], q, qd, qdd, tau, integrator, float(step))


def _temperature(held: Mapping[str, ArrayLike], batch: tuple[int, ...]) -> Array | None:
    """(N, n) temperatures as a controller's model takes them."""
    return _row(np.asarray(held["temperature"]), batch) if held else None


def _n_steps(duration: float, step: float, every: int) -> int:
    for name, value in (("duration", duration), ("step", step)):
        if not 0 < value < np.inf:
            where = place("simulate", name)
            raise SimulationError(f"{where}: expected a positive time [s], got {value!r}", argument=name, value=value)
    if every < 1:
        raise SimulationError(f"every: expected a whole number from 1 on, got {every!r}", argument="every", value=every)
    # 0.3 / 0.1 is 2.9999999999999996.
    steps = round(duration / step)
    if not 1 <= steps <= MAX_STEPS:
        raise SimulationError(
            f"duration: {duration:g} s are {duration / step:.3g} steps of {step:g} s; check the units"
        )
    return steps


def _zeros(qd0: ArrayLike | None, robot: Robot) -> ArrayLike:
    return np.zeros(robot.n_joints) if qd0 is None else qd0


def _batch(q: Array, qd: Array, held: Mapping[str, Any], control: Any, robot: Robot) -> tuple[int, ...]:
    shapes = {"q0": q.shape[:-1], "qd0": qd.shape[:-1], **{name: np.shape(x)[:-1] for name, x in held.items()}}
    if not (control is None or callable(control) or isinstance(control, Controller | Recording)):
        shapes["control"] = np.shape(joint_vector(control, robot.n_joints, "control"))[:-2]
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise ShapeError(f"batch dimensions do not broadcast: {listed}") from None


def _row(x: Any, batch: tuple[int, ...]) -> Array:
    """(N, width)."""
    return np.broadcast_to(x, (*batch, np.shape(x)[-1])).reshape(-1, np.shape(x)[-1])


def _check_start(plant: Plant, q: Array) -> None:
    for j, (low, high) in enumerate(zip(*plant.stops, strict=True)):
        # Exactly at a limit is within it.
        beyond = (q[:, j] < (-np.inf if low is None else low)) | (q[:, j] > (np.inf if high is None else high))
        if beyond.any():
            name, value = plant.robot.joint_names[j], q[np.argmax(beyond), j]
            raise SimulationError(
                f"q0: joint {name!r} starts at {value:g}, beyond its limits [{low}, {high}]; start within them, or "
                f"give {argument('limits', False)}"
            )
