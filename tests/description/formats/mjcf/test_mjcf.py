"""MJCF: read by MuJoCo, it gives the same robot as the URDF of the same arm and the torque of mj_inverse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

import tauform as tf
from real_robots import urdf
from tauform.cli import main
from tauform.description.formats.mjcf import reader
from tauform.description.formats.mjcf.reader import read_mjcf
from tauform.errors import DescriptionError

ARM = """
<mujoco model="arm">
  <compiler angle="radian" autolimits="true"/>
  <option gravity="0 0 -9.5"/>
  <worldbody>
    <body name="base" pos="0.1 0 0.2">
      <geom type="box" size="0.1 0.1 0.1"/>
      <body name="shoulder" pos="0 0 0.3" quat="0.8 0.6 0 0">
        <joint name="a" axis="0 1 0" pos="0.02 0 0.01" armature="0.3" damping="0.7" frictionloss="0.2" range="-2 1"/>
        <joint name="b" axis="1 0 0" ref="0.4"/>
        <joint name="c" type="slide" axis="0 0.6 -0.8"/>
        <inertial mass="2" pos="0.1 0.02 0.3" fullinertia="0.03 0.04 0.05 0.001 0.002 0.003"/>
        <body name="plate" pos="0.1 0.2 0.3" euler="0.1 0.2 0.3">
          <inertial mass="0.5" pos="0 0 0.1" diaginertia="0.01 0.01 0.01"/>
          <body name="wrist" pos="0 0 0.4">
            <joint name="d" axis="0 0 -1" armature="0.01"/>
            <inertial mass="0.7" pos="0.05 0 0" diaginertia="0.01 0.011 0.012"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""

TENDON = '<tendon><fixed name="t" {}><joint joint="d" coef="1"/></fixed></tendon></mujoco>'


def load_text(text: str, folder: Path) -> tf.Robot:
    path = folder / "model.xml"
    path.write_text(text)
    return tf.load(path)


def mujoco_torque(model: mujoco.MjModel, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """mj_inverse without its constraint forces (limits, contacts, friction loss)."""
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    mujoco.mj_inverse(model, data)
    return data.qfrc_inverse.copy()


def test_torque_equals_mj_inverse_with_several_joints_on_a_body(tmp_path: Path) -> None:
    robot = load_text(ARM, tmp_path)
    assert robot.joint_names == ("a", "b", "c", "d")
    assert [link.inertia.mass for link in robot.links] == [0.0, 0.0, 2.5, 0.7]
    model = mujoco.MjModel.from_xml_string(ARM)
    friction = np.array([0.2, 0, 0, 0])
    for q, qd, qdd in np.random.default_rng(0).normal(size=(5, 3, 4)):
        expected = mujoco_torque(model, q, qd, qdd) + friction * np.sign(qd)
        np.testing.assert_allclose(tf.inverse_dynamics(robot, q, qd, qdd), expected, rtol=0, atol=1e-11)


def test_gravity_may_be_disabled(tmp_path: Path) -> None:
    flag = '<option><flag gravity="disable"/></option>'
    robot = load_text(ARM.replace('<option gravity="0 0 -9.5"/>', flag), tmp_path)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4))
    friction = tf.friction(robot, qd) - [0.7 * qd[0], 0, 0, 0]  # constraint forces stay out
    np.testing.assert_allclose(tf.inverse_dynamics(robot, q, qd, qdd) - friction, mujoco_torque(model, q, qd, qdd))


def test_a_tendon_that_pulls_nothing_is_none(tmp_path: Path) -> None:
    assert load_text(ARM.replace("</mujoco>", TENDON.format("")), tmp_path).n_joints == 4


def test_armature_damping_and_friction_loss_belong_to_the_joint(tmp_path: Path) -> None:
    robot = load_text(ARM, tmp_path)
    assert robot.joints[0].parameters == (0.3, 0.7, 0.2, 0.0)
    assert robot.joints[1].rotor_inertia is None
    assert (robot.joints[0].limits.lower, robot.joints[0].limits.upper) == (-2.0, 1.0)
    assert robot.gravity.tolist() == [0, 0, -9.5]


