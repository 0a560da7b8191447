"""Logs of a simulated robot that moves along sums of five sines, with noise on its torques."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tauform as tf

PIECE = 100_000  # samples


def simulated_log(
    robot: tf.Robot,
    seed: int,
    seconds: float = 10.0,
    rate: float = 100.0,
    frequency: float = 0.15,
    size: float = 0.7,
    noise: float = 0.01,
) -> tf.Recording:
    """A recording of a robot.

    Args:
        rate: samples per second.
        frequency: of the slowest sine [Hz]; the others are its multiples.
        size: of that sine's amplitudes [rad or m]; those of its multiples fall with their number.
        noise: of the torques, relative to their own deviation.
    """
    rng, order = np.random.default_rng(seed), np.arange(1, 6)
    t, w = np.arange(0.0, seconds, 1 / rate), 2 * np.pi * frequency * order
    a, b = rng.normal(size=(2, len(w), robot.n_joints)) * (size / order)[:, None]
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd, qdd = sine @ a + cosine @ b, (cosine * w) @ a - (sine * w) @ b, -(sine * w**2) @ a - (cosine * w**2) @ b
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    tau += noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return tf.Recording(t, q, tau, name=f"log {seed}")


def write_csv(recording: tf.Recording, path: Path) -> Path:
    """The recording with columns t, q1, q2, ..., tau1, tau2, ..."""
    names = [f"{letter}{j + 1}" for letter in ("q", "tau") for j in range(recording.n_joints)]
    table = np.column_stack([recording.t, recording.q, recording.tau])
    np.savetxt(path, table, delimiter=",", header=",".join(["t", *names]), comments="")
    return path


def write_long_log(robot: tf.Robot, path: Path, n_samples: int, rate: float) -> Path:
    """Six sines per joint with noise on positions and torques, as an archive (.npz) that is written in pieces."""
    rng = np.random.default_rng(0)
    n, kernel = robot.n_joints, tf.compile(robot, "inverse_dynamics")
    amplitude, phase = rng.uniform(0.1, 0.4, (6, n)), rng.uniform(0, 6, (6, n))
    w = 2 * np.pi * rng.uniform(0.05, 0.5, (6, n))
    t = np.arange(n_samples) / rate
    q, tau = np.empty((2, n_samples, n))
    for first in range(0, n_samples, PIECE):
        part = slice(first, first + PIECE)
        angle = w * t[part, None, None] + phase
        sine, cosine = np.sin(angle), np.cos(angle)
        states = (amplitude * sine).sum(1), (amplitude * w * cosine).sum(1), -(amplitude * w**2 * sine).sum(1)
        q[part] = states[0] + 1e-5 * rng.normal(size=states[0].shape)
        tau[part] = kernel(*states) + rng.normal(size=states[0].shape)
    np.savez(path, t=t, q=q, tau=tau)
    return path
