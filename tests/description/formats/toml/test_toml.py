"""TOML: what is saved loads back bit for bit, and a mistake in a file is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from real_robots import urdf
from tauform.errors import DescriptionError, ShapeError, UnknownNameError

ROW = """
name = "one"
convention = "standard"
[[row]]
joint = "revolute"
a = 0.5
alpha = "pi/2"
d = 0.1
mass = 2.0
com = [0.1, 0.0, 0.0]
inertia = [0.1, 0.1, 0.1, 0.0, 0.0, 0.0]
inertia_about = "com"
"""
FRAMES = """
convention = "frames"
[[joint]]
name = "j"
kind = "revolute"
link = "l"
xyz = [0.0, 0.0, 1.0]
rpy = [0.0, "pi/2", 0.0]
mass = 1.0
"""

LENGTHS = 'lengths = [{{ name = "a", value = {}, direction = [1, 0, 0] }}]'


def load_text(text: str, folder: Path) -> tf.Robot:
    path = folder / "robot.toml"
    path.write_text(text)
    return tf.load(path)


def robots() -> list[tf.Robot]:
    payload = tf.Inertia.of(1.5, [0.1, 0.0, 0.2], [0.01, 0.02, 0.02, 0.0, 0.0, 0.0], inertia_about="com")
    return [
        tf.load("sr6ia").with_payload(payload),
        tf.load("puma260_izaguirre"),
        tf.load("parallelogram"),
        tf.random_robot(9, seed=1, branching=0.4),
        tf.load(urdf("panda")),
    ]


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_saved_robot_loads_back_bit_for_bit(robot: tf.Robot, tmp_path: Path) -> None:
    path = tmp_path / "saved.toml"
    robot.save(path)
    again = tf.load(path)
    np.testing.assert_array_equal(again.parameters, robot.parameters)
    assert again.joint_names == robot.joint_names
    assert (again.name, again.tip) == (robot.name, robot.tip)
    for ours, theirs in zip(again.joints, robot.joints, strict=True):
        assert (ours.name, ours.kind, ours.parent, ours.limits) == (
            theirs.name,
            theirs.kind,
            theirs.parent,
            theirs.limits,
        )
        assert ours.rotor_inertia == theirs.rotor_inertia
        assert [x.name for x in ours.lengths] == [x.name for x in theirs.lengths]
        np.testing.assert_array_equal(ours.parent_from_joint, theirs.parent_from_joint)
    for ours_frame, theirs_frame in zip(again.frames, robot.frames, strict=True):
        assert (ours_frame.name, ours_frame.link) == (theirs_frame.name, theirs_frame.link)
        np.testing.assert_array_equal(ours_frame.link_from_frame, theirs_frame.link_from_frame)
    if robot.closure:
        assert again.closure is not None
        np.testing.assert_array_equal(again.closure.F, robot.closure.F)
    state = np.random.default_rng(0).normal(size=(3, robot.n_joints))
    np.testing.assert_array_equal(tf.inverse_dynamics(again, *state), tf.inverse_dynamics(robot, *state))


def test_placement_by_roll_pitch_yaw_is_exact(tmp_path: Path) -> None:
    robot = load_text(FRAMES, tmp_path)
    np.testing.assert_array_equal(robot.joints[0].parent_from_joint[:3, :3], [[0, 0, 1], [0, 1, 0], [-1, 0, 0]])


@pytest.mark.parametrize(
    ("text", "value"),
    [("pi", np.pi), ("-pi/2", -np.pi / 2), ("2*pi/3", 2 * np.pi / 3), ("1.5 pi", 1.5 * np.pi), ("0.25", 0.25)],
)
def test_multiples_of_pi(text: str, value: float, tmp_path: Path) -> None:
    robot = load_text(ROW.replace("d = 0.1", f'd = "{text}"'), tmp_path)
    assert robot.joints[0].parent_from_joint[2, 3] == value


@pytest.mark.parametrize(
    ("base", "old", "new", "error", "message"),
    [
        (ROW, "a = 0.5", "a = ", DescriptionError, "not a TOML file.*line"),
        (ROW, "a = 0.5\n", "", DescriptionError, 'DH row 1: column "a" is missing'),
        (ROW, "a = 0.5", "b = 0.5", DescriptionError, "DH row 1: unknown column 'b'"),
        (ROW, "a = 0.5", 'a = "__import__(1)"', DescriptionError, "DH row 1: a: expected a number"),
        (ROW, "a = 0.5", 'a = "pi/0"', DescriptionError, "DH row 1: a: expected a number"),
        (ROW, "a = 0.5", "a = nan", DescriptionError, "DH row 1: a: expected a finite number"),
        (ROW, '"revolute"', '"screw"', DescriptionError, "DH row 1: column \"joint\".*'screw'"),
        (ROW, '"standard"', '"craig"', DescriptionError, "convention: expected.*'craig'"),
        (ROW, 'name = "one"', "speed = 1", DescriptionError, "top level: unknown key 'speed'"),
        (ROW, "mass = 2.0", "mass = -2.0", DescriptionError, "DH row 1: mass: .* negative mass"),
        (ROW, 'inertia_about = "com"', "", DescriptionError, 'DH row 1: "inertia" needs "inertia_about"'),
        (ROW, "com = [0.1, 0.0, 0.0]", "com = [0.1, 0.0]", DescriptionError, r"DH row 1: com: expected shape \(3,\)"),
        (ROW, "mass = 2.0", "parameters = { m = 1.0, mw = 2.0 }", DescriptionError, "DH row 1: give"),
        (ROW, "[[row]]", "gravity = [0.0, 0.0]\n[[row]]", ShapeError, r"gravity: expected shape \(3,\)"),
        (ROW, "[[row]]", "[row]", DescriptionError, r"expected \[\[row\]\] tables"),
        (FRAMES, 'kind = "revolute"', 'kind = "ball"', DescriptionError, "joint 'j': kind"),
        (FRAMES, 'kind = "revolute"', 'kind = "revolute"\nparent = "x"', DescriptionError, "joint 'j': parent 'x'"),
        (FRAMES, "mass = 1.0", "weight = 1.0", DescriptionError, "joint 'j': unknown key 'weight'"),
        (FRAMES, "rpy = [", "rotation = [[1, 0, 0], [0, 1, 0], [0, 0, 2]]\nrpy = [", DescriptionError, "not both"),
        (FRAMES, "mass = 1.0", "[relations]\nk = { j = 1 }", UnknownNameError, "relations: joint 'k' does not exist"),
        (FRAMES, "mass = 1.0", "[loops]\nF = [[1.0]]", DescriptionError, "loops: 'active' is missing"),
        (FRAMES, "mass = 1.0", '[[frame]]\nname = "f"\nlink = "m"', UnknownNameError, "frame 'm' does not exist"),
        (FRAMES, "mass = 1.0", '[payload]\nframe = "m"\nmass = 1', UnknownNameError, "frame 'm' does not exist"),
        (FRAMES, FRAMES, 'convention = "frames"', DescriptionError, "has no moving joint"),
        (FRAMES, 'rpy = [0.0, "pi/2", 0.0]', "rpy = 1.0", DescriptionError, "joint 'j': rpy: expected three angles"),
        (FRAMES, "mass = 1.0", "lengths = 3", DescriptionError, r"joint 'j': lengths: expected \[\[lengths\]\] tables"),
        (FRAMES, "mass = 1.0", LENGTHS.format('"x"'), DescriptionError, "joint 'j': value: expected a number"),
        (FRAMES, "[[joint]]", "loops = 3\n[[joint]]", DescriptionError, "loops: expected a table of active, F, offset"),
        (FRAMES, "[[joint]]", "payload = 3\n[[joint]]", DescriptionError, "payload: expected a table of frame, mass"),
        (FRAMES, FRAMES, "a = " + "[" * 3000 + "]" * 3000, DescriptionError, "nested too deeply"),
    ],
)
def test_bad_file_names_file_and_place(
    base: str, old: str, new: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    assert old in base
    with pytest.raises(error, match=message) as caught:
        load_text(base.replace(old, new), tmp_path)
    assert str(caught.value).startswith("robot.toml: ")


@pytest.mark.parametrize("name", ["arm \U0001f600", "a\x7fb", 'a\tb"\\', "\u00e9\u4e2d", "a\nb\x00"])
def test_any_name_survives(name: str, tmp_path: Path) -> None:
    robot = replace(tf.planar_chain(1), name=name)
    robot.save(tmp_path / "robot.toml")
    assert tf.load(tmp_path / "robot.toml").name == name


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    """Editors of Windows put one before UTF-8."""
    text = tf.load("two_link").save(tmp_path / "plain.toml").path.read_text(encoding="utf-8")
    (tmp_path / "marked.toml").write_text(text, encoding="utf-8-sig")
    assert tf.load(tmp_path / "marked.toml") == tf.load(tmp_path / "plain.toml")
