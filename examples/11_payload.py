"""Payload: weigh what an arm carries, from the torques of a short motion.

The KR6 is modelled without load. It then picks something up; the torque that the model does not explain is linear in
the ten inertial parameters of the load, so least squares give its mass, centre of mass and inertia, with deviations.
Run with `python examples/11_payload.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.description.inertia import LINK_PARAMETERS

NOISE = 0.3  # N m
LOAD = tf.Inertia.of(2.4, com=[0.03, -0.02, 0.08], inertia=[0.012, 0.011, 0.008, 0.0, 0.0, 0.0], inertia_about="com")


def motion(t: Array) -> tuple[Array, Array, Array]:
    """Two sines a joint."""
    w = np.outer([1.0, 2.3], 1.2 + 0.3 * np.arange(6))
    a = np.array([[0.6], [0.25]]) * np.ones(6)
    phase = t[:, None, None] * w
    terms = a * np.sin(phase), a * w * np.cos(phase), -a * w**2 * np.sin(phase)
    q, qd, qdd = (term.sum(axis=1) for term in terms)
    return q + np.array([0.0, -0.8, 1.0, 0.3, 0.6, 0.0]), qd, qdd


def plot(path: str, t: Array, unexplained: Array, predicted: Array) -> None:
    """What the empty model leaves unexplained, and what the load explains of it."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    for axes, joint in zip(figure.subplots(1, 2), (1, 4), strict=True):
        axes.plot(t, unexplained[:, joint], color="0.7", label="measured - empty arm")
        axes.plot(t, predicted[:, joint], label="identified load")
        axes.set(xlabel="t [s]", title=f"joint {joint + 1} [N m]")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print the load; the exit code says whether its mass is within 3 %."""
    arm = tf.load("kr6_r700")
    model = tf.derive(arm)
    t = np.arange(0.0, 8.0, 0.02)
    q, qd, qdd = motion(t)
    loaded = arm.with_payload(LOAD)
    rng = np.random.default_rng(0)
    measured = tf.inverse_dynamics(loaded, q, qd, qdd) + NOISE * rng.normal(size=q.shape)
    # tau = Y(q, qd, qdd) theta_arm + Y_load phi
    unexplained = measured - tf.inverse_dynamics(arm, q, qd, qdd)
    Y = model.load_regressor(q, qd, qdd)
    A = Y.reshape(-1, 10)
    phi, *_ = np.linalg.lstsq(A, unexplained.ravel(), rcond=None)
    deviation = NOISE * np.sqrt(np.diag(np.linalg.inv(A.T @ A)))
    for name, value, spread, true in zip(LINK_PARAMETERS, phi, deviation, LOAD.parameters, strict=True):
        print(f"{name:4} {value:8.4f} +- {spread:.4f}   true {true:8.4f}")
    mass, com = phi[0], phi[1:4] / phi[0]
    print(f"load of {mass:.2f} kg, centre of mass at {np.round(com, 3)} m in the tool's frame")
    if plot_file:
        plot(plot_file, t, unexplained, Y @ phi)
    return 0 if abs(mass / LOAD.mass - 1) < 0.03 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
