"""The count of base parameters does not depend on units, small twists, masses or how the robot is mounted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.closedform.base.parameters import SOURCES
from tauform.closedform.base.regroup import regroup
from tauform.description.joint import Joint
from tauform.description.robot import Robot
from tauform.description.transform import rotation_x


def changed(robot: Robot, n: int, *, scale: float = 1.0, twist: float = 0.0, at: int | None = None) -> Robot:
    """The first n joints with lengths scaled and each joint (or joint `at` only) twisted about its parent's x."""

    def moved(i: int, joint: Joint) -> Joint:
        T = np.array(joint.parent_from_joint)
        if i > 0 and at in (None, i):
            T = T @ rotation_x(twist) if twist else T
        T[:3, 3] *= scale
        return replace(joint, parent_from_joint=T, lengths=())

    joints = tuple(moved(i, joint) for i, joint in enumerate(robot.joints[:n]))
    return Robot(robot.name, joints, robot.links[:n], robot.gravity)


CASES = {
    "KR6": (6, {}, 36),
    "KR6 in mm": (6, {"scale": 1e3}, 36),
    "KR6 lengths x 1e-6": (6, {"scale": 1e-6}, 36),
    "KR6, 1 mrad twists": (6, {"twist": 1e-3}, 36),
    "four joints": (4, {}, 22),
    "four joints in mm": (4, {"scale": 1e3}, 22),
    "four joints, lengths x 1e-3": (4, {"scale": 1e-3}, 22),
    "four joints, alpha_2 = 1e-6": (4, {"twist": 1e-6, "at": 2}, 22),
    "four joints, 1 mrad twists": (4, {"twist": 1e-3}, 22),
}


@pytest.mark.parametrize(
    "case",
    representatives(
        CASES,
        "KR6, 1 mrad twists",
        "four joints",
        "four joints in mm",
        "four joints, lengths x 1e-3",
        "four joints, alpha_2 = 1e-6",
    ),
)
def test_kr6_count_holds_whatever_the_units_and_twists(case: str) -> None:
    n, options, expected = CASES[case]
    robot = changed(tf.load("kr6_r700"), n, **options)
    for source in SOURCES:
        for method in ("qr", "svd", "qr_pivoted"):
            base = tf.base_parameters(robot, method=method, source=source)
            assert base.n == expected, (source, method)
            assert base.gap > 1e6
            assert not base.findings


def test_regroup_takes_raw_torques_in_millimetres() -> None:
    robot = changed(tf.load("kr6_r700"), 6, scale=1e3)
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 60, 6))
    Y = tf.regressor(robot, q, qd, qdd, include=("link",)).reshape(-1, 60)
    assert regroup(Y, robot, robot.columns(("link",))).n == 36


@pytest.mark.parametrize(("name", "count"), [("kr6_r700", 36), ("lbr7", 43), ("sr6ia", 8), ("two_link", 6)])
def test_catalogue_robots_have_the_papers_counts(name: str, count: int) -> None:
    robot = tf.load(name)
    assert tf.base_parameters(robot, include=("link",)).n == count
    light = robot.with_parameters(1e-6 * robot.parameters)
    assert tf.base_parameters(light, include=("link",)).n == count


def one_joint(kind: str, gravity: list[float]) -> Robot:
    row = {"joint": kind, "a": 0.0, "alpha": 0.0, "d": 0.0, "theta": 0.0, "mass": 1.0, "rotor_inertia": 0.1}
    return Robot.from_dh([row], "standard", gravity=gravity)


