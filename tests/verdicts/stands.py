"""Seeded test stands: a robot as described, the robot as it truly is, how it moves and what its sensors do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.identification.motion.trajectory import Basis, Trajectory
from tools.real_robots import urdf

# Real arms, and how many of their joints move the arm; more may be locked, so that chains of three and more come up.
ARMS = {"panda": 7, "ur5_robot": 6, "ur10_robot": 6, "iiwa14": 7, "kinova": 6, "xarm7": 7, "z1": 6}
RATES = (100.0, 200.0, 500.0)
# Share by which true links differ from described ones: real arms are within 0.85 to 1.1 of their URDF.
LINKS_OFF = 0.1


@dataclass(frozen=True, eq=False)
class Stand:
    """One robot in one laboratory.

    Attributes:
        described: what the user loads: links that are about right, no friction.
        true: what moves.
        rate: of the logger [Hz].
        kind: of its motions: "fourier", or "trapezoid" from point to point.
        duration: of each recording [s].
        position_noise: of the encoders [rad or m].
        torque_noise: (n,) white noise of the torques, and as much again that changes slowly [N m or N].
        measures_velocity: whether the log holds velocities.
        reach: (n,) share of the usual range that each joint moves in.
        middle: (n,) position that it moves about.
    """

    described: tf.Robot
    true: tf.Robot
    rate: float
    kind: str
    duration: float
    position_noise: float
    torque_noise: Array
    measures_velocity: bool
    seed: int
    reach: Array | float = 1.0
    middle: Array | float = 0.0

    def motion(self, which: int) -> Trajectory:
        """The stand's motion of that number: 0 is fitted, 1 validated, 2 seen by nobody."""
        rng = np.random.default_rng([self.seed, 1, which])
        path = fourier(self.true.n_joints, self.duration, self.rate, rng)
        if self.kind == "trapezoid":
            path = trapezoids(self.true.n_joints, self.duration, self.rate, rng)
        return Trajectory(*path, self.true.joint_names)

    def states(self, which: int) -> dict[str, Array]:
        """Time and exact states along a motion."""
        path = self.motion(which)
        q, qd, qdd = (self.reach * x for x in (path.q, path.qd, path.qdd))
        return {"t": path.t, "q": self.middle + q, "qd": qd, "qdd": qdd}

    def measured(self, states: dict[str, Array], tau: Array, which: int) -> dict[str, Any]:
        """Fields of a recording: what sensors make of states and torques."""
        rng = np.random.default_rng([self.seed, 2, which])
        q = states["q"] + self.position_noise * rng.normal(size=tau.shape)
        slow = slowly_changing(rng.normal(size=tau.shape), 0.05 * self.rate)
        noisy = tau + self.torque_noise * (rng.normal(size=tau.shape) + slow)
        fields = {"t": states["t"], "q": q, "tau": noisy}
        if self.measures_velocity:
            fields["qd"] = states["qd"] + 20 * self.position_noise * rng.normal(size=q.shape)
        return fields


def stand(seed: int) -> Stand:
    """The stand of a seed: an arm of the catalogue or a random chain of three to seven joints."""
    rng = np.random.default_rng([seed, 0])
    return _built(_described(rng), rng, seed)


def gantry(seed: int) -> Stand:
    """One or two slides, long or short, that carry some turning joints."""
    rng = np.random.default_rng([seed, 0])
    kinds = "P" * int(rng.integers(1, 3)) + "R" * int(rng.integers(0, 4))
    described = replace(tf.random_robot(kinds, int(rng.integers(1 << 30)), industrial=True), name="gantry")
    reach = np.where([kind == "P" for kind in kinds], 10 ** rng.uniform(-1.5, 0.0), 1.0)
    return replace(_built(described.without_drives(), rng, seed), reach=reach)


def _built(described: tf.Robot, rng: np.random.Generator, seed: int) -> Stand:
    true = _true(described, rng)
    kind = str(rng.choice(["fourier", "fourier", "trapezoid"]))
    rate, duration = float(rng.choice(RATES)), float(rng.uniform(20.0, 30.0))
    plain = Stand(described, true, rate, kind, duration, 0.0, np.zeros(true.n_joints), bool(rng.integers(2)), seed)
    path = plain.motion(0)
    size = tf.inverse_dynamics(true, path.q, path.qd, path.qdd).std(axis=0)
    noise = rng.uniform(0.01, 0.03) * size
    return replace(plain, position_noise=float(rng.choice([1e-5, 5e-5])), torque_noise=noise)


