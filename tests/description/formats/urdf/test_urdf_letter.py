"""URDF is read by its letter: what has no default is refused where it is absent, what is not read is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import tauform as tf
from tauform.errors import DescriptionError

ROBOT = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.1 0 0.02" rpy="0.3 0 0"/><mass value="2"/>
    <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.025"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.2 0.05 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0.002" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="0.1 0.2 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="10" velocity="3"/></joint>
  <joint name="elbow" type="prismatic"><parent link="upper"/><child link="fore"/>
    <origin xyz="0.4 0 0" rpy="0.4 0 0"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" effort="10" velocity="3"/></joint>
</robot>
"""
INERTIA = '<inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.025"/>'


def load_text(text: str, folder: Path, name: str = "arm.urdf") -> tf.Robot:
    path = folder / name
    path.write_text(text)
    return tf.load(path)


def pinocchio_torque(text: str, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    model = pin.buildModelFromXML(text)
    return np.asarray(pin.rnea(model, model.createData(), q, qd, qdd))


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_quaternions_of_newer_versions_turn_as_pinocchio_turns_them(version: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for _ in range(5):
        x, y, z, w = rng.normal(size=4)  # of any length
        text = ROBOT.replace('name="arm"', f'name="arm" version="{version}"')
        text = text.replace('rpy="0.4 0 0"', f'quat_xyzw="{x} {y} {z} {w}"')
        text = text.replace('rpy="0.3 0 0"', f'quat_xyzw="{z} {w} {x} {y}"')
        q, qd, qdd = rng.normal(size=(3, 2))
        torque = tf.inverse_dynamics(load_text(text, tmp_path), q, qd, qdd)
        np.testing.assert_allclose(torque, pinocchio_torque(text, q, qd, qdd), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "version", ["1.0", "1.1", "1.2", "1.3", "2.0", "1", "1.0.0", "", "abc", "1.10", "-1.0", "1.0 "]
)
def test_versions_that_urdfdom_refuses_are_refused(version: str, tmp_path: Path) -> None:
    text = ROBOT.replace('name="arm"', f'name="arm" version="{version}"')
    try:
        pin.buildModelFromXML(text)
    except ValueError:
        with pytest.raises(DescriptionError, match=r"URDF version .* is not supported; known are 1.0, 1.1, 1.2"):
            load_text(text, tmp_path)
    else:
        assert load_text(text, tmp_path).n_joints == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('rpy="0.4 0 0"', 'quat_xyzw="0 0 0 1"', 'quat_xyzw=.* needs <robot version="1.1">'),
        (INERTIA, "", "link 'upper': <inertial> lacks <inertia>; add it"),
        (INERTIA, "<inertia/>", "link 'upper': <inertia> lacks 'ixx', which has no default"),
        ('izz="0.025"', "", "link 'upper': <inertia> lacks 'izz'"),
        ('izz="0.025"', 'izzz="0.025"', "link 'upper': <inertia> lacks 'izz'; is 'izzz' it?"),
        ('<mass value="2"/>', "", "link 'upper': <inertial> lacks <mass>"),
        ('<mass value="2"/>', '<Mass value="2"/>', "link 'upper': <inertial> lacks <mass>; is <Mass> it?"),
        ('<mass value="2"/>', "<mass/>", "link 'upper': <mass> lacks 'value'"),
        ('<mass value="2"/>', '<mass value="2" unit="g"/>', "link 'upper': <mass unit=...> is not part of URDF"),
        ('<mass value="2"/>', '<mass value="2"/><mass value="3"/>', "link 'upper': <mass> stands 2 times"),
        ('<mass value="2"/>', '<mass value="2_0"/>', "expected a finite number in <mass value='2_0'>"),
        ('<mass value="2"/>', '<mass value="２"/>', "expected a finite number in <mass"),
        ('<link name="base"/>', '<link name="base"><mass value="1"/></link>', "<mass> stands outside of <inertial>"),
        ('<link name="base"/>', '<link name="base"><Inertial/></link>', "<Inertial> .*; did you mean 'inertial'"),
        ('<link name="base"/>', '<link name="base"/><robot name="b"/>', "a second <robot> stands in it"),
        ('<link name="base"/>', '<link name="base"/><inertial/>', "<inertial> stands outside of any link"),
        ('<link name="base"/>', '<link name="base"/><Joint name="x"/>', "<Joint> .*; did you mean <joint>"),
        ('<link name="base"/>', '<link name="base"/><xacro:macro name="m"/>', "<xacro:macro>.*name the file .xacro"),
        (
            '<origin xyz="0.4 0 0" rpy="0.4 0 0"/>',
            '<orgin xyz="0.4 0 0"/>',
            "'elbow': <orgin> .*; did you mean 'origin'",
        ),
        ('rpy="0.4 0 0"', 'ryp="0.4 0 0"', "'elbow': <origin ryp=...> .*; did you mean 'rpy'"),
        ('rpy="0.4 0 0"', 'quaternion="0 0 0 1"', "'elbow': <origin quaternion=...> .*; (did you mean|remove it)"),
        ('rpy="0.4 0 0"', 'rpy="90 0 0"', "'elbow': origin rpy = 90 is more than two turns; angles are in radians"),
        ('rpy="0.3 0 0"', 'rpy="0 0 -90"', "'upper': origin rpy = -90 is more than two turns"),
        ('<axis xyz="0 0 1"/>', "<axis/>", "'elbow': <axis> lacks 'xyz'"),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><axis xyz="0 1 0"/>', "'elbow': <axis> stands 2 times"),
        ('<axis xyz="0 0 1"/>', '<axes xyz="0 0 1"/>', "'elbow': <axes> .*; did you mean 'axis'"),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic multiplier="2"/>', "'elbow': <mimic> lacks 'joint'"),
        (
            '<axis xyz="0 0 1"/>',
            '<axis xyz="0 0 1"/><dynamics dampning="2"/>',
            "'elbow': <dynamics dampning=...> .*; did you mean 'damping'",
        ),
    ],
)
def test_what_the_letter_forbids_is_refused_by_name(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in ROBOT
    with pytest.raises(DescriptionError, match=rf"\Aarm\.urdf: .*{message}"):
        load_text(ROBOT.replace(old, new), tmp_path)


def test_both_orientations_and_none_are_refused(tmp_path: Path) -> None:
    newer = ROBOT.replace('name="arm"', 'name="arm" version="1.1"')
    with pytest.raises(DescriptionError, match="'elbow': <origin> gives both rpy and quat_xyzw"):
        load_text(newer.replace('rpy="0.4 0 0"', 'rpy="0.4 0 0" quat_xyzw="0 0 0 1"'), tmp_path)
    with pytest.raises(DescriptionError, match=r"'elbow': origin quat_xyzw: .* has no direction"):
        load_text(newer.replace('rpy="0.4 0 0"', 'quat_xyzw="0 0 0 0"'), tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ('<axis xyz="0 0 1"/>', "", "joint 'elbow': no <axis>: read as x, URDF's default"),
        ('<limit lower="0" upper="1" effort="10" velocity="3"/>', "", "joint 'elbow': no <limit>: read as unlimited"),
        ('lower="0" upper="1" ', "", "joint 'elbow': no lower and upper in <limit>: read as 0"),
        (' effort="10" velocity="3"', "", "joints 'shoulder', 'elbow': no velocity in <limit>: read as unlimited"),
        ('rpy="0.4 0 0"', 'rpy="10 0 0"', "joint 'elbow': an angle of its rpy is more than a turn"),
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1" rpy="1 0 0"/>', "joint 'elbow': <axis> holds 'rpy'"),
        (
            '<axis xyz="0 0 1"/>',
            '<axis xyz="0 0 1"/><dynamics damping="1" D="1" K="7000"/>',
            "joint 'elbow': <dynamics> holds 'D', 'K', which are not part of URDF and not read",
        ),
        ('<link name="base"/>', '<link name="base"><gravity>0</gravity></link>', "link 'base': <link> holds <gravity>"),
    ],
)
def test_check_says_what_was_defaulted_or_not_read(old: str, new: str, finding: str, tmp_path: Path) -> None:
    assert old in ROBOT
    assert load_text(ROBOT, tmp_path).check() == []
    robot = load_text(ROBOT.replace(old, new), tmp_path)
    assert any(str(found).startswith(finding) for found in robot.check()), [str(found) for found in robot.check()]


