"""Robots that move from point to point and stand in between: the model is wrong there, and no unit for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from fleet.simulated_fleet import NOISE, RATE, arm, write

SECONDS, REST, ENCODER = 30.0, 0.4, 2e-5
JOINT = 1


def moves(robot: tf.Robot, rng: np.random.Generator) -> Any:
    """(N, 5) table of t, q, tau: quintic moves between random points, with friction that vanishes at rest."""
    t = np.arange(0.0, SECONDS, 1 / RATE)
    q, qd, qdd = np.zeros((3, len(t), 2))
    at, here = 0.0, rng.uniform(-1, 1, 2)
    while at < SECONDS:
        way = rng.uniform(-1, 1, 2) - here
        duration = max(0.4, float(np.abs(way).max()) / rng.uniform(0.4, 1.2))
        s = np.clip((t - at) / duration, 0.0, 1.0)[:, None]
        on = t >= at
        q[on] = (here + way * (10 * s**3 - 15 * s**4 + 6 * s**5))[on]
        qd[on] = (way / duration * (30 * s**2 - 60 * s**3 + 30 * s**4))[on]
        qdd[on] = (way / duration**2 * (60 * s - 180 * s**2 + 120 * s**3))[on]
        at, here = at + duration + REST, here + way
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    tau += NOISE * tau.std(axis=0) * rng.normal(size=tau.shape)
    return np.column_stack([t, q + ENCODER * rng.normal(size=q.shape), tau])


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> tf.FleetFit:
    root: Path = tmp_path_factory.mktemp("moves")
    for unit, name in enumerate((*(f"A{k}" for k in range(10)), "drift", "friction")):
        for day in range(4):
            more = {"drift": 1.0 + 0.15 * day, "friction": 1.4}.get(name, 1.0)
            robot = arm(unit, friction=(1.0, more))
            write(root / name / f"2026-03-0{1 + day}.csv", moves(robot, np.random.default_rng([unit, day])))
    return tf.identify_fleet(tf.load("two_link"), root, workers=0)


def test_healthy_units_raise_no_alarm(fleet: tf.FleetFit) -> None:
    assert {unit.unit: unit.why for unit in fleet.deviating if unit.unit.startswith("A")} == {}
    assert [change for change in fleet.changes if change.unit.startswith("A")] == []


def test_friction_that_rises_is_named_as_such(fleet: tf.FleetFit) -> None:
    for name, course in {"drift": "drift", "friction": "constant"}.items():
        cause = fleet.unit(name).cause
        assert cause is not None
        assert (cause.name, cause.joints, cause.course) == ("friction", (JOINT,), course)
        assert cause.size == pytest.approx(0.45 if course == "drift" else 0.4, rel=0.3)
