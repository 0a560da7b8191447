"""Relations hold no rounding, and a name ends in R exactly where something is regrouped."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from closedform.arms import scaled, twisted
from tauform.closedform.base.baseset import BaseParameters
from tauform.description.joint import Frame


def moved(robot: tf.Robot, joint: int, offset: np.ndarray) -> tf.Robot:
    """One joint's origin moved a little."""
    joints = list(robot.joints)
    placement = np.array(joints[joint].parent_from_joint)
    placement[:3, 3] += offset
    joints[joint] = replace(joints[joint], parent_from_joint=placement, lengths=())
    return replace(robot, joints=tuple(joints))


def assert_named_as_regrouped(base: BaseParameters) -> None:
    for relation, pivot in zip(base.relations, base.pivots, strict=True):
        is_sum = len(relation.terms) > 1
        assert relation.name == (
            base.parameter_names[pivot].replace("_", "R_") if is_sum else base.parameter_names[pivot]
        ), str(relation)


@pytest.mark.parametrize("length", [1.0, 1e-3, 1e3], ids=["metres", "kilometres", "millimetres"])
@pytest.mark.parametrize("name", ["kr6_r700", "lbr7", "puma560_gautier", "two_link"])
def test_an_origin_off_by_rounding_shows_nowhere(name: str, length: float) -> None:
    robot = scaled(tf.load(name), length)
    shaken = robot
    for joint in range(robot.n_joints):
        shaken = moved(shaken, joint, 2.5e-17 * length * np.array([1.0, -1.0, 1.0]))
    plain, base = tf.base_parameters(robot), tf.base_parameters(shaken)
    assert [relation.text() for relation in base.relations] == [relation.text() for relation in plain.relations]
    assert_named_as_regrouped(base)


@pytest.mark.parametrize("angle", [1e-17, 1e-12, 3.7e-6, 1e-3])
@pytest.mark.parametrize("name", ["kr6_r700", "lbr7", "puma560_gautier"])
def test_names_follow_the_relations_at_any_twist(name: str, angle: float) -> None:
    base = tf.base_parameters(twisted(tf.load(name), angle))
    assert_named_as_regrouped(base)
    assert not re.search(r"e-(1[1-9]|[2-9]\d)", " ".join(relation.text() for relation in base.relations))


def test_equal_lengths_that_cancel_regroup_nothing() -> None:
    base = tf.base_parameters(tf.random_robot("RRRR", 3, industrial=True))
    assert_named_as_regrouped(base)


def test_an_origin_in_a_urdf_off_by_rounding(tmp_path: Path) -> None:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    limit = '<limit effort="1" velocity="1" lower="-1" upper="1"/>'
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="l{k - 1}"/><child link="l{k}"/><axis xyz="0 0 1"/>'
        f'<origin xyz="0 {0.3 * (k > 1)} {2.5e-17 * (k > 1)}" rpy="{np.pi / 2 * (-1) ** k * (k > 1)!r} 0 0"/>'
        f"{limit}</joint>"
        for k in (1, 2, 3)
    )
    links = '<link name="l0"/>' + "".join(f'<link name="l{k}">{inertial}</link>' for k in (1, 2, 3))
    (tmp_path / "arm.urdf").write_text(f'<robot name="arm">{links}{joints}</robot>')
    base = tf.base_parameters(tf.load(tmp_path / "arm.urdf"))
    assert_named_as_regrouped(base)
    assert not re.search(r"\bz_\d", str(base))


def test_a_payload_at_the_tool_of_a_robot_with_followers_hinders_nothing() -> None:
    """A palletizer with a load: as many base parameters, and the same relations, as without it."""
    arm = tf.random_robot("RRR", 2)
    robot = replace(arm, frames=(*arm.frames, Frame("hand", 2, np.eye(4))), tip="hand").with_relations(
        {"joint3": {"joint1": 0.5, "": 0.3}}
    )
    loaded = robot.with_payload(tf.Inertia.of(0.7, [0.05, 0.02, 0.1]))
    assert loaded.payload is not None
    assert loaded.payload.frame == "hand"
    assert tf.base_parameters(loaded).names == tf.base_parameters(robot).names
    states = np.random.default_rng(0).normal(size=(3, 20, 2))
    program = tf.generate(loaded, "inverse_dynamics", parameters="runtime")
    expected = tf.textbook.inverse_dynamics(loaded, *states)
    found = tf.compile(program)(*states, program.about.defaults["theta"])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
