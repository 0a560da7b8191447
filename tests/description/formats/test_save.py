"""Saved robots: what a URDF says in another way or not at all is told, and what cannot be saved is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import tauform as tf
from tauform.description.joint import Frame
from tauform.description.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from tauform.description.transform import rotation_rpy, rpy_of
from tauform.errors import DescriptionError

ANCHORED = """
<mujoco><worldbody><body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0" pos="0.3 0 0.1"/>
<geom type="capsule" size="0.05 0.2"/><inertial pos="0.1 0 0" mass="2" diaginertia="0.1 0.2 0.3"/>
</body></worldbody></mujoco>
"""


def torque(robot: tf.Robot) -> np.ndarray:
    return tf.inverse_dynamics(robot, *np.random.default_rng(0).normal(size=(3, 20, robot.n_joints)))


def test_torques_of_everything_a_urdf_holds_survive(tmp_path: Path) -> None:
    robot = tf.random_robot("RPRRP", seed=3, branching=0.5)
    held = replace(robot, joints=tuple(replace(j, rotor_inertia=None, offset=0.0) for j in robot.joints), tip=None)
    about = held.save(tmp_path / "robot.urdf")
    assert about.findings == ()
    np.testing.assert_allclose(torque(tf.load(about.path)), torque(held), rtol=1e-12)


def test_findings_are_returned_and_stand_in_the_file(tmp_path: Path) -> None:
    robot = tf.random_robot("RPR", seed=3).with_gravity([0, -9.81, 0]).with_payload(tf.Inertia.of(1.0, [0.1, 0, 0]))
    about = robot.save(tmp_path / "robot.urdf")
    text = about.path.read_text()
    for words in (
        r"rotor inertias (Ia_1 = ",
        "friction offsets (Fo_1 = ",
        "give (0, -9.81, 0) when you load it",
        "payload at",
    ):
        assert any(words in finding for finding in about.findings)
        assert words in text
    assert str(about).startswith(str(about.path))
    again = tf.load(about.path, gravity=[0, -9.81, 0])
    np.testing.assert_allclose(again.parameters[:30], robot.parameters[:30], rtol=0, atol=1e-12)


def test_joint_that_follows_two_is_free_until_it_is_related_again(tmp_path: Path) -> None:
    robot = tf.load("parallelogram")
    about = robot.save(tmp_path / "robot.urdf")
    assert any("'elbow', which is -1 shoulder +1 crank +3.14159, is free here" in text for text in about.findings)
    relations = {"elbow": {"shoulder": -1.0, "crank": 1.0, "": "pi"}, "coupler": {"shoulder": 1.0, "crank": -1.0}}
    again = tf.load(about.path)
    assert again.n_joints == 5
    rigid = [r.with_parameters([*r.parameters[:50], *np.zeros(20)]) for r in (again.with_relations(relations), robot)]
    np.testing.assert_allclose(torque(rigid[0]), torque(rigid[1]), rtol=0, atol=1e-10)


def test_followers_and_constants_become_mimic(tmp_path: Path) -> None:
    robot = tf.planar_chain(4).with_relations({"joint2": {"joint1": -0.5, "": 0.3}, "joint4": {"": 0.7}})
    again = tf.load(robot.save(tmp_path / "robot.urdf").path, gravity=robot.gravity)
    assert again.joint_names == robot.joint_names == ("joint1", "joint3")
    np.testing.assert_allclose(torque(again), torque(robot), rtol=0, atol=1e-12)


def test_link_that_turns_beside_its_own_frame_keeps_that_frame(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    source = tmp_path / "robot.xml"
    source.write_text(ANCHORED)
    robot = tf.load(source)
    about = robot.save(tmp_path / "robot.urdf")
    again = tf.load(about.path)
    assert any("is called 'arm_at_joint' and 'arm' is fixed to it" in text for text in about.findings)
    assert any("collision shapes of arm are missing" in text for text in about.findings)
    np.testing.assert_allclose(torque(again), torque(robot), rtol=0, atol=1e-12)
    ours, back = (tf.forward_kinematics(r, [0.4], "arm") for r in (robot, again))
    np.testing.assert_allclose(back, ours, rtol=0, atol=1e-14)


def test_joints_that_are_not_depth_first_are_named(tmp_path: Path) -> None:
    base = tf.planar_chain(3)
    parents = (-1, -1, 0)
    robot = replace(base, joints=tuple(replace(j, parent=p) for j, p in zip(base.joints, parents, strict=True)))
    about = robot.save(tmp_path / "robot.urdf")
    assert "joints of a URDF are read depth first: joint1, joint3, joint2" in about.findings
    assert tf.load(about.path).joint_names == ("joint1", "joint3", "joint2")


def test_shapes_come_along_and_meshes_are_named_from_the_file(tmp_path: Path) -> None:
    mesh = tmp_path / "meshes" / "link.stl"
    place = np.eye(4)
    place[:3] = [[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, 0.3]]
    solids = [Box((0.1, 0.2, 0.3)), Cylinder(0.1, 0.2), Sphere(0.1), Mesh(str(mesh), (2.0, 2.0, 1.0))]
    robot = replace(tf.planar_chain(2), shapes=tuple(Shape("link2", place, solid) for solid in solids))
    path = robot.save(tmp_path / "robot.urdf").path
    assert 'filename="meshes/link.stl"' in path.read_text()
    again = tf.load(path)
    assert [shape.solid for shape in again.shapes] == solids
    for shape in again.shapes:
        np.testing.assert_allclose(shape.frame_from_shape, place, rtol=0, atol=1e-15)
    assert robot.save(tmp_path / "robot.toml").findings == ("TOML describes dynamics; 4 collision shapes are left out",)
    capsule = replace(robot, shapes=(Shape("link1", place, Capsule(0.1, 0.2)),)).save(path)
    assert any("no capsules and hulls, so collision shapes of link1 are missing" in text for text in capsule.findings)


def test_names_that_are_taken_are_avoided(tmp_path: Path) -> None:
    frames = (Frame("base", 0, np.eye(4)), Frame("payload", 1, np.eye(4)), Frame("payload", 0, np.eye(4)))
    robot = replace(tf.planar_chain(2), frames=frames, tip=None).with_payload(tf.Inertia.of(1.0), "payload")
    path = robot.save(tmp_path / "robot.urdf").path
    links = [link.get("name") for link in ElementTree.parse(path).getroot().findall("link")]
    assert links == ["base_", "link1", "link2", "base", "payload", "payload_"]
    assert tf.load(path).frame("payload").link == 1


@pytest.mark.parametrize("pitch", [0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1e-9 - np.pi / 2])
def test_angles_of_a_rotation_give_it_back_at_every_pitch(pitch: float) -> None:
    T = rotation_rpy([0.4, pitch, -1.1])
    np.testing.assert_allclose(rotation_rpy(rpy_of(T)), T, rtol=0, atol=4e-16)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("robot.json", r"robot\.json: the name of a saved robot ends in \.toml or \.urdf; give it that end$"),
        ("robot", "ends in"),
        ("no/such/folder/robot.urdf", "the folder .*no/such/folder does not exist; create it first$"),
        ("taken.toml", r"taken\.toml: cannot be written \(Is a directory\)"),
    ],
)
def test_file_that_cannot_be_written_is_named_with_its_cause(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "taken.toml").mkdir()
    with pytest.raises(DescriptionError, match=message):
        tf.load("two_link").save(tmp_path / name)


@pytest.mark.parametrize("name", ["puma260_izaguirre", "puma560_gautier"])
def test_virtual_links_are_refused_as_urdf(name: str, tmp_path: Path) -> None:
    with pytest.raises(DescriptionError, match=r"link 'link\d': a virtual body .* save it as \.toml"):
        tf.load(name).save(tmp_path / "robot.urdf")
    assert not (tmp_path / "robot.urdf").exists()
