"""Torques that a simulation is given: as arrays, by a recording, by a controller, or by a Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, joint_vector
from tauform.description.robot import Robot
from tauform.errors import ShapeError, SimulationError
from tauform.identification.recording.recording import Recording
from tauform.simulation.control import Controller

# Of t, q (..., n) and qd; returns torques (..., n).
Control = Callable[[float, Array, Array], ArrayLike]


def control_inputs(
    control: Any,
    robot: Robot,
    q: Array,
    times: Array,
    step: float,
    batch: tuple[int, ...],
    temperature: Array | None = None,
) -> dict[str, Array]:
    """Ports of the control law, (N or 1, T or 1, n); none where a function gives the torques."""
    n = robot.n_joints
    if isinstance(control, Controller):
        return control.inputs(robot, q, times, temperature)
    if control is None:
        return {"tau": np.zeros((1, 1, n))}
    # A Python function is asked at each step, between compiled ones.
    if callable(control):
        return {}
    if isinstance(control, Recording):
        if control.n_joints != n:
            raise SimulationError(f"{control.name}: torques of {control.n_joints} joints, the robot has {n}")
        seconds = float(control.t[-1] - control.t[0])
        # The last step's torque is held to its end, and clocks of recordings jitter.
        if seconds < times[-1] - 1.5 * step:
            raise SimulationError(f"{control.name}: holds {seconds:.6g} s of torques; simulate no longer than that")
        at = np.asarray(control.t[0]) + times  # a step's torque is the one at its beginning
        return {
            "tau": np.stack([np.interp(at, control.t, column) for column in np.asarray(control.tau).T], axis=1)[None]
        }
    tau = joint_vector(control, n, "control")
    if tau.ndim == 1:
        return {"tau": tau[None, None]}
    if tau.shape[-2] not in (len(times) - 1, len(times)):
        raise ShapeError(
            f"control: {tau.shape[-2]} rows of torques, but {len(times) - 1} steps; give one row per step, (..., T, n)"
        )
    # The last row again for the state at the end, whose acceleration is reported too.
    rows = np.concatenate([tau, tau[..., -1:, :]], axis=-2)[..., : len(times), :]
    if tau.ndim == 2:
        return {"tau": rows[None]}
    return {"tau": np.broadcast_to(rows, (*batch, *rows.shape[-2:])).reshape(-1, *rows.shape[-2:])}


def checked_torques(given: ArrayLike, shape: tuple[int, ...], t: float) -> Array:
    """Result of a user's function, as an array of this shape.

    Raises:
        ShapeError: it is none, or not finite.
    """
    try:
        tau = np.asarray(given, dtype=np.float64)
        # A scalar is refused: one number for all joints is more likely a slip.
        tau = np.broadcast_to(tau, shape) if tau.ndim else np.empty(0)
        if tau.shape != shape:
            raise ValueError
    except (TypeError, ValueError):
        found = getattr(given, "shape", None) or f"{given!r:.60}"
        raise ShapeError(f"control: expected torques of shape {shape} at t = {t:g} s, got {found}") from None
    if not np.isfinite(tau).all():
        raise ShapeError(f"control: a torque at t = {t:g} s is not finite")
    return tau
