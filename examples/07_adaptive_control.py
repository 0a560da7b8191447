"""Adaptive control (Slotine and Li 1987): an arm that starts with no idea of its masses and learns to track.

    tau = Y_r(q, qd, qd_r, qdd_r) theta - K s,    d theta/dt = -Γ Y_rᵀ s,    s = qd - qd_r

with the base parameters theta of the two-link arm, all zero at first, and friction among them.
Run with `python examples/07_adaptive_control.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf
from tauform.arrays import Array

STEP = 0.001  # s
STIFFNESS, DAMPING, ADAPTATION = 6.0, 10.0, 20.0
GROUPS = ("link", "viscous")


def desired(t: Array | float) -> tuple[Array, Array, Array]:
    """A motion that shows all parameters: two sines per joint."""
    w = np.array([[2.0, 3.3], [5.1, 4.3]])
    a = np.array([[0.9, 1.1], [0.3, 0.4]])
    phase = np.multiply.outer(t, w)
    return (
        (a * np.sin(phase)).sum(axis=-2),
        (a * w * np.cos(phase)).sum(axis=-2),
        (-a * w**2 * np.sin(phase)).sum(axis=-2),
    )


def simulate(robot: tf.Robot, seconds: float) -> tuple[Array, Array, Array, Array]:
    """Times, tracking errors (T, n), parameters (T, l) and the true ones (l,)."""
    base = tf.base_parameters(robot, include=GROUPS)
    # Kernels take a few microseconds a call, and this one has the columns of the base parameters alone.
    regressor = tf.compile(robot, "slotine_li_regressor")
    acceleration = tf.compile(robot, "forward_dynamics")
    theta = np.zeros(base.n)
    # Columns differ in size (gravity above all), so each parameter gets a rate of its own.
    q_d, qd_d, qdd_d = desired(np.arange(0, seconds, 0.05))
    rates = ADAPTATION / (regressor(q_d, qd_d, qd_d, qdd_d) ** 2).mean(axis=(0, 1))
    q, qd = np.zeros(robot.n_joints), np.zeros(robot.n_joints)
    rows = []
    for t in np.arange(0, seconds, STEP):
        q_d, qd_d, qdd_d = desired(t)
        e, ed = q - q_d, qd - qd_d
        qd_r, qdd_r = qd_d - STIFFNESS * e, qdd_d - STIFFNESS * ed
        s = qd - qd_r
        Y = regressor(q, qd, qd_r, qdd_r)
        rows.append((e, theta))
        tau = Y @ theta - DAMPING * s
        theta = theta - STEP * rates * (Y.T @ s)
        qd = qd + STEP * acceleration(q, qd, tau)
        q = q + STEP * qd
    errors, parameters = (np.array(part) for part in zip(*rows, strict=True))
    return np.arange(len(rows)) * STEP, errors, parameters, base.values(robot)


def plot(path: str, t: Array, errors: Array, parameters: Array, true: Array) -> None:
    """Tracking errors, and the parameters on their way to the true ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    tracking, learning = figure.subplots(1, 2)
    tracking.plot(t, errors)
    tracking.set(xlabel="t [s]", title="tracking error [rad]")
    learning.plot(t, parameters)
    learning.set_prop_cycle(None)
    learning.plot(t[[0, -1]], np.stack([true, true]), ":")
    learning.set(xlabel="t [s]", title="parameters; dotted: true")
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None, seconds: float = 20.0) -> int:
    """Print errors at the start and the end; the exit code says whether tracking converged."""
    frictionless = tf.load("two_link")
    values = dict(zip(frictionless.parameter_names, frictionless.parameters, strict=True)) | {"Fv_1": 0.8, "Fv_2": 0.4}
    arm = frictionless.with_parameters(list(values.values()))
    t, errors, parameters, true = simulate(arm, seconds)
    early, late = (np.abs(errors[part]).max() for part in (t < 1, t > seconds - 1))
    far, near = (np.linalg.norm(parameters[k] - true) / np.linalg.norm(true) for k in (0, -1))
    print(f"tracking error {early:.3f} rad in the first second, {late:.4f} rad in the last")
    print(f"parameters {100 * far:.0f} % off at the start, {100 * near:.1f} % at the end")
    if plot_file:
        plot(plot_file, t, errors, parameters, true)
    return 0 if late < 0.05 * early and near < 0.05 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
