"""Reduction: the cheapest program that keeps a stated error on the motions that a robot will make.

For a SCARA arm that moves slowly: how many operations remain at 0.1 % and at 5 % of error, which way of leaving things
out wins, and what fresh states say about the guarantee. Run with `python examples/09_reduction.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import tauform as tf

TOLERANCES = (0.001, 0.05)
CONFIDENCE = 0.99


def plot(path: str, reductions: list[tf.Reduction]) -> None:
    """Operations of every route over the tolerance."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.2), layout="constrained")
    axes = figure.subplots()
    for k, candidate in enumerate(reductions[0].candidates):
        operations = [reduction.candidates[k].program.n_operations for reduction in reductions]
        style = "k:" if candidate.name == "exact" else "o-"
        axes.semilogx(TOLERANCES, operations, style, label=candidate.name)
    axes.set(xlabel=f"tolerated error at {CONFIDENCE:.0%} confidence", ylabel="operations", ylim=(0, None))
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print the routes at each tolerance; the exit code says whether every guarantee held."""
    robot = tf.load("sr6ia")
    profile = tf.Profile.ranges(4, q=[np.pi, np.pi, 0.1, np.pi], qd=0.1, qdd=1.0, name="slow")
    reductions = []
    for tolerance in TOLERANCES:
        reduction = tf.reduce(robot, profile, tolerance, CONFIDENCE, n_fresh=20_000)
        print(f"{tolerance:.2%} tolerated")
        print(reduction)
        reductions.append(reduction)
    if plot_file:
        plot(plot_file, reductions)
    kept = all(reduction.error <= reduction.tolerance for reduction in reductions)
    smaller = reductions[-1].program.n_operations < reductions[0].exact.n_operations
    return 0 if kept and smaller else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
