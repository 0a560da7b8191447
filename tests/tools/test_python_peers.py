"""Robots in the forms that other tools read: the same torques."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tools.python_peers.dh_table import dh_table
from tools.python_peers.peer import FUNCTIONS, N_VECTORS, looped, peers_of
from tools.python_peers.urdf_text import urdf_text

ROBOTS = {
    "any axes": tf.random_robot("RRRRR", seed=1, drives=False),
    "right angles": tf.random_robot("RRRRRR", seed=2, drives=False, industrial=True),
    "parallel axes": tf.planar_chain(4),
}


def agree(ours: tf.Robot, theirs: tf.Robot) -> None:
    states = np.random.default_rng(0).normal(size=(3, 20, ours.n_joints))
    expected = tf.inverse_dynamics(ours, *states)
    error = np.abs(tf.inverse_dynamics(theirs, *states) - expected).max()
    assert error < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=list(ROBOTS))
def test_dh_table_is_the_same_chain(robot: tf.Robot) -> None:
    table = dh_table(robot)
    rows = [
        {
            "joint": "revolute",
            "alpha": row.alpha,
            "a": row.a,
            "theta": row.theta,
            "d": row.d,
            "mass": row.inertia.mass,
            "com": row.inertia.com.tolist(),
            "inertia": row.inertia.tensor_about_com.tolist(),
            "inertia_about": "com",
        }
        for row in table.rows
    ]
    agree(robot, tf.Robot.from_dh(rows, "modified", gravity=table.gravity))


def test_urdf_is_the_same_tree(tmp_path: Path) -> None:
    robot = tf.random_robot("RPRRPR", seed=4, branching=0.4, drives=False)
    path = tmp_path / "robot.urdf"
    path.write_text(urdf_text(robot), encoding="utf-8")
    agree(robot, tf.load(path))


def test_loops_give_a_batch() -> None:
    q = np.arange(12.0).reshape(4, 3)
    np.testing.assert_array_equal(looped(lambda vector: 2 * vector)(q)(), 2 * q)


def test_a_tool_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.python_peers.peer.MODULES", ("mujoco", "nonexistent"))
    peers, missing = peers_of(ROBOTS["right angles"])
    assert list(missing) == ["nonexistent"]
    states = np.random.default_rng(0).normal(size=(3, 5, 6))
    for peer in peers:
        for function in FUNCTIONS:
            expected = getattr(tf, function)(ROBOTS["right angles"], *states[: N_VECTORS[function]])
            found = peer.batch[function](*states[: N_VECTORS[function]])()
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