@pytest.mark.parametrize(
    ("kind", "gravity", "names"),
    [
        ("revolute", [0, 0, -9.81], ("IzzR_1",)),
        ("revolute", [9.81, 0, 0], ("mx_1", "my_1", "IzzR_1")),
        ("revolute", [0, 0, 0], ("IzzR_1",)),
        ("prismatic", [0, 0, -9.81], ("m_1", "Ia_1")),
        ("prismatic", [9.81, 0, 0], ("mR_1",)),
    ],
)
def test_one_joint_by_hand(kind: str, gravity: list[float], names: tuple[str, ...]) -> None:
    """tau = (Izz + Ia) qdd + gravity on mx, my; f = m (qdd - g) + Ia qdd."""
    robot = one_joint(kind, gravity)
    for source in SOURCES:
        assert tf.base_parameters(robot, source=source).names == names


def test_reversed_joint_changes_nothing_but_signs() -> None:
    def robot(sign: int) -> Robot:
        shared = {"joint": "revolute", "theta": 0.0, "mass": 1.0}
        rows = [{**shared, "a": 0.3, "alpha": np.pi / 2, "d": 0.1}, {**shared, "a": 0.2, "alpha": 0.0, "d": 0.0}]
        return Robot.from_dh([rows[0], {**rows[1], "sign": sign}, rows[0]], "standard")

    plain, flipped = tf.base_parameters(robot(1)), tf.base_parameters(robot(-1))
    assert plain.n == flipped.n
    assert all(relation.exact for relation in flipped.relations)


def test_narrow_gap_is_said_in_words() -> None:
    """Columns that keep 1e-6, 1e-8, ... 1e-13 of themselves: any count could be defended."""
    robot = tf.load("two_link")
    rng = np.random.default_rng(0)
    common, own = rng.normal(size=(50, 1)), rng.normal(size=(50, 6))
    W = common + own * np.array([0.0, 1e-6, 1e-8, 1e-10, 1e-12, 1e-13])
    base = regroup(W, robot, (4, 5, 6, 7, 8, 9))
    assert base.gap < 1e3
    assert "narrow gap" in base.findings[0]


def test_faint_column_is_said_in_words() -> None:
    robot = tf.load("two_link")
    rng = np.random.default_rng(0)
    W = rng.normal(size=(50, 1)) + rng.normal(size=(50, 2)) * np.array([0.0, 1e-9])
    base = regroup(W, robot, (4, 5))
    assert base.n == 2
    assert "no measurement will show it" in base.findings[0]


@pytest.mark.parametrize(("name", "count"), [("kinova", 36), ("so101", 38), ("ur5_robot", 36), ("go2", 68)])
def test_real_descriptions_with_rounded_angles_get_one_count_from_all_sources(name: str, count: int) -> None:
    """kinova's first axis is off the vertical by 2e-13 (pi to 12 digits), so101's by 3e-6, which counts."""
    pytest.importorskip("pinocchio")
    from real_robots import urdf

    robot = tf.load(urdf(name))
    for source in SOURCES if robot.is_chain else SOURCES[:3]:
        assert tf.base_parameters(robot, source=source, include=("link",)).n == count, source


@pytest.mark.parametrize(("name", "snap"), [("so100", None), ("kinova", 1e-4), ("tiago_no_hand", None)])
def test_names_are_the_same_from_all_sources(name: str, snap: float | None) -> None:
    """Rounding differs from source to source; it must not call a parameter a sum here and standing alone there."""
    pytest.importorskip("pinocchio")
    from real_robots import urdf

    robot = tf.load(urdf(name), snap=snap)
    found = [tf.base_parameters(robot, source=source) for source in SOURCES[: 4 if robot.is_chain else 3]]
    if robot.is_chain:
        found.append(tf.derive(robot).base)
    assert {base.names for base in found} == {found[0].names}


def test_moments_that_only_an_almost_vertical_axis_shows_are_named() -> None:
    """so100's first axis is off the vertical by 6e-6 rad."""
    pytest.importorskip("pinocchio")
    from real_robots import urdf

    robot = tf.load(urdf("so100"))
    assert any("of the weight shows of mx_1, my_1" in finding for finding in tf.base_parameters(robot).findings)
    straight = tf.base_parameters(robot.snapped(1e-4))
    assert straight.n == 36
    assert not straight.findings
