"""The main job on a built-in robot: show it, compute its dynamics, derive its closed form, check laws; then record it
in a simulator, identify it from that, and deliver C and a report.

Run with `make demo` or `python examples/demo.py [ROBOT]`; it writes build/demo.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from rich.console import Console

import tauform as tf
from tauform.arrays import Array
from tauform.report.delivery import Delivery
from tauform.report.tables import finding_list, joint_table, mass_table, table

ALL_PARAMETERS = ("link", "rotor", "viscous", "coulomb", "offset")
LAW_TOLERANCE = 1e-10  # relative to the largest value compared
DURATION, STEP, KEPT = 12.0, 1e-3, 5  # of the simulation [s], and every which step is recorded
STIFFNESS = 30.0  # of the simulated joint controllers [rad/s]


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

    console.print(
        "5. The main job, on recordings of a simulated robot that is heavier and has friction\n", style="bold"
    )
    delivered = deliver(robot, Path("build/demo"), console)
    passed = self_test(delivered.folder / "c", console)
    console.print(f"\nLook at {delivered.report} in a browser.")
    console.print(
        "The same from the shell: tauform model ROBOT [LOG...] -o OUT; then tauform robots, tauform show ROBOT."
    )
    return 0 if passed and all(error < LAW_TOLERANCE for error in laws.values()) else 1


def self_test(folder: Path, console: Console) -> bool:
    """Compile the C and let it test itself, where there is a compiler; False if it fails."""
    if not (shutil.which("make") and shutil.which("cc")):
        console.print(f"\nNo C compiler here; where there is one: make -C {folder} check")
        return True
    console.print(f"\n6. Its C, compiled and tested: make -C {folder} check\n", style="bold")
    done = subprocess.run(["make", "--no-print-directory", "-C", str(folder), "check"], capture_output=True, text=True)
    console.print((done.stdout + done.stderr).rstrip(), markup=False)
    return done.returncode == 0


def deliver(robot: tf.Robot, folder: Path, console: Console) -> Delivery:
    """Record the robot, identify it from one recording, predict another, and write what follows."""
    recordings = [record(real_robot(robot), robot, seed) for seed in (1, 2)]
    # Two functions, and the cheap ways to a smaller program, so that the demo stays short.
    model = tf.model_robot(
        robot,
        recordings[:1],
        validate=recordings[1:],
        functions=("inverse_dynamics", "gravity_torque"),
        confidence=0.95,
        routes=("parameters", "velocity"),
    )
    delivered = model.write(folder)
    rows = [(stage.name, stage.outcome, stage.verdict) for stage in delivered.stages]
    console.print(table("What was done and verified", ("stage", "result", "error"), rows, text_columns=3))
    return delivered


def real_robot(robot: tf.Robot) -> tf.Robot:
    """The robot as it was built: 15 % heavier than its description, and with friction."""
    values, layout = np.array(robot.parameters), robot.layout
    values[layout.links] *= 1.15
    inertia = np.diag(tf.mass_matrix(robot, np.zeros(robot.n_joints)))
    driven = [i for i, joint in enumerate(robot.joints) if joint.name in robot.joint_names]
    for i, size in zip(driven, inertia, strict=True):
        values[[layout.viscous(i), layout.coulomb(i)]] = size
    return robot.with_parameters(values)


def record(real: tf.Robot, described: tf.Robot, seed: int) -> tf.Recording:
    """Joint controllers follow a sum of sines; positions and torques are recorded with noise."""
    rng, n = np.random.default_rng(seed), real.n_joints
    t = np.arange(0.0, DURATION, STEP)
    w = 2 * np.pi * 0.1 * np.arange(1, 9)
    a, b = rng.normal(size=(2, len(w), n)) * (0.5 / np.arange(1, 9))[:, None]
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    target, speed = sine @ a + cosine @ b, (cosine * w) @ a - (sine * w) @ b
    drive = tf.inverse_dynamics(described, target, speed, -(sine * w**2) @ a - (cosine * w**2) @ b)
    gain = np.diag(tf.mass_matrix(described, np.zeros(n)))
    accelerations = tf.compile(real, "forward_dynamics")
    q, qd, positions, torques = target[0], speed[0], [], []
    for k in range(len(t)):
        tau = drive[k] + gain * (STIFFNESS**2 * (target[k] - q) + 2 * STIFFNESS * (speed[k] - qd))
        positions.append(q)
        torques.append(tau)
        qd = qd + STEP * accelerations(q, qd, tau)
        q = q + STEP * qd
    measured = np.array(torques)
    measured += 0.01 * measured.std(axis=0) * rng.normal(size=measured.shape)
    encoders = np.round(np.array(positions), 5)
    return tf.Recording(t[::KEPT], encoders[::KEPT], measured[::KEPT], name=f"simulation {seed}")


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
