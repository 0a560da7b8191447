"""Models of other tools that `tauform bench` times are the same mechanism: their torques are ours."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from tauform.cli.comparison.models import mujoco_model, pinocchio_model

ROBOTS = {
    "tree": tf.random_robot("RPRRPR", seed=3, branching=0.4),
    "kr6_r700": tf.load("kr6_r700"),  # one of its published inertias is unphysical
}


@pytest.fixture(params=ROBOTS)
def robot(request: pytest.FixtureRequest) -> tf.Robot:
    given = ROBOTS[request.param]
    parameters = given.parameters.copy()
    parameters[[k for k, name in enumerate(given.parameter_names) if name.startswith("F")]] = 0
    return given.with_parameters(parameters)


def state_of(robot: tf.Robot) -> np.ndarray:
    return np.random.default_rng(0).uniform(-2, 2, (3, robot.n_joints))


def test_pinocchio(robot: tf.Robot) -> None:
    pinocchio = pytest.importorskip("pinocchio")
    model, state = pinocchio_model(robot), state_of(robot)
    expected = tf.inverse_dynamics(robot, *state)
    np.testing.assert_allclose(pinocchio.rnea(model, model.createData(), *state), expected, rtol=1e-12, atol=1e-12)


def test_mujoco(robot: tf.Robot) -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco_model(robot)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = state = state_of(robot)
    mujoco.mj_inverse(model, data)
    np.testing.assert_allclose(data.qfrc_inverse, tf.inverse_dynamics(robot, *state), rtol=1e-12, atol=1e-11)
