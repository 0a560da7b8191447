"""Explanations are found by trying; these are the cases that can be checked by thought."""

from __future__ import annotations

import pytest

import tauform as tf
from tauform.closedform.base.mounting import mounted
from tauform.errors import UnknownNameError

TILTED = "a tilted mounting (gravity in a general direction)"


def arm() -> tf.Robot:
    """Vertical first axis, horizontal second."""
    row = {"joint": "revolute", "theta": 0.0, "mass": 1.0, "com": [0.1, 0, 0], "rotor_inertia": 0.1}
    return tf.Robot.from_dh(
        [{**row, "a": 0.0, "alpha": 1.5707963267948966, "d": 0.4}, {**row, "a": 0.3, "alpha": 0.0, "d": 0.0}],
        "standard",
    )


def test_weight_of_the_column_shows_when_the_robot_is_tilted() -> None:
    explanation = tf.explain(arm(), "mx_1")
    assert explanation.status == "no effect"
    assert TILTED in explanation.exposed_by
    assert "a base that moves, sliding along x" in explanation.exposed_by
    # Along the column's own axis nothing about it can be felt at its joint.
    assert "a base that moves, sliding along z" not in explanation.exposed_by
    assert TILTED in str(explanation)


def test_rotor_is_told_from_its_link_by_turning_the_base() -> None:
    explanation = tf.explain(arm(), "Ia_1")
    assert explanation.status == "folded"
    assert set(explanation.within) == {"IzzR_1"}
    assert "a base that moves, turning about z" in explanation.exposed_by
    assert TILTED not in explanation.exposed_by


def test_mass_of_the_last_link_needs_a_force_sensor() -> None:
    explanation = tf.explain(arm(), "m_2")
    assert explanation.status == "no effect"
    assert "a six-axis force sensor at joint 'joint2'" in explanation.exposed_by
    assert not any("moves" in remedy for remedy in explanation.exposed_by)


def test_base_parameter_needs_no_remedy() -> None:
    explanation = tf.explain(arm(), "mx_2")
    assert explanation.status == "alone"
    assert not explanation.exposed_by
    assert "torques determine it" in str(explanation)


def test_loops_keep_their_constraints_on_a_moving_base() -> None:
    robot = tf.load("parallelogram")
    extended = mounted(robot)
    assert extended.robot.n_joints == robot.n_joints + 6
    assert tf.explain(robot, "m_1").status == "no effect"


@pytest.mark.parametrize("name", ["mx_9", "Fv_1", "nonsense"])
def test_unknown_or_absent_parameter_is_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match=name):
        tf.explain(arm(), name)
