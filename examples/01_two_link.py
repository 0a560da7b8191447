"""Two-link arm: the dynamics by hand, and the same by derivation.

The textbook equations of a planar arm in a vertical plane are typed in, evaluated, and compared with the closed form
that `tf.derive` finds from the geometry alone. Run with `python examples/01_two_link.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf
from tauform.arrays import Array


def by_hand(robot: tf.Robot, q: Array, qd: Array, qdd: Array) -> Array:
    """M qdd + C qd + g of two rods in the x-y plane with gravity along -y, as any textbook writes it."""
    (m1, m2), (x1, x2) = ([i.mass for i in robot.inertias], [i.com[0] for i in robot.inertias])
    I1, I2 = (inertia.tensor_about_com[2, 2] for inertia in robot.inertias)
    a1, g = robot.joints[1].parent_from_joint[0, 3], 9.81
    q1, q2 = q.T
    s2, c2 = np.sin(q2), np.cos(q2)
    M11 = I1 + I2 + m1 * x1**2 + m2 * (a1**2 + x2**2 + 2 * a1 * x2 * c2)
    M12 = I2 + m2 * (x2**2 + a1 * x2 * c2)
    M22 = I2 + m2 * x2**2
    h = m2 * a1 * x2 * s2
    g2 = m2 * g * x2 * np.cos(q1 + q2)
    g1 = (m1 * x1 + m2 * a1) * g * np.cos(q1) + g2
    (w1, w2), (a, b) = qd.T, qdd.T
    return np.stack([M11 * a + M12 * b - h * (2 * w1 * w2 + w2**2) + g1, M12 * a + M22 * b + h * w1**2 + g2], axis=-1)


def plot(path: str, t: Array, hand: Array, derived: Array) -> None:
    """Torques of both over a swing, and their difference."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    torque, difference = figure.subplots(1, 2)
    torque.plot(t, hand, label=["joint 1 by hand", "joint 2 by hand"])
    torque.plot(t, derived, "k:", label=["derived", "_"])
    torque.set(xlabel="t [s]", title="torque [N m]")
    torque.legend()
    difference.plot(t, derived - hand)
    difference.set(xlabel="t [s]", title="derived - by hand [N m]")
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print the derived equations; the exit code says whether both agree."""
    robot = tf.load("two_link")
    model = tf.derive(robot)
    bound = model.bind(robot)
    print(f"{model.n_terms} terms, base parameters {', '.join(model.base.names)}")
    for equation in bound.equations():
        print(equation)
    t = np.linspace(0, 2, 400)
    q = np.stack([np.sin(3 * t), np.cos(4 * t)], axis=-1)
    qd = np.stack([3 * np.cos(3 * t), -4 * np.sin(4 * t)], axis=-1)
    qdd = np.stack([-9 * np.sin(3 * t), -16 * np.cos(4 * t)], axis=-1)
    hand, derived = by_hand(robot, q, qd, qdd), bound.inverse_dynamics(q, qd, qdd)
    error = np.abs(hand - derived).max() / np.abs(hand).max()
    print(f"largest difference {error:.1e} of the largest torque")
    if plot_file:
        plot(plot_file, t, hand, derived)
    return 0 if error < 1e-13 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
