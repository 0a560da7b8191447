"""Locking, cutting, relating and straightening: the dynamics say that each does what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from tauform.description.joint import Frame
from tauform.errors import DescriptionError, ShapeError, UnknownNameError

TREE = tf.random_robot("RRPRRPR", seed=5, branching=0.4, drives=False)


def test_locked_torque_is_that_of_the_free_robot_at_rest_there() -> None:
    positions = {"joint2": 0.7, "joint3": -0.2, "joint6": 0.1}
    robot = TREE.locked(positions)
    free = [i for i, name in enumerate(TREE.joint_names) if name not in positions]
    assert robot.joint_names == tuple(TREE.joint_names[i] for i in free)
    rng = np.random.default_rng(0)
    full = np.zeros((3, 6, TREE.n_joints))
    full[:, :, free] = rng.normal(size=(3, 6, len(free)))
    for name, value in positions.items():
        full[0, :, TREE.joint_names.index(name)] = value
    expected = tf.inverse_dynamics(TREE, *full)[:, free]
    np.testing.assert_allclose(tf.inverse_dynamics(robot, *full[:, :, free]), expected, atol=1e-12)


def test_locked_links_stay_where_they_were() -> None:
    robot = TREE.locked({"joint3": 0.3})
    q = np.random.default_rng(1).normal(size=6)
    full = np.insert(q, 2, 0.3)
    for name in ("link3", "link7", "tool"):
        ours, theirs = tf.forward_kinematics(robot, q, name), tf.forward_kinematics(TREE, full, name)
        np.testing.assert_allclose(ours, theirs, atol=1e-14)


def test_payload_and_tip_survive_a_lock_of_the_last_joint() -> None:
    ball = tf.Inertia.of(2.0, inertia_about="com")
    robot = tf.load("kr6_r700").with_payload(ball).locked({"joint6": 0.4})
    assert robot.tool.name == "tool"
    assert robot.inertias[4].mass == pytest.approx(0.94 + 3.0 + 2.0)


def test_lock_of_the_first_joint_moves_the_base() -> None:
    robot, arm = tf.load("kr6_r700", lock={"joint1": 0.6}), tf.load("kr6_r700")
    q = np.random.default_rng(2).normal(size=5)
    np.testing.assert_allclose(
        tf.forward_kinematics(robot, q), tf.forward_kinematics(arm, np.insert(q, 0, 0.6)), atol=1e-14
    )


def test_tip_keeps_the_chain() -> None:
    robot = TREE.up_to("link4")
    path = sorted(TREE.tree.ancestors(3))
    assert robot.joint_names == tuple(TREE.joint_names[i] for i in path)
    q = np.random.default_rng(3).normal(size=TREE.n_joints)
    np.testing.assert_array_equal(tf.forward_kinematics(robot, q[path]), tf.forward_kinematics(TREE, q, "link4"))


def test_lock_and_tip_with_loops() -> None:
    arm = tf.load("parallelogram")
    crank_locked = arm.locked({"crank": 0.5})
    assert crank_locked.joint_names == ("yaw", "shoulder")
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 2))
    expected = tf.inverse_dynamics(arm, [*q, 0.5], [*qd, 0], [*qdd, 0])[:2]
    np.testing.assert_allclose(tf.inverse_dynamics(crank_locked, q, qd, qdd), expected, atol=1e-12)
    with pytest.raises(DescriptionError, match="'elbow' follows other joints; lock those"):
        arm.locked({"elbow": 0.0})
    with pytest.raises(DescriptionError, match="follows 'crank', which is off it; lock 'crank'"):
        arm.up_to("wrist")
    assert arm.up_to("upper_arm").is_chain


def test_relations_add_up() -> None:
    first = {"joint4": {"joint1": 2.0, "": 0.5}}
    second = {"joint1": {"joint3": -1.0, "": 0.2}, "joint2": {"joint3": 0.5}}
    robot = TREE.with_relations(first).with_relations(second)
    at_once = TREE.with_relations({"joint4": {"joint3": -2.0, "": 0.9}, **second})
    assert robot.joint_names == at_once.joint_names
    assert robot.closure is not None
    assert at_once.closure is not None
    np.testing.assert_allclose(robot.closure.F, at_once.closure.F)
    np.testing.assert_allclose(robot.closure.offset, at_once.closure.offset)


def test_constraints_that_undo_earlier_ones_are_refused() -> None:
    robot = TREE.with_relations({"joint4": {"joint1": 2.0}})
    with pytest.raises(DescriptionError, match="'joint4' follows others already"):
        robot.with_relations({"joint4": {"joint2": 1.0}})
    with pytest.raises(DescriptionError, match="'joint4' follows others already"):
        robot.with_relations({"joint2": {"joint4": 1.0}})
    with pytest.raises(DescriptionError, match="has constraints already"):
        robot.with_loops(np.eye(7), np.zeros(7), TREE.joint_names)
    assert robot.closure is not None
    again = robot.with_loops(robot.closure.F, robot.closure.offset, robot.closure.active)
    assert again.joint_names == robot.joint_names


def test_relation_is_the_constraint_in_the_energy() -> None:
    # q3 = 0.5 - 2 q1: power of the related robot equals that of the free one on the constraint.
    free = tf.random_robot("RRR", seed=3, drives=False)
    robot = free.with_relations({"joint3": {"joint1": -2.0, "": 0.5}})
    assert robot.joint_names == ("joint1", "joint2")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))
    full = [[q[0], q[1], 0.5 - 2 * q[0]], [*qd, -2 * qd[0]], [*qdd, -2 * qdd[0]]]
    power = tf.inverse_dynamics(free, *full) @ np.array(full[1])
    assert tf.inverse_dynamics(robot, q, qd, qdd) @ qd == pytest.approx(power, rel=1e-12)


def tilted(angle: float) -> tf.Robot:
    robot = tf.load("kr6_r700")
    T = robot.joints[2].parent_from_joint.copy()
    c, s = np.cos(angle), np.sin(angle)
    T[:3, :3] = T[:3, :3] @ [[1, 0, 0], [0, c, -s], [0, s, c]]
    joints = list(robot.joints)
    joints[2] = replace(joints[2], parent_from_joint=T)
    return replace(robot, joints=tuple(joints))


def test_snap_straightens_only_what_is_near_enough() -> None:
    straight = tf.load("kr6_r700")
    np.testing.assert_array_equal(tilted(3e-6).snapped(1e-5).tree.rotations, straight.tree.rotations)
    tilted_more = tilted(3e-4)
    assert tilted_more.snapped(1e-5).joints[2] is tilted_more.joints[2]


def test_snap_leaves_an_exact_robot_as_it_is() -> None:
    for robot in (tf.load("kr6_r700"), tf.random_robot(6, seed=2), tf.load("sr6ia")):
        assert robot.snapped(1e-5).joints == robot.joints


def test_snap_drops_translations_that_are_rounding() -> None:
    robot = tf.load("kr6_r700")
    joints = list(robot.joints)
    T = joints[2].parent_from_joint.copy()
    T[2, 3] += 1e-8
    joints[2] = replace(joints[2], parent_from_joint=T)
    snapped = replace(robot, joints=tuple(joints)).snapped(1e-6)
    np.testing.assert_array_equal(snapped.tree.translations, robot.tree.translations)


@pytest.mark.parametrize("seed", range(5))
def test_snapped_frames_are_rotations_near_the_old_ones(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = tf.random_robot(8, seed=seed, industrial=True)
    joints = []
    for joint in robot.joints:
        T = joint.parent_from_joint.copy()
        w = rng.uniform(-1e-6, 1e-6, 3)
        turn = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        T[:3, :3] = np.linalg.qr(T[:3, :3] @ (np.eye(3) + turn))[0]
        T[:3, :3] *= np.sign(np.sum(T[:3, :3] * joint.parent_from_joint[:3, :3], axis=0))
        joints.append(replace(joint, parent_from_joint=T))
    snapped = replace(robot, joints=tuple(joints)).snapped(1e-4)
    np.testing.assert_array_equal(snapped.tree.rotations, robot.tree.rotations)


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda r: r.locked({"joint22": 0}), UnknownNameError, "lock: joint 'joint22'.*did you mean 'joint2'"),
        (lambda r: r.locked({"joint2": np.nan}), DescriptionError, "lock: joint2: expected a finite number"),
        (lambda r: r.locked({"joint2": "up"}), DescriptionError, "lock: joint2: expected a number"),
        (lambda r: r.locked(dict.fromkeys(r.joint_names, 0.0)), DescriptionError, "has no moving joint"),
        (lambda r: r.up_to("lin7"), UnknownNameError, "tip: link or frame 'lin7'.*did you mean 'link7'"),
        (lambda r: r.snapped(1.0), DescriptionError, "snap: expected an angle between"),
        (lambda r: r.with_relations({"joint9": {"joint1": 1}}), UnknownNameError, "relations: joint 'joint9'"),
        (lambda r: r.with_relations({"joint2": {"jointx": 1}}), UnknownNameError, "relations: joint 'jointx'"),
        (
            lambda r: r.with_relations({"joint2": {"joint3": 1}, "joint3": {"joint1": 1}}),
            DescriptionError,
            "'joint2' follows 'joint3', which itself follows",
        ),
        (
            lambda r: r.with_relations({name: {"": 0.0} for name in r.joint_names}),
            DescriptionError,
            "no active joint is left",
        ),
        (lambda r: r.with_loops(np.eye(7), np.zeros(6), r.joint_names), ShapeError, r"offset: expected shape \(7,\)"),
        (lambda r: r.with_loops(np.eye(6), np.zeros(7), r.joint_names), ShapeError, r"F: expected shape \(7, 7\)"),
        (lambda r: r.with_loops(np.eye(7), np.zeros(7), list("abcdefg")), UnknownNameError, "active joint .a."),
        (
            lambda r: r.with_loops(2 * np.eye(7), np.zeros(7), r.joint_names),
            DescriptionError,
            "'joint1' must be",
        ),
        (lambda r: r.with_payload(tf.Inertia.zero(), "hand"), UnknownNameError, "frame 'hand' does not exist"),
        (lambda r: r.with_gravity([0, 1]), ShapeError, r"gravity: expected shape \(3,\), got \(2,\)"),
        (lambda r: r.with_gravity([0, 1, np.nan]), ShapeError, "gravity: holds a value that is not finite"),
        (lambda r: r.columns(["link", "gear"]), UnknownNameError, "include: no group 'gear'"),
    ],
)
def test_bad_argument_is_named(action: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        action(TREE)  # type: ignore[operator]


def test_tip_on_the_base_is_refused() -> None:
    robot = replace(TREE, frames=(*TREE.frames, Frame("stand", -1, np.eye(4))))
    with pytest.raises(DescriptionError, match="no moving joint lies between the base and 'stand'"):
        robot.up_to("stand")


def test_a_follower_may_be_locked_where_its_leader_puts_it() -> None:
    arm = tf.planar_chain(3).with_relations({"joint3": {"joint2": -2.0}})
    robot = arm.locked({"joint2": 0.25, "joint3": -0.5})
    assert robot.joint_names == ("joint1",)
    with pytest.raises(DescriptionError, match=r"'joint3' follows joints that put it at -0\.5, not 0\.1"):
        arm.locked({"joint2": 0.25, "joint3": 0.1})
    with pytest.raises(DescriptionError, match="'joint3' follows other joints; lock those instead"):
        arm.locked({"joint3": 0.1})


def test_masses_scale_the_gravity_torque_of_their_links_alone() -> None:
    robot, q = tf.load("kr6_r700"), np.array([0.3, -0.7, 0.4, 0.1, 0.5, 0.2])
    masses = {link.name: 2 * link.inertia.mass for link in robot.links}
    np.testing.assert_allclose(tf.gravity_torque(robot.with_masses(masses), q), 2 * tf.gravity_torque(robot, q))
    own = {link.name: link.inertia.mass for link in robot.links}
    assert robot.with_masses(own) == robot
    # a payload is no part of its link's mass
    carrying = robot.with_payload(tf.Inertia.of(2.0))
    assert carrying.with_masses({"link6": 0.5}) == robot.with_masses({"link6": 0.5}).with_payload(tf.Inertia.of(2.0))


@pytest.mark.parametrize(("masses", "words"), [({"link1": -1.0}, "negative"), ({"link1": np.nan}, "finite")])
def test_what_is_no_mass_is_refused(masses: dict[str, float], words: str) -> None:
    with pytest.raises(DescriptionError, match=words):
        tf.load("kr6_r700").with_masses(masses)


def test_masses_of_no_link_or_of_none_are_refused() -> None:
    robot = tf.load("kr6_r700")
    with pytest.raises(UnknownNameError, match="link7"):
        robot.with_masses({"link7": 1.0})
    bare = replace(robot, links=(replace(robot.links[0], inertia=tf.Inertia.zero()), *robot.links[1:]))
    with pytest.raises(DescriptionError, match="no shape is known"):
        bare.with_masses({"link1": 1.0})
    assert bare.with_masses({"link1": 0.0}) == bare


@pytest.mark.parametrize("tip", [None, "link4"])
def test_the_tool_moves_in_its_own_axes_and_its_payload_with_it(tip: str | None) -> None:
    robot, q = tf.load("kr6_r700", tip=tip), np.array([0.3, -0.7, 0.4, 0.1, 0.5, 0.2])
    q = q[: robot.n_joints]
    moved = robot.with_tool([0.1, 0.0, 0.2])
    before, after = tf.forward_kinematics(robot, q), tf.forward_kinematics(moved, q)
    np.testing.assert_allclose(after[:3, 3], before[:3, :] @ [0.1, 0.0, 0.2, 1.0], atol=1e-12)
    np.testing.assert_array_equal(after[:3, :3], before[:3, :3])
    load, beside = tf.Inertia.of(2.0), tf.Inertia.of(2.0, com=[0.1, 0.0, 0.2])
    expected = tf.gravity_torque(robot.with_payload(beside), q)
    for arm in (moved.with_payload(load), robot.with_payload(load).with_tool([0.1, 0.0, 0.2])):
        np.testing.assert_allclose(tf.gravity_torque(arm, q), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("locks", [("joint1",), ("joint1", "joint3")])
def test_shafts_that_lose_both_ends_add_up_at_the_joint_between_them(locks: tuple[str, ...]) -> None:
    """Terms that become alike are one term; the torque is that of the free robot at rest there."""
    robot = tf.random_robot("RRR", 5)
    rubbing = [
        tf.Drive.of("smooth", joints=1, coefficient=0.2, width=0.1),
        tf.Drive.of("coupled_coulomb", joints=(0, 1), coefficient=0.3, width=0.1),
        tf.Drive.of("coupled_coulomb", joints=(1, 2), coefficient=0.4, width=0.1),
    ]
    robot = robot.with_drives([*robot.drives, *rubbing])
    positions = dict.fromkeys(locks, 0.1)
    moving = [i for i, name in enumerate(robot.joint_names) if name not in positions]
    motion = np.random.default_rng(0).normal(size=(3, 10, 3))
    for name in locks:
        motion[:, :, robot.joint_names.index(name)] = np.array([0.1, 0.0, 0.0])[:, None]
    expected = tf.textbook.inverse_dynamics(robot, *motion)[:, moving]
    found = tf.textbook.inverse_dynamics(robot.locked(positions), *motion[:, :, moving])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
