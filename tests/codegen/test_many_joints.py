"""Robots of hundreds of joints: refused or generated within seconds, never left to run for hours."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.codegen.generate import SEARCHED_JOINTS
from tauform.errors import GenerationError, ModelError

MANY = tf.random_robot(400, seed=0)
# Of processor time, on a machine of any kind; today's hang was hours.
MOST_SECONDS = 60


@pytest.mark.parametrize(
    "function",
    representatives(["inverse_dynamics", "mass_matrix", "linearize_inverse"], "inverse_dynamics", "mass_matrix"),
)
def test_generate_refuses_400_joints_soon(function: str) -> None:
    start = time.process_time()
    with pytest.raises(GenerationError, match=rf"{function} of random400_0 takes .* operations.*tf\.{function}"):
        tf.generate(MANY, function)
    assert time.process_time() - start < MOST_SECONDS


def test_base_refuses_400_joints_at_once() -> None:
    with pytest.raises(ModelError, match=r"random400_0 has 4\d00 parameters, more than 1500 .*tip="):
        tf.base_parameters(MANY)


def test_a_long_chain_is_generated_without_a_search() -> None:
    robot = tf.planar_chain(SEARCHED_JOINTS + 20)
    start = time.process_time()
    program = tf.generate(robot, "gravity_torque")
    assert time.process_time() - start < MOST_SECONDS
    q = np.random.default_rng(0).normal(size=(3, robot.n_joints))
    torque = program(q)
    expected = tf.gravity_torque(robot, q)
    np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
