"""Low-cost servos: what a log of a hobby arm can tell, and what it cannot.

An arm of the SO-100 class, simulated with what its servos do to a log: goals that arrive as steps 50 times a second,
4096 positions per turn, current in units of 6.5 mA, backlash in the gears, friction that grows with the load. It is
identified from what a script reads right after each goal, from readings at any moment, and with ideal sensors and
gears.

Gravity can be known to a few per cent, enough to float the arm. Friction too, where readings do not keep step with the
goals: each goal makes the torque jump, and a log that always sees the jump takes it for friction. Inertia of links
hides behind rotors 345 times geared; more readings do not help. Run with `python examples/15_low_cost_servos.py
[--plot FILE]`.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

import numpy as np

import tauform as tf
from tauform.arrays import Array

# Sizes and masses like those of an SO-100, rounded: pan, lift, elbow, wrist and roll.
ROWS = [
    {"joint": "revolute", "d": 0.12, "a": 0.03, "alpha": "pi/2", "mass": 0.12, "com": [0.0, -0.06, 0.0]},
    {"joint": "revolute", "d": 0.0, "a": 0.116, "alpha": 0.0, "mass": 0.16, "com": [-0.046, 0.0, 0.0]},
    {"joint": "revolute", "d": 0.0, "a": 0.135, "alpha": 0.0, "mass": 0.15, "com": [-0.058, 0.0, 0.0]},
    {"joint": "revolute", "d": 0.0, "a": 0.0, "alpha": "pi/2", "mass": 0.07, "com": [0.035, 0.0, 0.0]},
    {"joint": "revolute", "d": 0.1, "a": 0.0, "alpha": 0.0, "mass": 0.11, "com": [0.005, 0.0, -0.01]},
]
ROUND = [6e-5, 1.5e-4, 1.2e-4, 2.5e-5, 4e-5]  # kg m^2, about each link's centre of mass
STEP = 5e-4  # of the simulation [s]
SECONDS = 30.0
GRAVITY = "torque against gravity, lift and elbow"


@dataclass(frozen=True)
class Servo:
    """One servo for every joint, at the output shaft: torques in N m, angles in rad."""

    rotor: float = 0.012  # kg m^2 behind a gear of 1 : 345
    coulomb: float = 0.10
    viscous: float = 0.03
    load: float = 0.10  # of the torque that the gear carries
    backlash: float = np.radians(0.7)
    count: float = 2 * np.pi / 4096
    unit: float = 6.5e-3 * 1.1  # 6.5 mA at 1.1 N m/A
    stiffness: float = 20.0  # of its position control
    damping: float = 0.5
    strongest: float = 2.9
    goals: float = 50.0  # per second


def described() -> tf.Robot:
    """The arm without its servos, as a drawing describes it."""
    rows = [{**row, "inertia": [i, i, i, 0, 0, 0], "inertia_about": "com"} for row, i in zip(ROWS, ROUND, strict=True)]
    return tf.Robot.from_dh(rows, convention="standard", name="hobby_arm")


def goals(t: Array) -> Array:
    """Positions that a script asks for: slow and wide, since gravity is what such an arm feels most."""
    w = np.outer([0.6, 1.3, 2.1], 1.0 + 0.17 * np.arange(5))
    phase = t[:, None, None] * w
    a = np.array([[0.5], [0.3], [0.15]]) * np.array([1.0, 0.8, 0.9, 1.0, 1.5])
    return (a * np.sin(phase)).sum(axis=1) + np.array([0.0, 0.9, -1.2, 0.3, 0.0])


def simulate(arm: tf.Robot, servos: list[Servo]) -> tuple[Array, Array, Array]:
    """Times, link positions and motor torques of one arm for each servo, (samples, arms, joints)."""
    t = np.arange(0.0, SECONDS, STEP)
    accelerate = tf.compile(arm, "forward_dynamics")
    # Half a step of the simulation, so that rounding does not decide which goal holds.
    goal = np.stack([goals(np.floor((t + STEP / 2) * s.goals) / s.goals) for s in servos], axis=1)
    each = {name: np.array([[getattr(s, name)] for s in servos]) for name in Servo.__annotations__}
    # Teeth and shafts give by a vibration of 40 Hz, behind the backlash.
    spring = np.diagonal(tf.mass_matrix(arm, goal[0, 0])) * (2 * np.pi * 40) ** 2
    q = goal[0]
    qd, motor, rate = np.zeros_like(q), q.copy(), np.zeros_like(q)
    log = []
    for target in goal:
        seen = np.round(q / each["count"]) * each["count"]
        tau = each["stiffness"] * (target - seen) - each["damping"] * rate
        tau = np.clip(tau, -each["strongest"], each["strongest"])
        twist = motor - q
        gap = np.clip(twist, -each["backlash"] / 2, each["backlash"] / 2)
        carried = spring * (twist - gap) + 0.001 * spring * (rate - qd) * (twist != gap)
        friction = (each["coulomb"] + each["load"] * abs(carried)) * np.tanh(rate / 0.02) + each["viscous"] * rate
        log.append((q, tau))
        rate = rate + STEP * (tau - friction - carried) / each["rotor"]
        qd = qd + STEP * accelerate(q, qd, carried)
        motor, q = motor + STEP * rate, q + STEP * qd
    return (t, *(np.array(column) for column in zip(*log, strict=True)))


def recorded(servo: Servo, t: Array, q: Array, tau: Array, rows: Array) -> tf.Recording:
    """What a script reads from the bus: whole counts, whole units of current with a little noise."""
    noise = 2 * np.random.default_rng(1).normal(size=(len(rows), q.shape[1]))
    current = np.round(tau[rows] / servo.unit + noise) * servo.unit
    return tf.Recording(t[rows], np.round(q[rows] / servo.count) * servo.count, current)


def knowledge(arm: tf.Robot, servo: Servo, fit: tf.Fit) -> dict[str, float]:
    """Errors of what was identified in ordinary postures, in per cent of what it is."""
    found, n = fit.identified_robot, arm.n_joints
    q = goals(np.arange(0.0, SECONDS, 0.5))
    gravity, known = tf.gravity_torque(arm, q), tf.gravity_torque(found, q)
    M, seen = tf.mass_matrix(arm, q), tf.mass_matrix(found, q)
    own = np.arange(n)
    rubbing, rubbed = [], []
    for j, speed in enumerate(np.eye(n)):  # one joint moves at 1 rad/s
        rubbing.append(servo.coulomb + servo.viscous + servo.load * abs(gravity[:, j]))
        rubbed.append((tf.inverse_dynamics(found, q, np.tile(speed, (len(q), 1)), 0 * q) - known)[:, j])
    quantities = {
        GRAVITY: (gravity[:, 1:3], known[:, 1:3]),
        "friction at 1 rad/s": (np.array(rubbing), np.array(rubbed)),
        "inertia that a motor feels, its rotor's too": (M[:, own, own] + servo.rotor, seen[:, own, own]),
        "inertia of the links alone": (M[:, own, own], seen[:, own, own] - servo.rotor),
    }
    return {name: 100 * float(_rms(found - true) / _rms(true)) for name, (true, found) in quantities.items()}


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def plot(path: str, t: Array, q: Array, log: tf.Recording, errors: dict[str, dict[str, float]]) -> None:
    """A moment of the elbow, as it moves and as it is read, and what is known."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    part, read = ((times > 10) & (times < 10.5) for times in (t, log.t))
    left.plot(t[part], q[part, 2], color="0.7", label="as it moves")
    left.plot(log.t[read], log.q[read, 2], ".", label="as it is read")
    left.set(xlabel="t [s]", title="elbow [rad]")
    left.legend()
    for k, (case, found) in enumerate(errors.items()):
        right.barh(np.arange(len(found)) + 0.2 * k, list(found.values()), 0.18, label=case)
    right.set(xscale="log", title="error [%]", yticks=np.arange(len(found)) + 0.3, yticklabels=list(found))
    right.legend(fontsize="small")
    figure.savefig(path, metadata={"Date": None})


