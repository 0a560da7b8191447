"""A robot that stands kilometres from its base's origin has the dynamics of one that stands there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states, random_tree

FAR = np.array([1e4, -2e4, 5e3])


@pytest.fixture(params=[4, 9])
def pair(request) -> tuple[tf.Robot, tf.Robot]:
    near = random_tree(request.param, seed=request.param)
    joints = []
    for joint in near.joints:
        placed = np.array(joint.parent_from_joint)
        if joint.parent == near.joints[0].parent:
            placed[:3, 3] += FAR
        joints.append(replace(joint, parent_from_joint=placed))
    return near, replace(near, joints=tuple(joints))


def test_digits_do_not_depend_on_the_origin(pair):
    near, far = pair
    q, qd, tau = random_states(near, 3, seed=1)
    for value, expected in (
        (tf.mass_matrix(far, q, method="gdahj"), tf.mass_matrix(near, q, method="gdahj")),
        (tf.coriolis_matrix(far, q, qd), tf.coriolis_matrix(near, q, qd)),
        (tf.linearize_inverse(far, q, qd, tau).dq, tf.linearize_inverse(near, q, qd, tau).dq),
        (tf.linearize_forward(far, q, qd, tau).dq, tf.linearize_forward(near, q, qd, tau).dq),
    ):
        np.testing.assert_allclose(value, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
