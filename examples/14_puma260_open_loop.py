"""PUMA 260 in open loop: torques of a fitted model move the robot, with the wrist at rest.  [Izaguirre1992, 7.2]

The robot is that of the paper's Table 1; its model is fitted to recordings of 28 ms with noise. Joints 1 to 3 turn by
90 degrees, each alone and all together, slowly and fast. Fast, they err by a few percent of the travel: a double
integrator has little time to build errors up. Slowly, gravity builds up errors as large as the motion, which go away
where its torque is taken at the actual position: Figures 6 to 9 of the paper. Run with
`python examples/14_puma260_open_loop.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys
from functools import cache
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.motion.trajectory import polynomial_through, quintic

WRIST = {"joint4": 0.0, "joint5": 0.0, "joint6": 0.0}
START, TRAVEL = np.array([0.0, 0.4, -1.2]), np.pi / 2
# A quintic's largest speed is 15/8 of its mean: 90 degrees at 45 and at 180 degrees per second.
SECONDS = {"slow": 15 / 8 * 90 / 45, "fast": 15 / 8 * 90 / 180}
# Joints that move: each of the first three alone, then all of them.
MOVES = np.concatenate([np.eye(3), np.ones((1, 3))])
STEP = 7.5e-3


def fitted_model(robot: tf.Robot) -> tf.Robot:
    """What the controller knows: all 52 values, from four runs with 2 % of noise, states by central differences."""
    rng, recordings = np.random.default_rng(0), []
    for _ in range(4):
        path = polynomial_through(rng.uniform(-1.5, 1.5, (6, 6)), 8.0, 1 / 0.028, robot.joint_names)
        noise = 0.02 * np.abs(tf.inverse_dynamics(robot, path.q, path.qd, path.qdd)).max(axis=0)
        recordings.append(simulated_recording(robot, path, rng, torque_noise=noise))
    fit = tf.identify(
        robot, recordings, include="declared", friction="plain", couplings=None, filters=None, method="weighted"
    )
    return fit.identified_robot


def errors(robot: tf.Robot, model: tf.Robot, seconds: float) -> tuple[Array, Array]:
    """Times, and positions minus planned ones (2, moves, T, 3): without, then with gravity compensation."""
    n_steps = round(seconds / STEP)
    plans = [quintic([START, START + TRAVEL * move], [seconds], 1 / STEP, robot.joint_names) for move in MOVES]
    q, qd, qdd = (np.stack([getattr(plan, name)[:n_steps] for plan in plans]) for name in ("q", "qd", "qdd"))
    planned = tf.inverse_dynamics(model, q, qd, qdd)

    def torque(t: float, actual: Array, _: Array) -> Array:
        k = min(round(t / STEP), n_steps - 1)
        # g at the actual position in place of g at the planned one: the paper's elementary feedback.
        back = tf.gravity_torque(model, actual[1]) - tf.gravity_torque(model, q[:, k])
        return planned[:, k] + np.stack([0 * back, back])

    motion = tf.simulate(robot, np.stack([q[:, 0], q[:, 0]]), None, torque, n_steps * STEP, STEP)
    return motion.t[:-1], motion.q[:, :, :-1] - q


@cache
def found_errors() -> dict[str, tuple[Array, Array]]:
    """Of slow and of fast motions."""
    arm = tf.load("puma260_izaguirre_all")
    robot, model = arm.locked(WRIST), fitted_model(arm).locked(WRIST)
    return {speed: errors(robot, model, seconds) for speed, seconds in SECONDS.items()}


def largest_errors(speed: str) -> Array:
    """(2, moves, 3) largest error of each joint, of the travel: without, then with gravity compensation."""
    return np.abs(found_errors()[speed][1]).max(axis=2) / TRAVEL


def figure(found: dict[str, tuple[Array, Array]]) -> Any:
    """Figures 6 to 9: rows are alone and together, each without and with gravity compensation."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(11, 9), layout="constrained")
    axes = drawn.subplots(4, 6)
    rows = [(6, False, True), (7, False, False), (8, True, True), (9, True, False)]
    for line, (number, compensated, alone) in zip(axes, rows, strict=True):
        for k, (speed, joint) in enumerate((speed, joint) for speed in SECONDS for joint in range(3)):
            t, error = found[speed]
            line[k].plot(t, np.rad2deg(error[int(compensated), joint if alone else 3, :, joint]))
            line[k].axhline(0, color="0.7", linewidth=0.5)
            line[k].set_title(f"Fig. {number}: joint {joint + 1}, {speed}", fontsize=8)
            line[k].tick_params(labelsize=7)
        line[0].set_ylabel("error [deg]\n" + ("each alone" if alone else "together"), fontsize=8)
    for below in axes[-1]:
        below.set_xlabel("t [s]", fontsize=8)
    return drawn


def main(plot_file: str | None = None) -> int:
    """Print the errors; the exit code says whether they behave as the paper's do."""
    largest = {speed: largest_errors(speed) for speed in SECONDS}
    print("largest error of each joint that moves, of its travel of 90 degrees")
    for k, words in enumerate(("torques alone", "with gravity compensation")):
        for speed, shares in largest.items():
            alone, together = np.diag(shares[k, :3]), shares[k, 3]
            print(f"{speed}, {words:25} alone", *(f"{100 * x:5.1f} %" for x in alone), end="")
            print("   together", *(f"{100 * x:5.1f} %" for x in together))
    if plot_file:
        figure(found_errors()).savefig(plot_file, metadata={"Date": None})
    # The paper: below 10 % when fast; slowly gravity builds up large errors, which its compensation reduces.
    fast_is_good = largest["fast"].max() < 0.1
    compensated_is_better = largest["slow"][1].max() < 0.2 * largest["slow"][0].max()
    return 0 if fast_is_good and compensated_is_better else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