@pytest.mark.parametrize("name", ["panda", "ur5_robot", "iiwa14"])
def test_mjcf_read_equals_urdf_read(name: str, tmp_path: Path) -> None:
    tree = ElementTree.parse(urdf(name))
    for link in tree.getroot().iter("link"):
        for tag in ("visual", "collision"):  # meshes are not needed, and MuJoCo would look for them
            for element in link.findall(tag):
                link.remove(element)
    bare = tmp_path / "bare.urdf"
    tree.write(bare)
    written = tmp_path / "converted.xml"
    written.write_text(mujoco.MjSpec.from_file(str(bare)).to_xml())
    ours = replace(tf.load(bare), closure=None)
    q, qd, qdd = np.random.default_rng(4).normal(size=(3, 10, ours.n_joints))
    expected = tf.inverse_dynamics(ours, q, qd, qdd)
    # MuJoCo reads the URDF itself in full precision; as a file of its own it writes six digits.
    for other, tolerance in ((read_mjcf(bare), 1e-10), (tf.load(written), 1e-5)):
        assert other.n_bodies == ours.n_bodies
        torque = tf.inverse_dynamics(replace(other, closure=None), q, qd, qdd)
        assert np.abs(torque - expected).max() < tolerance * np.abs(expected).max()


def test_springs_of_joints_become_drive_terms(tmp_path: Path) -> None:
    text = ARM.replace('armature="0.01"', 'stiffness="3" springref="0.3"').replace(
        'name="c"', 'name="c" stiffness="40"'
    )
    text = text.replace('ref="0.4"', 'ref="0.4" stiffness="7" springref="-0.2" damping="0.3"')
    robot = load_text(text, tmp_path)
    springs = {robot.joints[d.joints[0]].name: (d.coefficient, d.rest) for d in robot.further_drives}
    assert springs == {"b": (7.0, -0.2), "c": (40.0, 0.0), "d": (3.0, 0.3)}
    model = mujoco.MjModel.from_xml_string(text)
    without_loss = robot.with_drives([d for d in robot.drives if d.shape != "coulomb"])
    for q, qd, qdd in np.random.default_rng(7).normal(size=(10, 3, 4)):
        expected = mujoco_torque(model, q, qd, qdd)
        assert np.abs(tf.inverse_dynamics(without_loss, q, qd, qdd) - expected).max() < 1e-12 * np.abs(expected).max()


def test_linear_joint_equality_becomes_a_relation(tmp_path: Path) -> None:
    text = ARM.replace(
        "</mujoco>", '<equality><joint joint1="d" joint2="b" polycoef="0.1 2 0 0 0"/></equality></mujoco>'
    )
    robot = load_text(text, tmp_path)
    assert robot.joint_names == ("a", "b", "c")
    assert robot.closure is not None
    # d - 0 = 0.1 + 2 (b - 0.4)
    np.testing.assert_allclose(robot.closure.F[3], [0, 2, 0])
    np.testing.assert_allclose(robot.closure.offset[3], 0.1 - 2 * 0.4)


MOTORS = """<actuator><motor joint="d" gear="-3" armature="0.5" damping="0.1"/><motor jointinparent="d" armature="0.2"/>
<position joint="a" gear="2" kp="100" kv="4" damping="0.3"/></actuator></mujoco>"""


def test_motors_add_their_rotor_and_damping_by_the_square_of_the_gear(tmp_path: Path) -> None:
    robot = load_text(ARM.replace("</mujoco>", MOTORS), tmp_path)
    assert robot.joints[3].parameters == pytest.approx((0.01 + 9 * 0.5 + 0.2, 9 * 0.1, 0, 0))
    assert robot.joints[0].parameters == pytest.approx((0.3, 0.7 + 4 * 0.3, 0.2, 0))
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "model.xml"))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4))
    expected = mujoco_torque(model, q, qd, qdd) + np.array([0.2, 0, 0, 0]) * np.sign(qd)
    np.testing.assert_allclose(tf.inverse_dynamics(robot, q, qd, qdd), expected, rtol=0, atol=1e-11)


