"""Time-varying LQR: track a fast motion of the KR6, in closed loop with its nonlinear forward dynamics.

A(t) and B(t) of the whole trajectory come from one batched call. Run with
`python examples/12_track_kr6.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf
from simulation import runge_kutta
from tauform.arrays import Array

STEP = 0.005  # s; the controller runs at 200 Hz
START, END = np.zeros(6), np.array([1.0, -0.8, 0.6, 1.5, -1.0, 2.0])  # rad
INITIAL_ERROR = np.array([0.15, -0.1, 0.1, 0.2, -0.2, 0.3])  # rad
STATE_WEIGHT = np.diag([400.0] * 6 + [1.0] * 6)
TORQUE_WEIGHT = np.diag([0.01, 0.01, 0.02, 0.5, 0.5, 0.5])


def reference(t: Array, seconds: float) -> tuple[Array, Array, Array]:
    """Rest to rest in `seconds`, by the polynomial of degree five: q, qd, qdd of shape (T, 6)."""
    s = np.clip(t / seconds, 0, 1)[:, None]
    reach = END - START
    q = START + reach * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = reach * (30 * s**2 - 60 * s**3 + 30 * s**4) / seconds
    qdd = reach * (60 * s - 180 * s**2 + 120 * s**3) / seconds**2
    return q, qd, qdd


def lqr_gains(model: tf.StateSpace) -> Array:
    """(T, n, 2n) gains by the Riccati recursion, backwards from the end of the trajectory."""
    P = STATE_WEIGHT
    gains = []
    for A, B in zip(model.A[::-1], model.B[::-1], strict=True):
        K = np.linalg.solve(TORQUE_WEIGHT + B.T @ P @ B, B.T @ P @ A)
        P = STATE_WEIGHT + A.T @ P @ (A - B @ K)
        gains.append(K)
    return np.array(gains[::-1])


def simulate(robot: tf.Robot, x: Array, targets: Array, feedforward: Array, gains: Array) -> tuple[Array, Array]:
    """States (T, runs, 12) and torques (T, runs, 6); gains are (T, runs, 6, 12), torques are held over each step."""
    states, torques = [], []
    for target, tau, gain in zip(targets, feedforward, gains, strict=True):
        states.append(x)
        torques.append(tau - (gain @ (x - target)[..., None])[..., 0])
        x = runge_kutta(robot, x, torques[-1], STEP)
    return np.array(states), np.array(torques)


def plot(path: str, t: Array, errors: Array, torques: Array) -> None:
    """Tracking errors with and without feedback, and the torques of the closed loop."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3), layout="constrained")
    with_feedback, without, effort = figure.subplots(1, 3)
    with_feedback.plot(t, errors[:, 0])
    with_feedback.set(xlabel="t [s]", title="error with LQR [rad]")
    without.plot(t, errors[:, 1])
    without.set(xlabel="t [s]", title="error without [rad]", ylim=(-2, 2))
    effort.plot(t, torques)
    effort.set(xlabel="t [s]", title="torque with LQR [N m]")
    figure.savefig(path, metadata={"Date": None})


def main(seconds: float = 1.0, plot_file: str | None = None) -> int:
    """Print the tracking errors; the exit code says whether feedback removes the initial one."""
    robot = tf.load("kr6_r700")
    t = np.arange(0, 1.5 * seconds, STEP)
    q, qd, qdd = reference(t, seconds)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    model = tf.state_space(robot, q, qd, tau, dt=STEP)
    print(f"{model} along {len(t)} samples")
    gains = lqr_gains(model)
    both = np.stack([gains, 0 * gains], axis=1)  # with feedback, and without
    targets = np.concatenate([q, qd], axis=-1)
    start = targets[0] + np.concatenate([INITIAL_ERROR, np.zeros(6)])
    states, torques = simulate(robot, np.tile(start, (2, 1)), targets, tau, both)
    errors = states[..., :6] - q[:, None]
    for name, k in (("with", 0), ("without", 1)):
        first, last = np.abs(errors[0, k]).max(), np.abs(errors[-1, k]).max()
        print(f"{name} feedback: error {first:.2f} rad at the start, {last:.1e} rad after {t[-1]:.2f} s")
    if plot_file:
        plot(plot_file, t, errors, torques[:, 0])
    return 0 if np.abs(errors[-1, 0]).max() < 1e-3 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(plot_file=parser.parse_args().plot))
