"""Payload: weigh what an arm carries, from a recording without it and one with it.

The empty KR6 is identified first, so that its errors and friction do not end up in the load. What the fit leaves
unexplained of the second recording is linear in the ten inertial parameters of the load: mass, centre of mass and
inertia come with their deviations. Run with `python examples/11_payload.py [--plot FILE]`.
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
    """Three sines per joint."""
    w = np.outer([1.0, 2.3, 3.1], 1.2 + 0.3 * np.arange(6))
    a = np.array([[0.6], [0.25], [0.15]]) * np.ones(6)
    phase = t[:, None, None] * w
    terms = a * np.sin(phase), a * w * np.cos(phase), -a * w**2 * np.sin(phase)
    q, qd, qdd = (term.sum(axis=1) for term in terms)
    return q + np.array([0.0, -0.8, 1.0, 0.3, 0.6, 0.0]), qd, qdd


def record(robot: tf.Robot, rng: np.random.Generator) -> tf.Recording:
    """Ten seconds of the motion, as a controller would log them."""
    t = np.arange(0.0, 10.0, 0.01)
    q, qd, qdd = motion(t)
    tau = tf.inverse_dynamics(robot, q, qd, qdd) + NOISE * rng.normal(size=q.shape)
    return tf.Recording(t, q + 1e-5 * rng.normal(size=q.shape), tau)


def plot(path: str, empty: tf.Recording, loaded: tf.Recording, explained: Array) -> None:
    """What the load changed of the torques, and what its parameters explain of that."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    for axes, joint in zip(figure.subplots(1, 2), (1, 4), strict=True):
        axes.plot(loaded.t, (loaded.tau - empty.tau)[:, joint], color="0.7", label="with load - without")
        axes.plot(loaded.t, explained[:, joint], label="identified load")
        axes.set(xlabel="t [s]", title=f"joint {joint + 1} [N m]")
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print the load; the exit code says whether its mass is within 3 %."""
    arm, rng = tf.load("kr6_r700"), np.random.default_rng(0)
    empty, loaded = record(arm, rng), record(arm.with_payload(LOAD), rng)
    fit = tf.identify(arm, empty, friction="plain", couplings=None)
    found = tf.identify_payload(fit, loaded)
    rows = zip(LINK_PARAMETERS, found.inertia.parameters, found.deviations, LOAD.parameters, strict=True)
    for name, value, spread, true in rows:
        print(f"{name:4} {value:8.4f} +- {spread:.4f}   true {true:8.4f}")
    mass, com = found.mass, np.round(found.com, 3)
    print(f"load of {mass:.2f} kg, centre of mass at {com} m in the tool's frame")
    if plot_file:
        states = motion(loaded.t)
        carrying = tf.inverse_dynamics(arm.with_payload(found.inertia), *states)
        plot(plot_file, empty, loaded, carrying - tf.inverse_dynamics(arm, *states))
    return 0 if abs(mass / LOAD.mass - 1) < 0.03 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
