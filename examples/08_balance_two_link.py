"""LQR: balance the two-link arm upright, in closed loop with its nonlinear forward dynamics.

Run with `python examples/08_balance_two_link.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from scipy.linalg import solve_discrete_are

import tauform as tf
from simulation import runge_kutta
from tauform.arrays import Array

STEP = 0.01  # s; the controller runs at 100 Hz
UPRIGHT = np.array([np.pi / 2, 0.0])
INITIAL_ERRORS = np.array([[0.3, -0.4], [-0.4, 0.2], [0.1, 0.6]])  # rad
STATE_WEIGHT, TORQUE_WEIGHT = np.diag([100.0, 100.0, 1.0, 1.0]), np.diag([0.01, 0.01])


def lqr_gain(model: tf.StateSpace) -> Array:
    """K of u = -K x that minimises the sum of x.Q x + u.R u over all steps."""
    A, B = model.A, model.B
    P = solve_discrete_are(A, B, STATE_WEIGHT, TORQUE_WEIGHT)
    return np.linalg.solve(TORQUE_WEIGHT + B.T @ P @ B, B.T @ P @ A)


def simulate(robot: tf.Robot, gain: Array, errors: Array, seconds: float) -> tuple[Array, Array, Array]:
    """Times, states (T, runs, 4) and torques (T, runs, 2) from these initial errors, torques held over each step."""
    hold = tf.inverse_dynamics(robot, UPRIGHT, np.zeros(2), np.zeros(2))
    target = np.concatenate([UPRIGHT, np.zeros(2)])
    x = target + np.concatenate([errors, np.zeros_like(errors)], axis=-1)
    states, torques = [x], []
    for _ in range(round(seconds / STEP)):
        torques.append(hold - (x - target) @ gain.T)
        x = runge_kutta(robot, x, torques[-1], STEP)
        states.append(x)
    return np.arange(len(torques)) * STEP, np.array(states[:-1]), np.array(torques)


def plot(path: str, t: Array, states: Array, torques: Array) -> None:
    """Joint errors and torques over time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    for run in range(states.shape[1]):
        for joint in range(2):
            style = {"color": f"C{run}", "linestyle": ("-", "--")[joint]}
            left.plot(t, states[:, run, joint] - UPRIGHT[joint], **style)
            right.plot(t, torques[:, run, joint], **style)
    left.set(xlabel="t [s]", ylabel="error [rad]", title="joint 1 (solid) and 2 (dashed)")
    right.set(xlabel="t [s]", ylabel="torque [N m]", title="torques")
    figure.savefig(path, metadata={"Date": None})


def main(seconds: float = 3.0, plot_file: str | None = None) -> int:
    """Print what becomes of the initial errors; the exit code says whether all of them vanish."""
    robot = tf.load("two_link")
    model = tf.state_space(robot, UPRIGHT, np.zeros(2), dt=STEP)
    print(f"{model}: largest eigenvalue {np.abs(model.eigenvalues).max():.4f} (above 1: it falls)")
    gain = lqr_gain(model)
    closed = np.abs(np.linalg.eigvals(model.A - model.B @ gain)).max()
    print(f"with feedback: largest eigenvalue {closed:.4f}")
    t, states, torques = simulate(robot, gain, INITIAL_ERRORS, seconds)
    final = np.abs(states[-1, :, :2] - UPRIGHT).max(axis=-1)
    for error, rest, peak in zip(INITIAL_ERRORS, final, np.abs(torques).max(axis=(0, 2)), strict=True):
        print(f"initial error {error} rad: {rest:.1e} rad after {seconds:g} s, at most {peak:.1f} N m")
    if plot_file:
        plot(plot_file, t, states, torques)
    return 0 if (final < 1e-3).all() else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(plot_file=parser.parse_args().plot))