def test_what_the_reader_does_not_know_shows_in_the_torques(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check finds springs, which the reader is made to overlook, as it would a force of a later MuJoCo."""
    monkeypatch.setattr(reader, "springs_of", lambda *_: ())
    with pytest.raises(DescriptionError, match="MuJoCo finds other torques than were read, at joint 'd'"):
        load_text(ARM.replace('armature="0.01"', 'stiffness="3"'), tmp_path)


def test_height_fields_and_copies_beyond_any_robot_are_refused_at_once(tmp_path: Path) -> None:
    field = '<asset><hfield name="h" nrow="{0}" ncol="{0}" size="1 1 1 1"/></asset><worldbody>'
    floor = '<geom type="hfield" hfield="h"/>'
    assert load_text(ARM.replace("<worldbody>", field.format(50) + floor), tmp_path).n_joints == 4
    copies = '<replicate count="200"><replicate count="200"><body/></replicate></replicate>'
    for text in (
        ARM.replace("<worldbody>", field.format(40000) + floor),
        ARM.replace("<worldbody>", field.format(10**30) + floor),
        ARM.replace("</worldbody>", copies + "</worldbody>"),
        ARM.replace("<worldbody>", '<asset><texture builtin="flat" width="90000" height="90000"/></asset><worldbody>'),
        *(
            ARM.replace("<worldbody>", f'<size {key}="2000000000"/><worldbody>')
            for key in ("nuser_body", "nuserdata", "nkey")
        ),
        ARM.replace("</mujoco>", '<sensor><user dim="2000000000"/></sensor></mujoco>'),
        ARM.replace("</mujoco>", '<actuator><general joint="a" dyntype="user" actdim="90000000"/></actuator></mujoco>'),
    ):
        with pytest.raises(DescriptionError, match=r"model\.xml: <\w+.*> asks for .* entries, a robot needs fewer"):
            load_text(text, tmp_path)


@pytest.mark.parametrize("error", [RuntimeError("unknown exception!"), MemoryError(), ValueError("two\nlines")])
def test_whatever_mujoco_raises_is_one_sentence(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: str) -> None:
        raise error

    monkeypatch.setattr(mujoco.MjModel, "from_xml_path", fail)
    with pytest.raises(DescriptionError, match=r"\Amodel\.xml: MuJoCo cannot read it \(.*\)\Z"):
        load_text(ARM, tmp_path)


def test_a_cut_file_that_is_included_is_refused(tmp_path: Path) -> None:
    whole = '<mujoco><worldbody><body name="x"><joint name="x"/><geom size="0.1"/></body></worldbody></mujoco>'
    text = ARM.replace("</mujoco>", '<include file="more.xml"/></mujoco>')
    (tmp_path / "more.xml").write_text(whole)
    assert load_text(text, tmp_path).n_joints == 5
    for length in range(0, len(whole), 5):
        (tmp_path / "more.xml").write_text(whole[:length])
        with pytest.raises(DescriptionError, match=r"model\.xml: not XML .* \(in more\.xml\)"):
            load_text(text, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "</mujoco>",
            '<equality><joint joint1="d" joint2="b"/><joint joint1="d" joint2="a"/></equality></mujoco>',
            "joint 'd' follows in two equalities",
        ),
        (
            "</mujoco>",
            TENDON.format("").replace("</mujoco>", '<actuator><motor tendon="t" armature="1"/></actuator></mujoco>'),
            "actuator 'number 1' has armature and drives no single joint",
        ),
        (
            "</mujoco>",
            '<actuator><motor joint="d" damping="0.1 0.2"/></actuator></mujoco>',
            "a motor of joint 'd' has damping that is not linear",
        ),
        ('<joint name="d" axis="0 0 -1" armature="0.01"/>', '<joint name="d" type="ball"/>', "'wrist'.*ball joint 'd'"),
        ('<body name="base" pos="0.1 0 0.2">', '<body name="base"><freejoint name="f"/>', "'base'.*free joint 'f'"),
        ('armature="0.01"', 'stiffness="3 1"', "joint 'd' has a spring that is not linear"),
        (
            'gravity="0 0 -9.5"/>',
            '><flag spring="disable"/></option><default><joint stiffness="1"/></default>',
            "'spring'",
        ),
        ("</mujoco>", '<equality><weld name="w" body1="wrist" body2="base"/></equality></mujoco>', "'w' closes a loop"),
        ("</mujoco>", '<equality><joint joint1="d" polycoef="0 0 1 0 0"/></equality></mujoco>', "'d'.*not linear"),
        ('<body name="wrist"', '<body gravcomp="1" name="wrist"', "body 'wrist' has gravcomp"),
        ('<option gravity="0 0 -9.5"', '<option density="1.2"', "'density' lets a medium act"),
        ('<option gravity="0 0 -9.5"', '<option viscosity="1e-5"', "'viscosity' lets a medium act"),
        ("</mujoco>", TENDON.format('stiffness="30"'), "tendon 't' has stiffness"),
        ("</mujoco>", TENDON.format('damping="4"'), "tendon 't' has damping"),
        ("</mujoco>", TENDON.format('frictionloss="4"'), "tendon 't' has frictionloss"),
        ('gravity="0 0 -9.5"/>', '><flag frictionloss="disable"/></option>', "'frictionloss' disables"),
        ('mass="2"', 'mass="heavy"', "MuJoCo cannot read it"),
        ("</worldbody>", "", "not XML"),
    ],
)
def test_what_is_not_supported_is_refused(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in ARM
    with pytest.raises(DescriptionError, match=message) as caught:
        load_text(ARM.replace(old, new), tmp_path)
    assert "model.xml" in str(caught.value)


# Of each kind of warning a model: MuJoCo prints them, and writes them to MUJOCO_LOG.TXT in the working folder.
HINGES = '<joint name="a" axis="0 1 0"/><joint name="b" axis="0 1 0"/>'
LINK = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
WARNED_OF = {
    "a singular mass matrix": f"<worldbody><body>{HINGES}{LINK}</body></worldbody>",
    "an old attribute": f'<compiler settotalmass="2"/><worldbody><body>{HINGES}{LINK}</body></worldbody>',
}


@pytest.mark.parametrize("warned_of", WARNED_OF)
@pytest.mark.parametrize("verb", [["show"], ["bench", "--states", "1", "--repeats", "1"]], ids=lambda verb: verb[0])
def test_warnings_of_mujoco_leave_no_file_behind(
    verb: list[str], warned_of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tauform.cli.comparison.peers.shutil.which", lambda _: None)  # no C: it is not asked for
    (tmp_path / "m.xml").write_text(f"<mujoco>{WARNED_OF[warned_of]}</mujoco>")
    assert main([verb[0], "m.xml", *verb[1:]]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["m.xml"]
    shown = capfd.readouterr()
    assert "WARNING" not in shown.out + shown.err


def test_a_gear_whose_square_is_no_number_is_refused(tmp_path):
    body = '<body><joint name="j" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
    motor = '<actuator><motor joint="j" gear="1e200"/></actuator>'
    path = tmp_path / "arm.xml"
    path.write_text(f"<mujoco><worldbody>{body}</worldbody>{motor}</mujoco>", encoding="utf-8")
    with pytest.raises(DescriptionError, match=r"motor of joint 'j' has the gear 1e\+200"):
        tf.load(path)


def test_sites_are_frames_where_mujoco_has_them(tmp_path: Path) -> None:
    import mujoco

    path = tmp_path / "arm.xml"
    path.write_text(
        """<mujoco model="arm"><worldbody><site name="floor" pos="1 0 0"/>
        <body name="a" pos="0 0 0.1" euler="10 20 30"><joint name="j1" axis="0 1 0.2" pos="0.02 0.1 0"/>
        <geom size="0.1"/><site name="a" pos="0.1 0 0"/><site/>
        <body name="b" pos="0.3 0 0"><joint name="j2" type="slide" axis="1 0 1" ref="0.1"/><geom size="0.1"/>
        <body name="hand" pos="0 0 0.2"><geom size="0.05"/><site name="tcp" pos="0 0 0.1" euler="5 6 7"/></body>
        </body></body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    robot = tf.load(path)
    assert {"floor", "a:site", "tcp"} <= {frame.name for frame in robot.frames}
    data.qpos[:] = [0.7, 0.4]
    mujoco.mj_kinematics(model, data)
    for frame, site in (("floor", 0), ("a:site", 1), ("tcp", 3)):
        found = tf.forward_kinematics(robot, [0.7, 0.4], frame)
        assert np.abs(found[:3, 3] - data.site_xpos[site]).max() < 1e-12
        assert np.abs(found[:3, :3] - data.site_xmat[site].reshape(3, 3)).max() < 1e-12


def test_a_geom_without_a_colour_has_none(tmp_path: Path) -> None:
    """MuJoCo fills in a grey that pages would take for the description's own."""
    file = tmp_path / "colours.xml"
    file.write_text(
        '<mujoco><asset><material name="grey" rgba=".5 .5 .5 1"/></asset><worldbody><body><joint type="hinge"/>'
        '<geom size=".1"/><geom size=".1" rgba="1 0 0 1"/><geom size=".1" material="grey"/></body></worldbody></mujoco>'
    )
    assert [shape.colour for shape in tf.load(file).visuals] == [None, (1.0, 0.0, 0.0), (0.5, 0.5, 0.5)]
