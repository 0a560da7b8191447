"""theta of a program with run-time parameters: the call that its errors recommend has its length and its meaning."""

from __future__ import annotations

import os

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.errors import GenerationError, ShapeError

# THETA_SCALE=20 is a campaign.
N_ROBOTS = 20 * int(os.environ.get("THETA_SCALE", "1"))


def some_robot(seed: int) -> tf.Robot:
    """One to three joints, mostly slides, whose weights and friction offsets act alike."""
    rng = np.random.default_rng(seed)
    kinds = "".join(rng.choice(list("RPP"), int(rng.integers(1, 4))))
    branching = float(rng.choice([0.0, 0.5]))
    return tf.random_robot(kinds, seed, branching=branching, industrial=bool(seed % 2), drives=bool(rng.random() < 0.7))


@pytest.mark.parametrize("seed", representatives(range(N_ROBOTS), *range(6)))
def test_the_recommended_theta_fits_and_is_the_robot(seed: int) -> None:
    robot = some_robot(seed)
    kernel = tf.compile(robot, "inverse_dynamics", parameters="runtime")
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, 5, robot.n_joints))
    with pytest.raises(ShapeError, match=r"theta: expected shape .*; give kernel\.program\.theta_of\(robot\)"):
        kernel(q, qd, qdd, np.zeros(99))
    other = robot.with_parameters(robot.parameters * np.random.default_rng(seed).uniform(0.5, 2, robot.layout.n))
    for given in (robot, other):
        theta = kernel.program.theta_of(given)
        assert len(theta) == len(kernel.program.theta_names)
        expected = tf.inverse_dynamics(given, q, qd, qdd)
        np.testing.assert_allclose(kernel(q, qd, qdd, theta), expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_theta_of_a_regressor_and_of_programs_without_one() -> None:
    robot = tf.random_robot("PRP", 3)
    program = tf.generate(robot, "base_regressor")
    base = tf.base_parameters(robot, include="declared")
    np.testing.assert_array_equal(program.theta_of(robot), base.values(robot))
    assert program.theta_names == base.names
    with pytest.raises(GenerationError, match='generate it with parameters="runtime"'):
        tf.generate(robot, "gravity_torque").theta_of(robot)
    with pytest.raises(ShapeError, match="parameters of random2_0: expected shape"):
        program.theta_of(tf.random_robot(2, 0))


def test_a_payload_at_run_time_is_no_part_of_theta() -> None:
    robot = tf.random_robot("PRR", 3)
    loaded = robot.with_payload(tf.Inertia.of(2.0, [0.1, 0, 0]))
    kernel = tf.compile(robot, "gravity_torque", parameters="runtime", payload="runtime")
    np.testing.assert_array_equal(kernel.program.theta_of(loaded), kernel.program.theta_of(robot))
