"""Descriptions at the prompt: equal where they hold the same, short when printed, helpful where a name is missing."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import tauform as tf


@pytest.mark.parametrize("name", ["two_link", "parallelogram", "sr6ia"])
def test_robots_that_hold_the_same_are_equal(name: str) -> None:
    robot = tf.load(name)
    for same in (tf.load(name), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        assert same == robot
        assert hash(same) == hash(robot)
        assert same.joints == robot.joints
        assert same.inertias == robot.inertias


def test_robots_that_differ_in_anything_are_not_equal() -> None:
    robot = tf.load("sr6ia")
    body = tf.Inertia.of(1.0)
    others = [
        robot.with_gravity([0, 0, -9.8]),
        robot.with_payload(body),
        robot.with_relations({"joint2": {"joint1": 1.0}}),
        robot.with_parameters(np.nextafter(robot.parameters, 1e9)),
        replace(robot, name="other"),
        replace(robot, tip=None),
        replace(robot, joints=(replace(robot.joints[0], rotor_inertia=0.0), *robot.joints[1:])),
    ]
    assert all(other != robot for other in others)
    assert len({robot, *others, tf.load("sr6ia")}) == len(others) + 1
    assert robot != "sr6ia"
    assert body != tf.Inertia.of(1.0, [0, 0, 1e-9])


def test_minus_zero_is_zero_for_equality_and_for_hashes() -> None:
    one, other = tf.Inertia([1.0, 0.0, *[0.0] * 8]), tf.Inertia([1.0, -0.0, *[0.0] * 8])
    assert one == other
    assert hash(one) == hash(other)


def test_parts_of_a_robot_print_in_one_short_line() -> None:
    robot = tf.load("parallelogram").with_payload(tf.Inertia.of(1.5, [0.1, 0, 0]))
    prediction = tf.multirate(tf.load("two_link")).predict(tf.Profile.slow(2), tf.Rates(0.001, 0.01))
    parts = [robot.joints[1], robot.links[1], robot.frames[0], robot.tree, robot.closure, robot.payload, prediction]
    parts += [robot.inertias[0], tf.load("two_link").joints[1].lengths[0], tf.derive(tf.load("two_link")).echelon()]
    for part in parts:
        text = repr(part)
        assert text.startswith(f"{type(part).__name__}(")
        assert "array" not in text
        assert "\n" not in text
        assert len(text) < 180
    assert "1.5 kg at (0.1, 0, 0) m" in repr(robot.payload)
    assert repr(robot.joints[0]).startswith("Joint('yaw', revolute, parent -1")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("inverse_dynamic", "did you mean inverse_dynamics?"),
        ("inverseDynamics", "did you mean inverse_dynamics?"),
        ("rnea", "did you mean inverse_dynamics?"),
        ("crba", "did you mean mass_matrix?"),
        ("aba", "did you mean forward_dynamics?"),
        ("computeJointTorqueRegressor", "did you mean regressor?"),
        ("buildModelFromUrdf", "did you mean load?"),
        ("weather", "has no attribute 'weather'"),
        ("_private", "has no attribute '_private'"),
    ],
)
def test_names_of_other_tools_are_told_ours(name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(tf, name)
    assert str(error.value).endswith(hint)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("mass_matrix", "call tf.mass_matrix(robot, q)"),
        ("rnea", "call tf.inverse_dynamics(robot, q, qd, qdd)"),
        ("dof", "did you mean n_joints?"),
        ("joint_name", "did you mean joint_names?"),
        ("gravty", "did you mean gravity?"),
        ("Fit", "Robot has no attribute 'Fit'"),
    ],
)
def test_what_robots_lack_is_told_where_it_is(name: str, hint: str) -> None:
    with pytest.raises(AttributeError) as error:
        getattr(tf.load("two_link"), name)
    assert str(error.value).endswith(hint)


def test_every_name_that_hints_lead_to_exists() -> None:
    from tauform.hints import ELSEWHERE

    known = {*tf.__all__, "n_joints"}
    assert set(ELSEWHERE.values()) <= known
