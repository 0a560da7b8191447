"""Tolerances of single joints, and what the norm of the vector hides."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from tauform.errors import TauformError

OPTIONS = {"confidence": 0.99, "n_fresh": 20_000}


def own_errors(robot: tf.Robot, found: tf.Reduction, seed: int) -> np.ndarray:
    """(n,) errors on states of our own, relative to each joint's rms torque."""
    states = found.profile.sample(20_000, np.random.default_rng(seed))
    exact = tf.inverse_dynamics(robot, *states)
    missed = np.abs(found.program(*states) - exact) / np.sqrt((exact**2).mean(axis=0))
    return np.quantile(missed, 0.99, axis=0)


@pytest.mark.parametrize("routes", [["parameters", "velocity"], ["terms"], ["operations"]])
def test_each_joint_keeps_its_own_tolerance(routes: list[str]) -> None:
    robot, tolerances = tf.load("sr6ia"), [0.02, 0.05, 0.01, 0.1]
    found = tf.reduce(robot, "fast", tolerances, routes=routes, **OPTIONS)
    assert found.joint_tolerances == tuple(tolerances)
    assert found.program.n_operations <= found.exact.n_operations
    assert (own_errors(robot, found, seed=5) <= np.array(tolerances)).all()
    np.testing.assert_allclose(found.joint_errors, own_errors(robot, found, seed=6), rtol=0.2, atol=1e-12)


def test_the_vectors_norm_hides_small_joints_and_says_so() -> None:
    robot = tf.load("sr6ia")
    whole = tf.reduce(robot, "fast", 0.05, routes=["operations"], **OPTIONS)
    each = tf.reduce(robot, "fast", 0.05, norm="joint", routes=["operations"], **OPTIONS)
    assert whole.joint_tolerances is None
    assert max(each.joint_errors) <= 0.05 < max(whole.joint_errors)
    assert "Error of each joint" in str(whole)
    # A slide among joints that turn: forces and moments in one number.
    assert "N and N m together, norm='joint' keeps them apart" in whole.by_joint
    assert "N m together" not in each.by_joint


def test_bad_tolerances_are_one_sentence() -> None:
    robot = tf.load("two_link")
    for given, message in (
        ({"tolerance": [0.1, 0.1, 0.1]}, "expected one number or 2"),
        ({"tolerance": [0.1, 1.5]}, "between 0 and 1"),
        ({"norm": "joints"}, "norm: no 'joints'"),
        ({"norm": "joint", "function": "mass_matrix"}, "not of mass_matrix"),
    ):
        with pytest.raises(TauformError, match=message):
            tf.reduce(robot, "slow", **given)
