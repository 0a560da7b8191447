"""URDF and xacro: axes, fixed links, mimic joints, tips, locks, friction and limits."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from real_robots import urdf
from tauform.errors import DescriptionError, MissingExtraError, UnknownNameError

ROBOT = (Path(__file__).parents[1] / "sample.urdf").read_text()


def load_text(text: str, folder: Path, name: str = "sample.urdf", **options: object) -> tf.Robot:
    path = folder / name
    path.write_text(text)
    return tf.load(path, **options)


def test_negative_axis_gives_exact_frame_and_keeps_the_link_frame(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path)
    # Rx(pi/2) turns -y into -z
    np.testing.assert_array_equal(robot.joints[0].parent_from_joint[:3, 2], [0, 0, -1])
    assert set(np.abs(robot.joints[0].parent_from_joint[:3, :3]).ravel()) == {0.0, 1.0}
    frame = robot.frame("one")
    np.testing.assert_array_equal(frame.link_from_frame[:3, :3] @ [0, -1, 0], [0, 0, 1])


def test_oblique_axis_becomes_z(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path)
    axis = robot.frame("one").link_from_frame[:3, :3] @ [0, 0.6, 0.8]
    np.testing.assert_allclose(robot.joints[1].parent_from_joint[:3, 2], axis, atol=1e-15)


def test_fixed_link_is_merged_and_stays_as_frame(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path)
    assert [link.name for link in robot.links] == ["one", "two", "left", "right"]
    two = robot.links[1].inertia
    assert two.mass == 1.5
    place = robot.frame("two").link_from_frame @ [0, 0, 0.5 / 1.5 * 0.2, 1]
    np.testing.assert_allclose(two.com, place[:3], atol=1e-15)
    assert robot.frame("sensor").link == 1


def test_inertia_is_turned_from_its_own_origin(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path)
    frame = robot.frame("one").link_from_frame
    in_link_frame = robot.links[0].inertia.moved(np.linalg.inv(frame))
    np.testing.assert_allclose(in_link_frame.com, [0, 0.1, 0], atol=1e-15)
    np.testing.assert_allclose(in_link_frame.tensor_about_com, np.diag([0.2, 0.1, 0.25]), atol=1e-15)


def test_dynamics_and_limits(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path)
    assert (robot.joints[0].viscous, robot.joints[0].coulomb, robot.joints[0].rotor_inertia) == (0.4, 0.3, None)
    assert vars(robot.joints[0].limits) == {"lower": -1.0, "upper": 2.0, "velocity": 3.0, "effort": 40.0}
    continuous = robot.joints[1].limits
    assert (continuous.lower, continuous.upper, continuous.velocity) == (-np.inf, np.inf, 2.0)


def test_mimic_joint_follows(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path)
    assert robot.joint_names == ("j1", "j2", "grip")
    assert robot.closure is not None
    np.testing.assert_array_equal(robot.closure.F[3], [0, 0, 2])
    assert robot.closure.offset[3] == 0.01


def test_followers_of_followers_are_resolved(tmp_path: Path) -> None:
    text = ROBOT.replace('<child link="left"/>', '<child link="left"/><mimic joint="j1" multiplier="-3" offset="0.1"/>')
    robot = load_text(text, tmp_path)
    assert robot.joint_names == ("j1", "j2")
    assert robot.closure is not None
    np.testing.assert_allclose(robot.closure.F[2:, 0], [-3, -6])
    np.testing.assert_allclose(robot.closure.offset[2:], [0.1, 0.21])


def test_locking_the_leader_locks_its_follower_and_keeps_the_mass(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path, tip="sensor", lock={"grip": 0.05})
    assert robot.is_chain
    assert robot.tip == "sensor"
    assert robot.links[1].inertia.mass == pytest.approx(1.7)
    follower = robot.frame("two").link_from_frame @ [-(2 * 0.05 + 0.01), 0, 0, 1]
    np.testing.assert_allclose((robot.frame("right").link_from_frame @ [0, 0, 0, 1])[:3], follower[:3], atol=1e-15)


def test_tip_leaves_out_what_other_joints_carry(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path, tip="sensor")
    assert robot.is_chain
    assert robot.joint_names == ("j1", "j2")
    assert robot.links[1].inertia.mass == 1.5


def test_design_example_of_the_panda() -> None:
    robot = tf.load(urdf("panda"), tip="panda_link8", lock={"panda_finger_joint1": 0.0})
    assert robot.joint_names == tuple(f"panda_joint{i}" for i in range(1, 8))
    without_fingers = tf.load(urdf("panda"), tip="panda_link8")
    assert robot.links[6].inertia.mass > without_fingers.links[6].inertia.mass


def test_xacro_is_expanded(tmp_path: Path) -> None:
    text = ROBOT.replace(
        '<robot name="sample">',
        '<robot name="sample" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="7"/>',
    ).replace('<mass value="2"/>', '<mass value="${m / 2}"/>')
    assert load_text(text, tmp_path, "sample.xacro").links[0].inertia.mass == 3.5


def test_xml_suffix_is_read_by_its_root_tag(tmp_path: Path) -> None:
    assert load_text(ROBOT, tmp_path, "sample.xml").name == "sample"


def test_mimic_of_nothing_warns_and_is_independent() -> None:
    with pytest.warns(UserWarning, match="joints .*'Left_index_q2'.* mimic joints that"):
        robot = tf.load(urdf("alex_psyonic_hands"))
    assert "Left_index_q2" in robot.joint_names


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        ("</robot>", "", DescriptionError, "not XML"),
        ('type="continuous"', 'type="floating"', DescriptionError, "joint 'j2' is of type 'floating'"),
        ('type="continuous"', 'type="planar"', DescriptionError, "joint 'j2' is of type 'planar'"),
        ('<mass value="2"/>', '<mass value="-2"/>', DescriptionError, r"link 'one': .*negative mass \(-2 kg\)"),
        ('<mass value="2"/>', '<mass value="nan"/>', DescriptionError, "link 'one': expected a finite number"),
        ('<mass value="2"/>', '<mass value="2 kg"/>', DescriptionError, "link 'one'.*<mass value='2 kg'>"),
        ('<axis xyz="0 0.6 0.8"/>', '<axis xyz="0 0.6"/>', DescriptionError, "joint 'j2': expected 3 finite numbers"),
        ('friction="0.3"', 'friction="nan"', DescriptionError, "joint 'j1'.*<dynamics friction='nan'>"),
        ('<link name="left"/>', '<link name="left"/><link name="left"/>', DescriptionError, "'left' is used twice"),
        ('<child link="left"/>', "", DescriptionError, "joint 'grip': <joint> lacks <child>"),
        ('type="continuous"', "", DescriptionError, "joint 'j2': <joint> lacks 'type'"),
        ('<robot name="sample">', "<robot>", DescriptionError, "<robot> has no name"),
        ('<axis xyz="0 0.6 0.8"/>', '<axis xyz="0 0 0"/>', DescriptionError, "joint 'j2': axis"),
        ('<child link="sensor"/>', '<child link="one"/>', DescriptionError, "link 'one' has two parents.*closed loop"),
        ('<parent link="base"/>', '<parent link="sensor"/>', DescriptionError, "closed loop"),
        ('<link name="left"/>', '<link name="left"/><link name="alone"/>', DescriptionError, "both have no parent"),
        (
            '<child link="left"/>',
            '<child link="lef"/>',
            UnknownNameError,
            "joint 'grip': link 'lef'.*did you mean 'left'",
        ),
        ('<mimic joint="grip"', '<mimic joint="follow"', DescriptionError, "'follow' mimics itself"),
        ('<robot name="sample">', '<robot name="sample"><joint/>', DescriptionError, "<joint> number 1 has no name"),
    ],
)
def test_bad_urdf_names_place_and_file(
    old: str, new: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    assert old in ROBOT
    with pytest.raises(error, match=message) as caught:
        load_text(ROBOT.replace(old, new), tmp_path)
    assert str(caught.value).startswith("sample.urdf: ")


@pytest.mark.parametrize("text", ["this is no XML", "", "<robot name='r'>", "<html></html>", "<robot name='r'/>"])
def test_other_contents_are_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"sample\.urdf"):
        load_text(text, tmp_path)


@pytest.mark.parametrize("name", ["robot.urdf", "robot.xml"])
@pytest.mark.parametrize("encoding", ["bogus", "utf-32"])
def test_an_unknown_encoding_is_named(name: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(f'<?xml version="1.0" encoding="{encoding}"?><robot name="r"/>')
    with pytest.raises(DescriptionError, match=rf"{name}: its encoding cannot be read .*; save it as UTF-8"):
        tf.load(tmp_path / name)


def test_bad_xacro(tmp_path: Path) -> None:
    text = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="${missing}"/></robot>'
    with pytest.raises(DescriptionError, match=r"r\.xacro: xacro cannot expand it"):
        load_text(text, tmp_path, "r.xacro")


def test_zero_mass_link_is_fine(tmp_path: Path) -> None:
    robot = load_text(ROBOT, tmp_path)
    assert robot.links[2].inertia.mass == 0
    assert np.isfinite(tf.inverse_dynamics(robot, *np.ones((3, 3)))).all()


@pytest.mark.parametrize(
    ("module", "suffix", "extra"),
    [("xacro", "xacro", "urdf"), ("yaml", "xacro", "urdf"), ("mujoco", "xml", "mjcf")],
)
def test_missing_reader_names_the_extra(
    module: str, suffix: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    path = tmp_path / f"r.{suffix}"
    path.write_text("<mujoco/>" if suffix == "xml" else ROBOT)
    with pytest.raises(MissingExtraError, match=rf"pip install tauform\[{extra}\]"):
        tf.load(path)
