"""One step of a simulation, shared by the examples that close a loop."""

from __future__ import annotations

import numpy as np

import tauform as tf
from tauform.arrays import Array


def runge_kutta(robot: tf.Robot, x: Array, tau: Array, step: float) -> Array:
    """The states (..., 2 n) one step later, torques held."""

    def rate(x: Array) -> Array:
        n = robot.n_joints
        return np.concatenate([x[..., n:], tf.forward_dynamics(robot, x[..., :n], x[..., n:], tau)], axis=-1)

    k1 = rate(x)
    k2 = rate(x + step / 2 * k1)
    k3 = rate(x + step / 2 * k2)
    k4 = rate(x + step * k3)
    return x + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
