"""PUMA 260 campaign: identify drives and links from ten recordings, as Izaguirre1992 did.

The recordings are simulated from the parameters that the paper found. Of 78 parameters 52 can be told apart; by the
paper's 1 % rule 23 of them matter, the same 23 as in its Table 2. Fitted alone they scatter less from recording to
recording, since the condition number falls more than tenfold. Run with
`python examples/04_puma260_campaign.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

import tauform as tf
from tauform.identification.motion.trajectory import polynomial_through

GROUPS = ("link", "rotor", "viscous", "coulomb")  # 78 parameters of six joints
# The paper keeps motors first, then links from the last to the first, masses before moments.
KINDS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz")
PREFERRED = ("Ia", *(f"{kind}_{i}" for i in range(6, 0, -1) for kind in KINDS))
PERIOD = 0.028  # s
SECONDS, N_POINTS, REACH = 8.0, 6, 1.5  # polynomials through random points [rad], at rest at both ends
NOISE = 0.02  # of each joint's largest torque


def record(robot: tf.Robot, rng: np.random.Generator, name: str) -> tf.Recording:
    """One run: the states as the paper's differences would give them, and torques with noise."""
    points = rng.uniform(-REACH, REACH, (N_POINTS, robot.n_joints))
    path = polynomial_through(points, SECONDS, 1 / PERIOD, robot.joint_names)
    tau = tf.inverse_dynamics(robot, path.q, path.qd, path.qdd)
    noise = NOISE * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    return tf.Recording(path.t, path.q, tau + noise, path.qd, path.qdd, name=name)


def print_statistics(before: Any, after: Any) -> None:
    """Tables 1 and 2 of the paper: average, standard deviation, maximum and minimum over the recordings."""
    print(f"{'':8}{'of all 52':>21}{'of those that matter alone':>44}")
    print(f"{'':8}{'average':>10}{'deviation':>11}{'average':>11}{'deviation':>11}{'maximum':>11}{'minimum':>11}")
    for k, name in enumerate(after.names):
        j = before.names.index(name)
        numbers = (before.mean[j], before.std[j], after.mean[k], after.std[k], after.maximum[k], after.minimum[k])
        print(f"{name:8}" + f"{numbers[0]:10.4f}" + "".join(f"{number:11.4f}" for number in numbers[1:]))


def plot(path: str, before: Any, after: Any) -> None:
    """Deviations with all and with the significant parameters, and condition numbers of each recording."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.6), layout="constrained")
    scatter, condition = figure.subplots(1, 2, width_ratios=(2, 1))
    places = np.arange(len(after.names))
    kept = [before.names.index(name) for name in after.names]
    scatter.semilogy(places, before.std[kept], "o", label="fitted with all 52")
    scatter.semilogy(places, after.std, "s", label=f"fitted with {len(after.names)}")
    scatter.set_xticks(places, after.names, rotation=90)
    scatter.set(title="standard deviation over ten recordings")
    scatter.legend()
    for label, found in ((f"{len(before.names)}", before), (f"{len(after.names)}", after)):
        condition.semilogy(1 + np.arange(len(found.condition)), found.condition, "o-", label=label)
    condition.set(title="condition number", xlabel="recording")
    condition.legend(title="parameters")
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Print the paper's tables; the exit code says whether the campaign went as the paper's did."""
    robot = tf.load("puma260_izaguirre")
    base = tf.base_parameters(robot, include=GROUPS, order=PREFERRED)
    print(f"{len(base.columns)} parameters, {base.n} of them independent")
    rng = np.random.default_rng(0)
    recordings = [record(robot, rng, f"run {k + 1}") for k in range(10)]
    other = record(robot, rng, "another run")
    fit = tf.identify(
        robot,
        recordings,
        include=GROUPS,
        order=PREFERRED,
        friction="plain",
        couplings=None,
        filters=None,
        validate=other,
    )
    small = fit.reduced(tolerance=0.01, max_deviation=np.inf, keep_accuracy=False)
    before, after = fit.per_recording(), small.per_recording()
    print(f"{len(small.values)} of them matter by the 1 % rule")
    print_statistics(before, after)
    fall = np.median(before.condition / after.condition)
    print(f"condition number of one recording: {np.median(before.condition):.0f} with all, ", end="")
    print(f"{np.median(after.condition):.0f} with those that matter (the paper: 25000 and 420)")
    assert small.validation is not None
    print("error on another run, joint by joint:", *(f"{100 * e:.2f} %" for e in small.validation.joints))
    if plot_file:
        plot(plot_file, before, after)
    went_well = base.n == 52 and len(small.values) == 23 and fall > 10 and small.validation.total < 0.06
    return 0 if went_well else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
