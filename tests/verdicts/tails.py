"""Logs in which a few rows leave far more than the others: how often robust values are chosen, and what they are worth.

python -m verdicts.tails    # the table of docs/mathematics/identification.md
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

import numpy as np
from scipy import signal

import tauform as tf
from identification.arms import arm, motion
from identification.verdict.test_alternatives import described
from tauform.arrays import Array

RATE, DURATION, SHARE_OF_NOISE, ENCODER = 200.0, 20.0, 0.02, 1e-6
Disturbance = Callable[[tf.Robot, tf.Recording, np.random.Generator], Array]


def noise(rng: np.random.Generator, tau: Array, correlation: float) -> Array:
    """Noise of a share of each joint's torque, correlated over so many seconds."""
    keep = np.exp(-1 / (RATE * correlation)) if correlation else 0.0
    white = rng.normal(size=tau.shape)
    return SHARE_OF_NOISE * tau.std(axis=0) * signal.lfilter([np.sqrt(1 - keep**2)], [1, -keep], white, axis=0)


def pushes(robot: tf.Robot, log: tf.Recording, rng: np.random.Generator) -> Array:
    """Somebody leans on a joint for a moment, a few times."""
    tau, size = np.zeros_like(log.tau), SHARE_OF_NOISE * log.tau.std(axis=0)
    for _ in range(rng.integers(2, 8)):
        phase = (log.t - rng.uniform(0, DURATION)) / rng.uniform(0.1, 0.6)
        joint = rng.integers(0, robot.n_joints)
        shape = np.where((phase > 0) & (phase < 1), np.sin(np.pi * phase) ** 2, 0.0)
        tau[:, joint] += 15 * size[joint] * rng.normal() * shape
    return tau


def rough_places(robot: tf.Robot, log: tf.Recording, rng: np.random.Generator) -> Array:
    """Friction is higher over a tenth of a radian."""
    assert log.qd is not None
    tau = np.zeros_like(log.tau)
    for j, joint in enumerate(robot.joints):
        if rng.uniform() < 0.6:
            near = np.exp(-(((log.q[:, j] - rng.choice(log.q[:, j])) / 0.08) ** 2))
            tau[:, j] = near * np.sign(log.qd[:, j]) * rng.uniform(0.2, 0.8) * joint.coulomb
    return tau


def presliding(robot: tf.Robot, log: tf.Recording, rng: np.random.Generator) -> Array:
    """Friction that builds up over 30 milliradians after each turn (Dahl), rather than at once."""
    assert log.qd is not None
    limits, slips = np.array([joint.coulomb for joint in robot.joints]), np.diff(log.q, axis=0)
    held = np.zeros_like(log.q)
    for k, slip in enumerate(slips):
        held[k + 1] = np.sign(slip) + (held[k] - np.sign(slip)) * np.exp(-np.abs(slip) / 0.03)
    return np.asarray(limits * (held - np.sign(log.qd)))


def glitches(robot: tf.Robot, log: tf.Recording, rng: np.random.Generator) -> Array:
    """Three samples in a thousand are wrong."""
    wrong = rng.uniform(size=log.tau.shape) < 0.003
    return np.asarray(2 * log.tau.std(axis=0) * rng.normal(size=log.tau.shape) * wrong)


def nothing(robot: tf.Robot, log: tf.Recording, rng: np.random.Generator) -> Array:
    """Noise alone."""
    return np.zeros_like(log.tau)


# Correlation of the noise [s], and what comes beside it.
KINDS: Mapping[str, tuple[float, Disturbance]] = {
    "white noise": (0.0, nothing),
    "noise correlated over 0.3 s": (0.3, nothing),
    "pushes": (0.05, pushes),
    "rough places": (0.05, rough_places),
    "presliding": (0.05, presliding),
    "glitches": (0.05, glitches),
}


def recorded(robot: tf.Robot, kind: str, seed: int) -> tf.Recording:
    """A log of a random motion."""
    rng, (correlation, disturbance) = np.random.default_rng(seed + 1000), KINDS[kind]
    path = motion(robot, seed, duration=DURATION, rate=RATE)
    tau = tf.inverse_dynamics(robot, path.q, path.qd, path.qdd)
    clean = tf.Recording(path.t, path.q, tau, path.qd)
    tau = tau + noise(rng, tau, correlation) + disturbance(robot, clean, rng)
    return tf.Recording(path.t, path.q + ENCODER * rng.normal(size=path.q.shape), tau)


def error(fit: tf.Fit, robot: tf.Robot, seed: int) -> float:
    """On another motion, without any disturbance."""
    path = motion(robot, 777 + seed, duration=DURATION, rate=100.0)
    true = tf.inverse_dynamics(robot, path.q, path.qd, path.qdd)
    return float(np.linalg.norm(fit.predict(path.q, path.qd, path.qdd) - true) / np.linalg.norm(true))


def show(count: int) -> None:
    """Print rows of Markdown: how often robust values are chosen, and their error in shares of the free values'."""
    for kind in KINDS:
        ratios = []
        for robot in (arm(), described()):
            for seed in range(count):
                log = recorded(robot, kind, seed)
                fit, free = (tf.identify(robot, log, method=method) for method in ("auto", "weighted"))
                if fit.method != free.method:
                    ratios.append(error(fit, robot, seed) / error(free, robot, seed))
        told = f"{np.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})" if ratios else ""
        print(f"| {kind} | {len(ratios)} of {2 * count} | {told} |", flush=True)


if __name__ == "__main__":
    show(int(sys.argv[1]) if len(sys.argv) > 1 else 12)
