"""Fleets of simulated two-link arms: units with spread, some with faults, logs as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf

RATE = 50.0
# What one unit's arm differs by from another's, relative.
SPREAD = 0.02
NOISE = 0.01


def arm(seed: int, **faults: Any) -> tf.Robot:
    """A unit: links and friction with a spread; `friction` scales it, `payload` [kg] is left at the tool."""
    robot, rng = tf.load("two_link"), np.random.default_rng(seed)
    values = np.array(robot.parameters) * (1 + SPREAD * rng.normal(size=robot.layout.n))
    friction = np.array([[2.0, 1.0], [3.0, 1.5]]) * (1 + SPREAD * rng.normal(size=(2, 2)))
    robot.layout.by_joint(values)[:, 1:3] = friction * np.reshape(faults.get("friction", 1.0), (-1, 1))
    unit = robot.with_parameters(values)
    return unit.with_payload(tf.Inertia.of(faults["payload"])) if "payload" in faults else unit


def samples(robot: tf.Robot, seed: int, seconds: float = 20.0, gain: float = 1.0, start: float = 0.0) -> Any:
    """(N, 5) table of t, q, tau."""
    rng = np.random.default_rng(1000 + seed)
    t, w = np.arange(0.0, seconds, 1 / RATE), 2 * np.pi * 0.12 * np.arange(1, 6)
    a, b = rng.normal(size=(2, len(w), 2)) * (0.7 / np.arange(1, 6))[:, None]
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd = sine @ a + cosine @ b, (cosine * w) @ a - (sine * w) @ b
    tau = tf.inverse_dynamics(robot, q, qd, -(sine * w**2) @ a - (cosine * w**2) @ b)
    tau = gain * (tau + NOISE * tau.std(axis=0) * rng.normal(size=tau.shape))
    return np.column_stack([t + start, q, tau])


def write(path: Path, table: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="", fmt="%.9g")
    return path
