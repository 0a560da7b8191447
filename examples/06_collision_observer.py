"""Gravity compensation and a collision observer: an arm that floats, is pushed, and notices without a force sensor.

The KR6 is held by gravity torque plus damping. Something pushes its tip for a tenth of a second; the momentum observer
tells the external torque from positions, velocities and motor torques alone.
Run with `python examples/06_collision_observer.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf
from tauform.arrays import Array

STEP = 0.002  # s
DAMPING = np.array([20.0, 20.0, 10.0, 1.0, 1.0, 0.5])  # N m s/rad
GAIN = 100.0  # 1/s: a push shows after about 10 ms
PUSH = np.array([0.0, 30.0, -40.0])  # N, in the base frame, at the tip
PUSH_FROM, PUSH_TO = 0.05, 0.15  # s
THRESHOLD = 2.0  # N m


def external_torque(robot: tf.Robot, q: Array, t: float) -> Array:
    """J^T f of the push at the tip."""
    if not PUSH_FROM <= t < PUSH_TO:
        return np.zeros(robot.n_joints)
    # rows of the Jacobian: angular, then linear velocity
    return tf.jacobian(robot, q)[3:].T @ PUSH


def simulate(robot: tf.Robot, q: Array, seconds: float) -> tuple[Array, Array, Array, Array]:
    """Times, positions, true external torques and the observer's residuals, each (T, n)."""
    qd = np.zeros_like(q)
    residual, integral = np.zeros_like(q), tf.generalized_momentum(robot, q, qd)
    rows = []
    for t in np.arange(0, seconds, STEP):
        tau = tf.gravity_torque(robot, q) - DAMPING * qd
        pushed = external_torque(robot, q, t)
        rows.append((q, pushed, residual))
        qdd = tf.forward_dynamics(robot, q, qd, tau + pushed)
        qd = qd + STEP * qdd
        q = q + STEP * qd
        # What the controller knows: measured q and qd, and the torque that it commanded.
        residual, integral = tf.momentum_observer(robot, q, qd, tau, integral, residual, GAIN, STEP)
    positions, true, observed = (np.array(part) for part in zip(*rows, strict=True))
    return np.arange(len(rows)) * STEP, positions, true, observed


def plot(path: str, t: Array, q: Array, true: Array, observed: Array) -> None:
    """Motion, and the external torques as they were and as they were observed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    motion, torque = figure.subplots(1, 2)
    motion.plot(t, q - q[0])
    motion.set(xlabel="t [s]", title="motion [rad]")
    for j, color in zip(range(3), ("C0", "C1", "C2"), strict=True):
        torque.plot(t, true[:, j], ":", color=color)
        torque.plot(t, observed[:, j], color=color, label=f"joint {j + 1}")
    torque.axhspan(-THRESHOLD, THRESHOLD, color="0.9")
    torque.set(xlabel="t [s]", title="external torque; dotted: true [N m]")
    torque.legend()
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print when the push was noticed; the exit code says whether it was, and nothing before it."""
    robot = tf.load("kr6_r700")
    t, q, true, observed = simulate(robot, np.array([0.3, -0.8, 1.2, 0.4, 0.6, 0.0]), seconds=0.3)
    alarm = np.abs(observed).max(axis=1) > THRESHOLD
    before = t < PUSH_FROM
    drift = np.ptp(q[before], axis=0).max()
    print(f"at rest: residual below {np.abs(observed[before]).max():.1e} N m, drift {drift:.1e} rad")
    if not alarm.any():
        print("the push was not noticed")
        return 1
    delay = t[np.argmax(alarm)] - PUSH_FROM
    settled = np.argmin(np.abs(t - PUSH_TO)) - 1
    error = np.abs(observed[settled] - true[settled]).max() / np.abs(true[settled]).max()
    print(f"push noticed after {1e3 * delay:.0f} ms; its torque known to {100 * error:.1f} % at its end")
    if plot_file:
        plot(plot_file, t, q, true, observed)
    return 0 if not alarm[before].any() and delay < 0.02 and error < 0.05 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
