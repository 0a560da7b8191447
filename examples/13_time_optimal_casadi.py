"""Time-optimal motion of a KUKA KR6 with CasADi and IPOPT, torques within limits, the flange clear of a sphere.

The unknowns are positions, velocities and accelerations at knots and the duration; torques are those of the generated
inverse dynamics, `tf.to_casadi`, so that IPOPT's derivatives come from a graph of 449 operations. Run with
`python examples/13_time_optimal_casadi.py [--plot FILE]`; it needs `pip install tauform[casadi]`.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import casadi
import numpy as np

import tauform as tf
from tauform.arrays import Array

START = np.array([-0.7, -0.3, -0.5, 0.0, 0.6, 0.0])
GOAL = np.array([0.7, -0.3, -0.5, 0.0, 0.6, 0.0])
TORQUE_LIMIT = np.array([90.0, 90.0, 60.0, 12.0, 12.0, 8.0])  # [N m]
SPEED_LIMIT = np.full(6, 5.0)  # [rad/s]
RADIUS = 0.12  # of the sphere, which stands where the flange would pass without it [m]


def optimum(robot: tf.Robot, knots: int, centre: Array | None) -> tuple[float, Array, Array]:
    """Duration, positions (knots, 6) and torques (knots, 6) of the quickest motion from rest to rest."""
    inverse_dynamics = tf.to_casadi(tf.generate(robot, "inverse_dynamics"))
    placements = tf.to_casadi(tf.generate(robot, "forward_kinematics"))
    problem = casadi.Opti()
    T = problem.variable()
    q, qd, qdd = (problem.variable(6, knots) for _ in range(3))
    h = T / (knots - 1)
    # Acceleration linear between knots: exact integrals of it.
    before, after = slice(0, knots - 1), slice(1, knots)
    problem.subject_to(qd[:, after] == qd[:, before] + h / 2 * (qdd[:, before] + qdd[:, after]))
    problem.subject_to(
        q[:, after] == q[:, before] + h * qd[:, before] + h**2 / 6 * (2 * qdd[:, before] + qdd[:, after])
    )
    tau = inverse_dynamics.map(knots)(q, qd, qdd)
    for values, limit in ((tau, TORQUE_LIMIT), (qd, SPEED_LIMIT)):
        everywhere = casadi.repmat(limit, 1, knots)
        problem.subject_to(problem.bounded(-everywhere, values, everywhere))
    for rest, posture in ((0, START), (knots - 1, GOAL)):
        problem.subject_to(q[:, rest] == posture)
        problem.subject_to(qd[:, rest] == 0)
    if centre is not None:
        for k in range(1, knots - 1):
            flange = placements(q[:, k])[:3, 3]
            problem.subject_to(casadi.sumsqr(flange - centre) >= RADIUS**2)
    problem.subject_to(problem.bounded(0.1, T, 5.0))
    problem.minimize(T)
    problem.set_initial(T, 1.0)
    # A guess on one side of the sphere: the elbow drawn in half way.
    detour = 0.0 if centre is None else 0.5 * np.sin(np.pi * np.linspace(0, 1, knots))
    problem.set_initial(q, np.linspace(START, GOAL, knots).T + np.outer([0, 0, 1, 0, 0, 0], detour))
    problem.set_initial(qd, np.repeat((GOAL - START)[:, None], knots, axis=1))
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "max_iter": 300, "tol": 1e-6})
    found: Any = problem.solve()
    return float(found.value(T)), found.value(q).T, found.value(tau).T


def flange_positions(robot: tf.Robot, q: Array) -> Array:
    """(..., 3) where the flange is [m]."""
    return tf.forward_kinematics(robot, q)[..., :3, 3]


def plot(path: str, robot: tf.Robot, centre: Array, motions: dict[str, tuple[float, Array, Array]]) -> None:
    """Paths of the flange from above, and the torques as shares of their limits."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    path_axes, *torque_axes = figure.subplots(1, 3)
    angle = np.linspace(0, 2 * np.pi, 60)
    path_axes.fill(centre[0] + RADIUS * np.cos(angle), centre[1] + RADIUS * np.sin(angle), color="0.85")
    for axes, (name, (T, q, tau)) in zip(torque_axes, motions.items(), strict=True):
        flange = flange_positions(robot, q)
        path_axes.plot(flange[:, 0], flange[:, 1], ".-", label=name)
        axes.plot(np.linspace(0, T, len(tau)), tau / TORQUE_LIMIT)
        axes.set(xlabel="t [s]", title=f"torque / limit, {name}", ylim=(-1.1, 1.1))
    path_axes.set(xlabel="x [m]", ylabel="y [m]", title="flange from above", aspect="equal")
    path_axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main(knots: int = 21, plot_file: str | None = None) -> int:
    """Print both durations; the exit code says whether limits and sphere are kept by our own functions' account."""
    robot = tf.load("kr6_r700")
    free = optimum(robot, knots, None)
    centre = flange_positions(robot, free[1][knots // 2])
    around = optimum(robot, knots, centre)
    worst = 0.0
    for name, (T, q, tau) in {"free": free, "around the sphere": around}.items():
        clearance = np.linalg.norm(flange_positions(robot, q[1:-1]) - centre, axis=-1).min()
        share = (np.abs(tau) / TORQUE_LIMIT).max()
        worst = max(worst, share)
        near = f"{1000 * clearance:.0f} mm from the centre"
        print(f"{name}: {T:.3f} s, torques up to {100 * share:.1f} % of their limits, {near}")
    clear = np.linalg.norm(flange_positions(robot, around[1][1:-1]) - centre, axis=-1).min()
    if plot_file:
        plot(plot_file, robot, centre, {"free": free, "around": around})
    return 0 if worst < 1 + 1e-6 and clear > RADIUS - 1e-6 and around[0] >= free[0] - 1e-6 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(plot_file=parser.parse_args().plot))
