"""Slopes of the columns by shifted values against complex steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm
from tauform.arrays import Array
from tauform.identification.slopes import BaseColumns


def sliding() -> tf.Robot:
    robot = arm()
    return replace(robot, joints=(robot.joints[0], replace(robot.joints[1], kind="prismatic"), *robot.joints[2:]))


@pytest.mark.parametrize("robot", [arm(), sliding()], ids=["turning", "sliding"])
def test_shifted_columns_give_the_slopes_of_complex_steps(robot: tf.Robot) -> None:
    columns = BaseColumns(robot, None)
    assert columns.kernel is not None
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.normal(size=(3, 5, robot.n_joints))
    weights = rng.normal(size=columns(q, qd, qdd).shape)

    def weigh(W: Array) -> tuple[float, Array]:
        return float((weights * W).sum()), weights

    value, slopes = columns.with_slopes(q, qd, qdd, weigh)
    columns.kernel = None
    plain_value, plain = columns.with_slopes(q, qd, qdd, weigh)
    assert value == pytest.approx(plain_value, rel=1e-12)
    np.testing.assert_allclose(slopes, plain, rtol=0, atol=1e-12 * np.abs(plain).max())