def test_a_moving_link_without_mass_is_said(tmp_path: Path) -> None:
    inertial = ROBOT[ROBOT.index("<inertial>") : ROBOT.index("</inertial>") + len("</inertial>")]
    robot = load_text(ROBOT.replace(inertial, ""), tmp_path)
    assert str(robot.check()[0]).startswith("link 'upper': no <inertial>: read as massless")


def test_what_the_reader_noted_is_no_part_of_what_the_robot_is(tmp_path: Path) -> None:
    plain = load_text(ROBOT, tmp_path)
    noted = load_text(ROBOT.replace('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1" rpy="1 0 0"/>'), tmp_path)
    assert noted.notes
    assert noted == plain
    assert hash(noted) == hash(plain)
    assert noted.snapped(1e-6).notes == noted.notes


def test_other_tools_own_elements_stay_allowed(tmp_path: Path) -> None:
    # Prefixes that are declared nowhere stand in many files of simulators.
    extras = '<gazebo reference="x"><mu1>1</mu1></gazebo><transmission name="t"/><drake:joint/><ros2_control/>'
    (finding,) = load_text(ROBOT.replace("</robot>", extras + "</robot>"), tmp_path).check()
    assert "<drake:joint>, which is not part of URDF and is not read" in str(finding)


SIMULATED = {
    "<gazebo reference='elbow'><springStiffness>30</springStiffness></gazebo>": "'elbow': holds <springStiffness>",
    "<gazebo reference='elbow'><implicitSpringDamper value='1'/></gazebo>": "<implicitSpringDamper>",
    "<gazebo reference='fore'><dampingFactor>0.01</dampingFactor></gazebo>": "'fore': holds <dampingFactor>",
    "<gazebo reference='fore'><turnGravityOff>true</turnGravityOff></gazebo>": "<turnGravityOff>",
    "<gazebo reference='fore'><gravity>1</gravity></gazebo>": "<gravity>",
    "<gazebo reference='elbow'><axis><dynamics><spring_stiffness>1</spring_stiffness></dynamics></axis></gazebo>": (
        "<spring_stiffness>"
    ),
    "<gazebo reference='fore'><inertial><mass>3</mass></inertial></gazebo>": "<mass>",
    "<gazebo><joint name='loop' type='revolute'><parent>base</parent></joint></gazebo>": "'arm': holds <joint>",
    "<gazebo><plugin name='p' filename='libmimic_joint.so'/></gazebo>": "<plugin> libmimic_joint.so p",
    "<transmission name='t'><actuator name='m'><drake:rotor_inertia value='1'/></actuator></transmission>": (
        "<drake:rotor_inertia>"
    ),
    "<drake:linear_bushing_rpy/>": "<robot>: holds <drake:linear_bushing_rpy>, which is not part of URDF and is not",
}
SILENT = (
    "<gazebo reference='elbow'><springStiffness>0.0</springStiffness><springReference>0</springReference></gazebo>",
    "<gazebo reference='fore'><turnGravityOff>false</turnGravityOff><mu1>0.2</mu1><kp>1e6</kp></gazebo>",
    "<gazebo reference='fore'><collision><surface><friction><ode/></friction></surface></collision></gazebo>",
    "<gazebo><plugin name='gazebo_ros_control' filename='lib.so'><joint>elbow</joint></plugin></gazebo>",
    "<transmission name='t'><actuator name='m'><mechanicalReduction>9</mechanicalReduction></actuator></transmission>",
)


@pytest.mark.parametrize("element", [*SIMULATED, *SILENT])
def test_what_only_simulators_read_and_motions_depend_on_is_said(element: str, tmp_path: Path) -> None:
    text = ROBOT.replace('name="arm"', 'name="arm" xmlns:drake="https://drake.mit.edu"')
    robot = load_text(text.replace("</robot>", f"{element}</robot>"), tmp_path)
    found = [str(finding) for finding in robot.check()]
    assert len(found) == (element in SIMULATED), found
    assert all(SIMULATED[element] in words and words.endswith("if the arm itself has it") for words in found), found