def readings(hertz: float, jitter: bool) -> Array:
    """Which samples of the simulation are read: in step with the goals, or at any moment of a period."""
    period = round(1 / hertz / STEP)
    rows = np.arange(round(2.0 / STEP), round(SECONDS / STEP) - period, period)  # without the approach
    return rows + (np.random.default_rng(0).integers(0, period, len(rows)) if jitter else 0)


def main(plot_file: str | None = None) -> int:
    """Print what is known; the exit code says whether gravity is, and whether the verdict warns of the rest."""
    arm = described()
    servos = [Servo(), Servo(backlash=1e-9, count=1e-7, unit=1e-6, load=0.0, goals=1 / STEP)]
    t, q, tau = simulate(arm, servos)
    # Servo, readings per second, and whether they come at any moment.
    cases = {
        "in step, 50 Hz": (0, 50.0, False),
        "100 Hz": (0, 100.0, True),
        "200 Hz": (0, 200.0, True),
        "ideal": (1, 100.0, False),
    }
    logs, errors, grades = {}, {}, {}
    for case, (k, hertz, jitter) in cases.items():
        logs[case] = recorded(servos[k], t, q[:, k], tau[:, k], readings(hertz, jitter))
        fit = tf.identify(arm, logs[case])
        errors[case], grades[case] = knowledge(arm, servos[k], fit), fit.verdict.grade
    print("error [%]".ljust(44), *(f"{case:>14}" for case in cases))
    for name in errors["200 Hz"]:
        print(name.ljust(44), *(f"{errors[case][name]:14.1f}" for case in cases))
    print("verdict".ljust(44), *(f"{grades[case]:>14}" for case in cases))
    if plot_file:
        plot(plot_file, t, q[:, 0], logs["200 Hz"], errors)
    gravity = max(found[GRAVITY] for found in errors.values())
    # At 100 readings per second between 1 and 6 %, as the moments of reading are drawn.
    return 0 if gravity < 8 and grades["200 Hz"] != "good" and grades["ideal"] == "good" else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
