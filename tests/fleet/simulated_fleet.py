"""Fleets of simulated two-link arms: units with spread, some with faults, logs as CSV or Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf
from tools.simulated_logs import simulated_log

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
    log = simulated_log(robot, 1000 + seed, seconds, RATE, frequency=0.12, noise=NOISE)
    return np.column_stack([log.t + start, log.q, gain * log.tau])


def write(path: Path, table: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="", fmt="%.9g")
    return path
