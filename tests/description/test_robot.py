"""Robot: payloads, parameters, columns, structure."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

import tauform as tf
from tauform.description.joint import Frame, Joint, Link
from tauform.errors import DescriptionError, ShapeError

BALL = tf.Inertia.of(2.0, [0.1, 0.0, 0.05], [0.01, 0.02, 0.02, 0, 0, 0], inertia_about="com")
JOINT = Joint("j", "revolute", -1, np.eye(4))
LINK = Link("l", tf.Inertia.zero())


def test_payload_equals_an_extra_rigid_link() -> None:
    arm = tf.load("kr6_r700")
    tool = arm.tool
    extra = Joint("weld", "revolute", 5, tool.link_from_frame)
    longer = replace(arm, joints=(*arm.joints, extra), links=(*arm.links, Link("ball", BALL))).locked({"weld": 0.0})
    state = np.random.default_rng(0).normal(size=(3, 6))
    carrying = arm.with_payload(BALL)
    np.testing.assert_allclose(
        tf.inverse_dynamics(carrying, *state), tf.inverse_dynamics(longer, *state), rtol=0, atol=1e-12
    )
    assert (tf.inverse_dynamics(carrying, *state) != tf.inverse_dynamics(arm, *state)).all()


def test_payload_is_replaced_and_removed() -> None:
    arm = tf.load("kr6_r700")
    twice = arm.with_payload(BALL).with_payload(BALL)
    np.testing.assert_array_equal(twice.parameters, arm.with_payload(BALL).parameters)
    np.testing.assert_array_equal(twice.with_payload(None).parameters, arm.parameters)


def test_payload_on_the_base_changes_nothing() -> None:
    arm = tf.load("kr6_r700")
    arm = replace(arm, frames=(*arm.frames, Frame("stand", -1, np.eye(4))))
    np.testing.assert_array_equal(arm.with_payload(BALL, "stand").parameters, arm.parameters)


def test_parameters_round_trip() -> None:
    robot = tf.random_robot(5, seed=1, branching=0.3)
    other = robot.with_parameters(2 * robot.parameters)
    np.testing.assert_array_equal(other.parameters, 2 * robot.parameters)
    state = np.random.default_rng(0).normal(size=(3, 5))
    np.testing.assert_allclose(tf.inverse_dynamics(other, *state), 2 * tf.inverse_dynamics(robot, *state), rtol=1e-12)


def test_columns_follow_what_is_declared() -> None:
    assert len(tf.load("kr6_r700").columns()) == 60
    assert len(tf.load("kr6_r700").columns(("link", "rotor"))) == 66
    assert len(tf.load("puma560_gautier").columns()) == 66


def test_robot_is_frozen_and_its_arrays_read_only() -> None:
    robot = tf.load("two_link")
    with pytest.raises(FrozenInstanceError):
        robot.name = "other"  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        robot.parameters[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        robot.joints[0].parent_from_joint[0, 0] = 2.0


@pytest.mark.parametrize(
    ("joints", "links", "message"),
    [
        ((), (), "has no moving joint"),
        ((JOINT,), (), "1 joints but 0 links"),
        ((replace(JOINT, parent=0),), (LINK,), "joint 'j': its parent must come before it"),
        ((JOINT, replace(JOINT, parent=0)), (LINK, replace(LINK, name="m")), "joint name 'j' is used twice"),
        ((JOINT, replace(JOINT, name="k")), (LINK, LINK), "link name 'l' is used twice"),
    ],
)
def test_structure_errors_are_named(joints: tuple[Joint, ...], links: tuple[Link, ...], message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        tf.Robot("r", joints, links)


def test_bad_numbers_are_named() -> None:
    with pytest.raises(DescriptionError, match="joint 'j': parent_from_joint does not hold a rotation"):
        Joint("j", "revolute", -1, 2 * np.eye(4))
    with pytest.raises(ShapeError, match=r"joint 'j': parent_from_joint: expected shape \(4, 4\)"):
        Joint("j", "revolute", -1, np.eye(3))
    with pytest.raises(DescriptionError, match="negative mass"):
        tf.Inertia.of(-1.0, inertia_about="com")
    with pytest.raises(ShapeError, match="not finite"):
        tf.Inertia([np.nan] * 10)
    with pytest.raises(ShapeError, match=r"parameters: expected shape \(28,\)"):
        tf.load("two_link").with_parameters(np.zeros(20))


@pytest.mark.parametrize("kinds", [1, 4, "RPRRP", 30])
def test_random_robots_are_reproducible_and_physical(kinds: int | str) -> None:
    robot, again = (tf.random_robot(kinds, seed=7, branching=0.5) for _ in range(2))
    np.testing.assert_array_equal(robot.parameters, again.parameters)
    assert robot.n_joints == (kinds if isinstance(kinds, int) else len(kinds))
    assert all(np.linalg.eigvalsh(inertia.pseudo_inertia)[0] > 0 for inertia in robot.inertias)
    assert not np.array_equal(robot.parameters, tf.random_robot(kinds, seed=8).parameters)


def test_random_robots_branch_and_are_depth_first() -> None:
    robot = tf.random_robot(20, seed=0, branching=0.5)
    assert not robot.is_chain
    for i in range(1, robot.n_bodies):  # depth first: the parent lies on the path to the link before
        assert robot.joints[i].parent in (-1, *robot.tree.ancestors(i - 1))
    assert tf.random_robot(20, seed=0).is_chain


def test_planar_chain_of_one_rod_is_a_pendulum() -> None:
    robot = tf.planar_chain(1, length=2.0, mass=3.0)
    tau = tf.inverse_dynamics(robot, [0.3], [1.0], [0.7])
    np.testing.assert_allclose(tau, 3 * 2**2 / 3 * 0.7 + 3 * 9.81 * 1 * np.cos(0.3))


def test_parametric_bad_input() -> None:
    with pytest.raises(DescriptionError, match="letters R and P, got 'X'"):
        tf.random_robot("RXR", seed=0)
    for build in (lambda: tf.random_robot(0, seed=0), lambda: tf.planar_chain(0), lambda: tf.random_robot("", seed=0)):
        with pytest.raises(DescriptionError, match="at least one joint"):
            build()
    with pytest.raises(ShapeError, match=r"gravity: expected numbers of shape \(3,\), got 'down'"):
        tf.planar_chain(1, gravity="down")


def test_frames_belong_to_links_that_exist() -> None:
    for link in (-2, 1):
        with pytest.raises(DescriptionError, match=f"frame 'hand': link {link} does not exist; count from 0 to 0"):
            tf.Robot("r", (JOINT,), (LINK,), frames=(Frame("hand", link, np.eye(4)),))


def test_an_inertia_is_moved_by_a_placement() -> None:
    for wrong in (np.eye(3), "there"):
        with pytest.raises(ShapeError, match="new_from_old: expected"):
            tf.Inertia.of(1.0).moved(wrong)


def test_joint_and_frame_with_numbers_that_cannot_be_meant_are_named() -> None:
    with pytest.raises(ShapeError, match="joint 'j': rotor inertia and friction: holds a value that is not finite"):
        replace(JOINT, viscous=np.nan)
    with pytest.raises(DescriptionError, match="frame 'hand': link_from_frame does not hold a rotation"):
        Frame("hand", 0, 2 * np.eye(4))


def test_a_mass_alone_is_a_point_mass() -> None:
    point = tf.Inertia.of(2.0, com=[0.1, 0.0, 0.2])
    np.testing.assert_allclose(point.tensor_about_com, np.zeros((3, 3)), atol=1e-15)
    np.testing.assert_allclose(point.tensor[1, 1], 2.0 * (0.1**2 + 0.2**2))
    with pytest.raises(DescriptionError, match="inertia_about"):
        tf.Inertia.of(2.0, inertia=np.eye(3))
