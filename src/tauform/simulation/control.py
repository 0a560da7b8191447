"""Controllers that are compiled into the loop: what they compute of a state, and what they follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline

from tauform.arguments import checked_methods
from tauform.arrays import Array, joint_vector
from tauform.description.robot import Robot
from tauform.errors import SimulationError
from tauform.identification.motion.bounds import one_per_joint
from tauform.identification.motion.trajectory import Trajectory
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

Law = Literal["torque", "pd", "pd_gravity", "computed_torque"]
# Inputs of a step's program for each law, all (n,); `tau` is a torque that is given.
PORTS: dict[Law, tuple[str, ...]] = {
    "torque": ("tau",),
    "pd": ("command", "target", "rate", "stiffness", "damping"),
    "pd_gravity": ("command", "target", "rate", "stiffness", "damping"),
    "computed_torque": ("acceleration", "target", "rate", "stiffness", "damping"),
}


@checked_methods
@dataclass(frozen=True, eq=False)
class Controller:
    """A control law for `tf.simulate`, sampled at each step and held; made by its class methods.

    Attributes:
        law: "pd", "pd_gravity" (with g(q)) or "computed_torque".
        target: a Trajectory, positions (n,), or None: the positions that the simulation starts at.
        stiffness, damping: one gain, or one per joint.
        feeds_forward: whether the torque of the trajectory is commanded too.
        model: the robot that the controller believes in; None is the simulated one.
    """

    law: Law
    target: Trajectory | ArrayLike | None
    stiffness: ArrayLike
    damping: ArrayLike
    feeds_forward: bool = False
    model: Robot | None = None

    @classmethod
    def pd(
        cls,
        stiffness: ArrayLike,
        damping: ArrayLike,
        target: Trajectory | ArrayLike | None = None,
        *,
        gravity: bool = False,
        model: Robot | None = None,
    ) -> Controller:
        """tau = stiffness (target - q) + damping (its rate - qd), with gravity=True plus g(q) of the model."""
        return cls("pd_gravity" if gravity else "pd", target, stiffness, damping, model=model)

    @classmethod
    def gravity_compensation(cls, damping: ArrayLike = 0.0, *, model: Robot | None = None) -> Controller:
        """tau = g(q) - damping qd."""
        # PD without stiffness, so that one compiled law serves both.
        return cls("pd_gravity", None, 0.0, damping, model=model)

    @classmethod
    def feed_forward(
        cls, trajectory: Trajectory, stiffness: ArrayLike = 0.0, damping: ArrayLike = 0.0, *, model: Robot | None = None
    ) -> Controller:
        """The torque that the trajectory needs, friction included, and PD about it."""
        return cls("pd", trajectory, stiffness, damping, feeds_forward=True, model=model)

    @classmethod
    def computed_torque(
        cls,
        stiffness: ArrayLike,
        damping: ArrayLike,
        target: Trajectory | ArrayLike | None = None,
        *,
        model: Robot | None = None,
    ) -> Controller:
        """tau = M (qdd + stiffness (target - q) + damping (its rate - qd)) + C qd + g; gains in 1/s^2 and 1/s."""
        return cls("computed_torque", target, stiffness, damping, model=model)

    def inputs(self, robot: Robot, q0: Array, t: Array, temperature: Array | None = None) -> dict[str, Array]:
        """Each port as (states or 1, steps or 1, n).

        Args:
            q0: (N, n) positions that the simulation starts at.
            t: (T,) times of the steps.
            temperature: (N, n) of the joints, where friction of the model depends on it.

        Raises:
            SimulationError: the trajectory or model has other joints, or a gain is not one number or one per joint.
        """
        n = robot.n_joints
        if self.model is not None and self.model.n_joints != n:
            raise SimulationError(f"control: the model has {self.model.n_joints} joints, the robot {n}")
        # (1, 1, n): the same at all states and steps.
        gains = [one_per_joint(getattr(self, name), n, name)[None, None] for name in ("stiffness", "damping")]
        q, qd, qdd = self._followed(n, q0, t)
        command = np.zeros((1, 1, n))
        # Of the model, not of the robot that is simulated: a controller knows only what it was given.
        if self.feeds_forward:
            # Once for all steps: a feed-forward does not depend on the state.
            warm = None if temperature is None else temperature[:, None]
            command = inverse_dynamics(self.model or robot, q, qd, qdd, warm)
        # Computed torque commands an acceleration; the others add a torque.
        first = qdd if self.law == "computed_torque" else command
        return dict(zip(PORTS[self.law], (first, q, qd, *gains), strict=True))

    def _followed(self, n: int, q0: Array, t: Array) -> tuple[Array, Array, Array]:
        still = np.zeros((1, 1, n))
        if isinstance(self.target, Trajectory):
            return _sampled(self.target, n, t)
        if self.target is None:
            # Each state of a batch holds its own position.
            return q0[:, None], still, still
        return np.broadcast_to(joint_vector(self.target, n, "target"), (n,))[None, None], still, still


def _sampled(trajectory: Trajectory, n: int, t: Array) -> tuple[Array, Array, Array]:
    """(1, T, n) positions, velocities and accelerations; at rest where it ends before the simulation."""
    if trajectory.q.shape[1] != n:
        raise SimulationError(f"control: the trajectory has {trajectory.q.shape[1]} joints, the robot {n}")
    # After its end a trajectory is a point that is held.
    at = np.clip(t + trajectory.t[0], trajectory.t[0], trajectory.t[-1])
    running = (t <= trajectory.duration)[:, None]
    # Values and slopes of the samples: positions and velocities agree with each other between them.
    q = CubicHermiteSpline(trajectory.t, trajectory.q, trajectory.qd)(at)
    qd = CubicHermiteSpline(trajectory.t, trajectory.qd, trajectory.qdd)(at) * running
    qdd = np.stack([np.interp(at, trajectory.t, column) for column in trajectory.qdd.T], axis=1) * running
    return q[None], qd[None], qdd[None]
