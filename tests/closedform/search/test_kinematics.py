"""Lloyd2021, Lemmas 1 and 2: placements and Jacobians are sums of functions of order one."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states, random_tree


@pytest.mark.parametrize("seed", range(4))
def test_closed_kinematics_are_the_robots(seed: int) -> None:
    robot = random_tree(4, seed, prismatic=0.3)
    model = tf.derive(robot)
    q = random_states(robot, 20, seed)[0]
    for frame in (None, robot.links[1].name):
        found = model.kinematics(frame)
        np.testing.assert_allclose(
            found.forward_kinematics(q), tf.forward_kinematics(robot, q, frame), rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(found.jacobian(q), tf.jacobian(robot, q, frame), rtol=0, atol=1e-12)
        n = robot.n_joints
        orders = found.exponents.reshape(3, n, -1).sum(axis=0)
        assert orders.max() <= 1  # of each joint


def test_unknown_frames_are_named() -> None:
    with pytest.raises(tf.errors.UnknownNameError, match="nowhere"):
        tf.derive(tf.load("two_link")).kinematics("nowhere")