def _described(rng: np.random.Generator) -> tf.Robot:
    n = int(rng.integers(3, 8))
    if rng.random() < 0.5:
        seed = int(rng.integers(1 << 30))
        robot = tf.random_robot("R" * n, seed, industrial=True)
        # An arm whose joints all turn about the vertical holds nothing; a shoulder follows the waist.
        return replace(robot, name=f"chain{n}").without_drives() if _is_arm(robot) else _described(rng)
    name = str(rng.choice(list(ARMS)))
    robot = tf.load(urdf(name)).without_drives()
    spare = robot.joint_names[min(n, ARMS[name]) :]
    return robot.locked(dict.fromkeys(spare, 0.0)) if spare else robot


def _is_arm(robot: tf.Robot) -> bool:
    """Whether at least two joints hold weight, as on every arm."""
    q = np.random.default_rng(0).uniform(-2, 2, (50, robot.n_joints))
    held = tf.gravity_torque(robot, q).std(axis=0)
    return bool((held > 0.1 * held.max()).sum() >= 2)


def _true(described: tf.Robot, rng: np.random.Generator) -> tf.Robot:
    """Links that are a little off, rotors, and friction in proportion to what each joint carries."""
    parameters = np.array(described.parameters)
    for i in range(described.n_bodies):
        parameters[described.layout.link(i)] *= rng.uniform(1 - LINKS_OFF, 1 + LINKS_OFF)
    robot = described.with_parameters(parameters)
    q, qd, qdd = rng.normal(size=(3, 200, robot.n_joints))
    carried = tf.inverse_dynamics(robot, q, qd, qdd).std(axis=0)
    # What rotors and friction make of a torque in real arms.
    shares = rng.uniform([0.02, 0.05, 0.1, -0.03], [0.1, 0.15, 0.3, 0.03], (robot.n_joints, 4))
    drives = shares * np.maximum(carried, 0.1 * carried.max())[:, None]
    width = float(rng.choice([0.0, 0.01, 0.03]))
    joints = tuple(
        replace(joint, rotor_inertia=own[0], viscous=own[1], coulomb=own[2], offset=own[3], coulomb_width=width)
        for joint, own in zip(robot.joints, drives.tolist(), strict=True)
    )
    return replace(robot, joints=joints)


def fourier(n: int, duration: float, rate: float, rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Periodic motions of 0.1 Hz and its multiples, of about 1.5 rad and at most 3 rad/s."""
    basis = Basis.fourier(duration, max(5, round(0.6 * duration)), rate)
    a = rng.normal(size=(n, basis.n)) / (1 + np.arange(basis.n) // 2)
    limits = np.maximum(np.abs(a @ basis.values).max(axis=1) / 1.5, np.abs(a @ basis.rates).max(axis=1) / 3.0)
    a /= limits[:, None]
    q, qd, qdd = ((a @ x).T for x in (basis.values, basis.rates, basis.accelerations))
    return basis.t, q, qd, qdd


def trapezoids(
    n: int,
    duration: float,
    rate: float,
    rng: np.random.Generator,
    lengths: tuple[float, float] = (0.7, 1.5),
    ramps: tuple[float, float] = (0.2, 0.4),
    pause: float = 0.05,
) -> tuple[Array, Array, Array, Array]:
    """Moves from point to point, all joints at once, with a constant acceleration at both ends and pauses between."""
    t = np.arange(round(duration * rate)) / rate
    q, qd, qdd = np.zeros((3, len(t), n))
    here, start = rng.uniform(-1.5, 1.5, n), 0.0
    while start < duration:
        there, length, ramp = rng.uniform(-1.5, 1.5, n), rng.uniform(*lengths), rng.uniform(*ramps)
        s = t - start
        inside = (s >= 0) & (s < length + pause)
        peak = (there - here) / (length - ramp)
        s = np.clip(s[inside], 0, length)
        down = np.maximum(s - (length - ramp), 0.0)
        up = np.minimum(s, ramp)
        q[inside] = here + peak * (up**2 / (2 * ramp) + np.maximum(s - ramp, 0.0) - down**2 / (2 * ramp))[:, None]
        qd[inside] = peak * ((up - down) / ramp)[:, None]
        speeding = (s > 0) & (s < ramp)
        braking = (s >= length - ramp) & (s < length)
        qdd[inside] = peak * ((speeding.astype(float) - braking) / ramp)[:, None]
        here, start = there, start + length + pause
    return t, q, qd, qdd


def slowly_changing(white: Array, samples: float) -> Array:
    """Noise with that correlation time and a deviation of one."""
    from scipy import signal

    a = np.exp(-1.0 / samples)
    return np.asarray(signal.lfilter([np.sqrt(1 - a * a)], [1.0, -a], white, axis=0))
