"""PUMA 560: the base inertial parameters of Gautier1991, with the relations of its Table V.

Of 66 standard parameters (ten per link, one rotor inertia per joint) 11 have no effect on the torques and 15 show only
in sums, so 40 can be identified. Run with `python examples/03_puma560_base_parameters.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf


def plot(path: str, base: tf.BaseParameters) -> None:
    """Which standard parameter takes part in which base parameter."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.subplots()
    columns = [base.parameter_names[c] for c in base.columns]
    grouping = np.asarray(base.grouping)[:, list(base.columns)]
    axes.spy(grouping, markersize=3, aspect="auto")
    axes.set_xticks(range(len(columns)), columns, rotation=90, fontsize=5)
    axes.set_yticks(range(base.n), base.names, fontsize=5)
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print the relations in Gautier's names; the exit code says whether the counts are the paper's."""
    robot = tf.load("puma560_gautier")
    base = tf.base_parameters(robot)
    print(f"{len(base.columns)} standard, {len(base.no_effect)} without effect, {len(base.regrouped)} regrouped")
    for relation in base.relations:
        if len(relation.terms) > 1:
            print(relation.text("gautier"))
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-2, 2, (3, 100, robot.n_joints))
    # Standard parameters that are only moved along directions without effect give the same torques.
    same = robot.with_base_parameters(base.values(robot), base)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    error = np.abs(tf.inverse_dynamics(same, q, qd, qdd) - tau).max() / np.abs(tau).max()
    print(f"40 parameters give the torques of 66 to {error:.1e}")
    if plot_file:
        plot(plot_file, base)
    return 0 if (base.n, len(base.no_effect), len(base.regrouped)) == (40, 11, 15) and error < 1e-12 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
