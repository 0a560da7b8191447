"""PUMA 260 campaign: identify drives and links from several recordings, as Izaguirre1992 did.

The recordings are simulated from the parameters that the paper found: friction, rotor inertias, noise on torques and
encoder steps. Of 78 parameters 52 can be told apart, and fewer matter. Run with
`python examples/04_puma260_campaign.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf
from tauform.arrays import Array

GROUPS = ("link", "rotor", "viscous", "coulomb")  # 78 parameters of six joints
RATE = 100.0  # Hz
NOISE = 0.01  # of each joint's largest torque
ENCODER = 2e-5  # rad
REACH = np.array([0.9, 0.6, 0.7, 0.9, 0.8, 1.0])  # rad
CENTRE = np.array([0.0, -0.8, 0.6, 0.0, 0.5, 0.0])  # rad


def motion(rng: np.random.Generator, seconds: float) -> tuple[Array, Array, Array, Array]:
    """Times and q, qd, qdd: a few harmonics a joint, with amplitudes and phases at random."""
    t = np.arange(0.0, seconds, 1 / RATE)
    order = np.arange(1, 6)
    w = 2 * np.pi * order / seconds * 2
    amplitude = REACH * rng.uniform(0.3, 1.0, (5, 6)) / order[:, None]
    phase = t[:, None, None] * w[:, None] + rng.uniform(0, 2 * np.pi, (5, 6))
    q = CENTRE + (amplitude * np.sin(phase)).sum(axis=1)
    qd = (amplitude * w[:, None] * np.cos(phase)).sum(axis=1)
    qdd = -(amplitude * w[:, None] ** 2 * np.sin(phase)).sum(axis=1)
    return t, q, qd, qdd


def record(robot: tf.Robot, rng: np.random.Generator, name: str, seconds: float = 8.0) -> tf.Recording:
    """What a logger would have written."""
    t, q, qd, qdd = motion(rng, seconds)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    noise = NOISE * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    return tf.Recording(t, np.round(q / ENCODER) * ENCODER, tau + noise, name=name)


def plot(path: str, fit: tf.Fit, true: Array) -> None:
    """Measured and predicted torque of joint 2, and the values with their standard deviations."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2), layout="constrained")
    torque, values = figure.subplots(1, 2)
    shown = slice(0, 600)
    torque.plot(fit.residuals.t[shown], fit.residuals.measured[shown, 1], label="measured")
    torque.plot(fit.residuals.t[shown], fit.residuals.predicted[shown, 1], "--", label="predicted")
    torque.set(xlabel="t [s]", title="joint 2 [N m]")
    torque.legend()
    deviation = 3 * np.sqrt(np.diag(fit.covariance))[: len(true)]
    values.errorbar(range(len(true)), fit.theta - true, yerr=deviation, fmt=".", capsize=2)
    values.axhline(0, color="0.5")
    values.set(xlabel="base parameter", title="identified - true, three deviations", ylim=(-0.05, 0.05))
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print errors on held-out data; the exit code says whether a recording that was not used is predicted."""
    robot = tf.load("puma260_izaguirre")
    base = tf.base_parameters(robot, include=GROUPS)
    print(f"{len(base.columns)} parameters, {base.n} of them independent")
    rng = np.random.default_rng(0)
    recordings = [record(robot, rng, f"run {k + 1}") for k in range(2)]
    other = record(robot, rng, "another run")
    fit = tf.identify(robot, recordings, include=GROUPS, friction="plain", couplings=None, validate=other)
    print(fit)
    print(f"verdict: {fit.verdict}")
    assert fit.validation is not None
    print("error on another run, joint by joint:", *(f"{100 * e:.2f} %" for e in fit.validation.joints))
    if plot_file:
        plot(plot_file, fit, base.values(robot))
    return 0 if base.n == 52 and fit.validation.total < 0.02 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
