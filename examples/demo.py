"""The main job on a built-in robot: show it, compute its dynamics at a state, derive its closed form, check laws.

Run with `make demo` or `python examples/demo.py [ROBOT]`.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from rich.console import Console

import tauform as tf
from tauform.arrays import Array
from tauform.report.tables import finding_list, joint_table, mass_table, table

ALL_PARAMETERS = ("link", "rotor", "viscous", "coulomb", "offset")
LAW_TOLERANCE = 1e-10  # relative to the largest value compared


def main(source: str = "kr6_r700") -> int:
    """Print robot, dynamics and laws; the exit code says whether the laws hold."""
    console = Console(highlight=False)
    robot = tf.load(source)
    console.print(f"1. The robot: {robot}\n", style="bold", markup=False)
    for part in (joint_table(robot), mass_table(robot), finding_list(robot.check())):
        console.print(part)

    console.print("\n2. Its dynamics at a state: tau = M qdd + C qd + g + friction\n", style="bold")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, robot.n_joints))
    console.print(torque_table(robot, q, qd, qdd))
    M = tf.mass_matrix(robot, q)
    console.print(table("Mass matrix", ("", *robot.joint_names), zip(robot.joint_names, *M.T, strict=True)))

    console.print("3. Its closed form: the fewest parameters, and terms in q, sin q, cos q, qd, qdd\n", style="bold")
    laws = law_errors(robot, q, qd, qdd)
    if robot.is_chain:
        model, milliseconds = closed_form(robot)
        console.print(f"{model}\n  derived in {milliseconds:.0f} ms", markup=False)
        states = np.random.default_rng(2).uniform(-np.pi, np.pi, (3, 1000, robot.n_joints))
        torques = model.bind(robot).inverse_dynamics(*states)
        laws["the closed form gives the torque"] = relative(torques, tf.inverse_dynamics(robot, *states))
    else:
        console.print("none: closed forms are for serial chains; base parameters and programs take any robot")

    console.print("\n4. Laws that no correct model breaks\n", style="bold")
    rows = [(law, error, "holds" if error < LAW_TOLERANCE else "BROKEN") for law, error in laws.items()]
    console.print(table("Relative errors", ("law", "error", ""), rows))
    console.print("Next: tauform robots, tauform show ROBOT, and the code in README.md")
    return 0 if all(error < LAW_TOLERANCE for error in laws.values()) else 1


def torque_table(robot: tf.Robot, q: Array, qd: Array, qdd: Array) -> object:
    """The torque of each joint and its parts."""
    parts = {
        "inertial": tf.mass_matrix(robot, q) @ qdd,
        "Coriolis": tf.coriolis_matrix(robot, q, qd) @ qd,
        "gravity": tf.gravity_torque(robot, q),
        "friction": tf.friction(robot, qd),
        "torque": tf.inverse_dynamics(robot, q, qd, qdd),
    }
    rows = zip(robot.joint_names, *parts.values(), strict=True)
    return table("Torques [N m or N]", ("joint", *parts), rows)


def closed_form(robot: tf.Robot) -> tuple[tf.ClosedFormModel, float]:
    """The closed form, friction included where the robot has any, and the milliseconds that it took."""
    include = ALL_PARAMETERS if tf.friction(robot, np.ones(robot.n_joints)).any() else None
    tf.derive(robot)  # the first call also loads what it needs
    start = time.perf_counter()
    model = tf.derive(robot, include=include)
    return model, 1e3 * (time.perf_counter() - start)


def law_errors(robot: tf.Robot, q: Array, qd: Array, qdd: Array) -> dict[str, float]:
    """How far each law is from holding, relative to the quantities in it."""
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    M, C, g = tf.mass_matrix(robot, q), tf.coriolis_matrix(robot, q, qd), tf.gravity_torque(robot, q)
    losses = tf.friction(robot, qd)
    step = 1e-30  # complex step: a derivative without cancellation
    Mdot = np.imag(tf.mass_matrix(robot, q + 1j * step * qd)) / step
    energy = tf.kinetic_energy(robot, q + 1j * step * qd, qd + 1j * step * qdd)
    energy_rate = np.imag(energy + tf.potential_energy(robot, q + 1j * step * qd)) / step
    Y = tf.regressor(robot, q, qd, qdd)
    return {
        "the parts add up to the torque": relative(M @ qdd + C @ qd + g + losses, tau),
        "power in = energy rate + losses": relative(tau @ qd, energy_rate + losses @ qd),
        "Mdot - 2C is skew": relative(Mdot - 2 * C, -(Mdot - 2 * C).T),
        "forward(inverse) is the identity": relative(tf.forward_dynamics(robot, q, qd, tau), qdd),
        "regressor @ parameters = torque": relative(Y @ robot.parameters, tau),
    }


def relative(value: Array, expected: Array) -> float:
    """Largest difference over the largest expected value."""
    return float(np.abs(value - expected).max() / np.abs(expected).max())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
