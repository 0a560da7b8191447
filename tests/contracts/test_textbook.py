"""`tf.textbook` holds every textbook function under its public name."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import tauform as tf
from tauform import textbook
from tauform.errors import ArgumentError

ROBOT = tf.load("sr6ia")


@pytest.mark.parametrize("name", textbook.__all__)
def test_a_textbook_function_is_public_and_checks_its_arguments(name: str) -> None:
    function = getattr(tf.textbook, name)
    assert name in tf.__all__
    assert pickle.loads(pickle.dumps(function)) is function
    with pytest.raises(ArgumentError, match=r"tf\.load\('arm\.urdf'\)"):
        function("arm.urdf")


def test_the_base_regressor_times_the_base_values_is_the_torque() -> None:
    motion = np.random.default_rng(0).uniform(-1, 1, (3, 20, ROBOT.n_joints))
    theta = tf.base_parameters(ROBOT, include="declared").values(ROBOT)
    torque = tf.textbook.inverse_dynamics(ROBOT, *motion)
    np.testing.assert_allclose(tf.textbook.base_regressor(ROBOT, *motion) @ theta, torque, atol=1e-12)
