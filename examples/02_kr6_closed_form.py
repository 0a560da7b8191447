"""KUKA KR6: its closed form, where the terms are, and which part of the torque they make.

The figures are those of Lloyd2021, Table 2: 6086 terms, 36 base parameters.
Run with `python examples/02_kr6_closed_form.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.closedform.model.terms_by_kind import Breakdown


def swing(t: Array, n: int) -> tuple[Array, Array, Array]:
    """Each joint on a sine of its own frequency: q, qd, qdd of shape (T, n)."""
    w = 1.5 + 0.5 * np.arange(n)
    phase = t[:, None] * w
    return np.sin(phase), w * np.cos(phase), -(w**2) * np.sin(phase)


def plot(path: str, t: Array, parts: Breakdown, terms: Array) -> None:
    """Parts of the torque of joint 2, and the number of terms in each joint's equation."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    torque, count = figure.subplots(1, 2)
    for name in ("inertial", "coriolis", "centrifugal", "gravity"):
        torque.plot(t, getattr(parts, name)[:, 1], label=name)
    torque.set(xlabel="t [s]", title="joint 2 [N m]")
    torque.legend()
    count.bar(np.arange(1, len(terms) + 1), terms)
    count.set(xlabel="joint", title="terms in its equation")
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print the figures of the closed form; the exit code says whether they are the paper's."""
    robot = tf.load("kr6_r700")
    tf.derive(robot)  # the first call also loads what it needs
    start = time.perf_counter()
    model = tf.derive(robot)
    print(f"derived in {1e3 * (time.perf_counter() - start):.0f} ms: {model.n_terms} terms, {model.n_base} parameters")
    terms = np.array([np.count_nonzero(np.any(part != 0, axis=1)) for part in model.reduction])
    print("terms of each joint:", *terms)
    print("base parameters:", ", ".join(model.base.names))
    t = np.linspace(0, 3, 300)
    q, qd, qdd = swing(t, robot.n_joints)
    bound = model.bind(robot)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    error = np.abs(bound.inverse_dynamics(q, qd, qdd) - tau).max() / np.abs(tau).max()
    print(f"largest difference from Newton-Euler {error:.1e} of the largest torque")
    if plot_file:
        plot(plot_file, t, bound.breakdown(q, qd, qdd), terms)
    return 0 if error < 1e-12 and (model.n_terms, model.n_base) == (6086, 36) else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
