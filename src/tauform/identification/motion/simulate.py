"""Recordings made by our own dynamics: what a robot with known parameters would have shown."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, joint_vector
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.motion.bounds import one_per_joint
from tauform.identification.motion.trajectory import Trajectory
from tauform.identification.recording.recording import Recording
from tauform.rigidbody.inverse_dynamics import inverse_dynamics


def simulated_recording(
    robot: Robot,
    trajectory: Trajectory,
    rng: np.random.Generator,
    *,
    torque_noise: ArrayLike = 0.0,
    position_noise: ArrayLike = 0.0,
    exact_states: bool = False,
    temperature: ArrayLike | None = None,
    name: str = "simulated",
) -> Recording:
    """Torques of a robot along a trajectory, with white noise.

    Args:
        trajectory: the motion, such as `excite` plans it.
        rng: where the noise comes from.
        torque_noise: standard deviation [N m or N], one number or (n,).
        position_noise: standard deviation [rad or m], one number or (n,).
        exact_states: hand over velocities and accelerations too, without noise.
        temperature: of the joints [degrees Celsius], (N, n) or one per joint; needed where friction depends on it.
        name: of the recording, in messages and reports.

    Raises:
        IdentificationError: a deviation is negative, or not one number or one per joint.
        ShapeError: the trajectory has other joints than the robot, or temperatures other sizes than its positions.
        DescriptionError: friction depends on temperature, and none is given.
    """

    def noisy(values: Array, given: ArrayLike, what: str) -> Array:
        deviation = one_per_joint(given, robot.n_joints, what)
        if not ((deviation >= 0) & np.isfinite(deviation)).all():
            raise IdentificationError(f"{what}: expected a standard deviation, 0 or more, got {given!r:.60}")
        # Drawn even for a deviation of zero: the same seed gives the same noise on the other channel.
        return values + rng.normal(size=values.shape) * deviation

    warm = None if temperature is None else joint_vector(temperature, robot.n_joints, "temperature")
    tau = inverse_dynamics(robot, trajectory.q, trajectory.qd, trajectory.qdd, warm)
    return Recording(
        t=trajectory.t,
        q=noisy(trajectory.q, position_noise, "position_noise"),
        tau=noisy(tau, torque_noise, "torque_noise"),
        qd=trajectory.qd if exact_states else None,
        qdd=trajectory.qdd if exact_states else None,
        # Exact positions stand for the commanded ones, which "instrumental" needs free of noise.
        reference=trajectory.q,
        temperature=None if warm is None else np.broadcast_to(warm, trajectory.q.shape),
        name=name,
    )
