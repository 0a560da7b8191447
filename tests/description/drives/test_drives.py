"""Drive terms in descriptions: files, changes of the robot, names, units, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from random_drives import FURTHER, random_temperatures, with_random_drives
from random_robots import random_states, random_tree
from tauform.description.drives import SHAPES, CoupledCoulomb, End, PointSpring, Smooth, Stribeck
from tauform.errors import DescriptionError, TauformError, UnknownNameError

SPRING_ENDS = (End(-1, (0.1, 0.0, 0.2)), End(1, (0.0, 0.3, 0.0)))


def loaded_tree(seed: int = 3) -> tf.Robot:
    return with_random_drives(random_tree(6, seed), seed)


def same_torque(one: tf.Robot, other: tf.Robot) -> bool:
    q, qd, qdd = random_states(one, 10, 1)
    T = random_temperatures(one, 10, 2)
    return np.array_equal(tf.inverse_dynamics(one, q, qd, qdd, T), tf.inverse_dynamics(other, q, qd, qdd, T))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_toml_holds_every_term_bit_for_bit(seed: int, tmp_path: Path) -> None:
    robot = loaded_tree(seed)
    assert {term.shape for term in robot.further_drives} >= set(FURTHER) - {"sine", "cosine"}
    path = tmp_path / "arm.toml"
    assert not robot.save(path).findings
    again = tf.load(path)
    assert again == robot
    assert again.drives == robot.drives
    assert same_torque(robot, again)


def test_urdf_says_which_terms_are_lost(tmp_path: Path) -> None:
    robot = loaded_tree()
    findings = " ".join(robot.save(tmp_path / "arm.urdf").findings)
    for name in robot.layout.names[robot.layout.further]:
        assert name in findings
    assert "widths of Coulomb friction" in findings
    assert not tf.load(tmp_path / "arm.urdf").further_drives


def test_names_are_kind_joints_and_width() -> None:
    robot = tf.random_robot("RRRRRR", 0)
    terms = [
        tf.Drive.of("stiffness", 2, 1.0),
        tf.Drive.of("smooth", 1, 1.0, width=0.05),
        tf.Drive.of("stribeck", 1, 1.0, width=0.0123456),
        tf.Drive.of("coupled_inertia", (4, 5), 0.01),
        tf.Drive.of("coupled_coulomb", (4, 5), 0.01, width=0.2),
        tf.Drive.of("spring", ends=SPRING_ENDS, label="left"),
    ]
    names = robot.with_drives([*robot.drives, *terms]).layout.names
    assert names[-6:] == ("K_3", "Fs_2@0.05", "Fb_2@0.0123", "Iam_5_6", "Fcm_5_6", "Kp_1_2@left")
    assert names[:-6] == robot.layout.names


def test_locking_keeps_the_torque_of_the_joints_that_move() -> None:
    """The locked robot does what the whole one does where the locked joints rest at their positions."""
    robot = with_random_drives(random_tree(6, 8, prismatic=0.0), 8)
    for name in (robot.joint_names[1], robot.joint_names[4]):
        at = 0.37
        fixed = robot.locked({name: at})
        free = [k for k, own in enumerate(robot.joint_names) if own != name]
        q, qd, qdd = random_states(fixed, 10, 3)
        T = random_temperatures(fixed, 10, 4)
        whole = [np.zeros((10, robot.n_joints)) for _ in range(4)]
        for vector, part in zip(whole, (q, qd, qdd, T), strict=True):
            vector[:, free] = part
        whole[0][:, robot.joint_names.index(name)] = at
        expected = tf.inverse_dynamics(robot, *whole)[:, free]
        found = tf.inverse_dynamics(fixed, q, qd, qdd, T)
        assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


def test_friction_of_a_shaft_stays_where_one_joint_is_locked() -> None:
    plain = tf.random_robot("RRR", 5)
    for width, own_width in ((0.0, 0.0), (0.3, 0.0), (0.0, 0.4)):
        joints = tuple(replace(joint, coulomb_width=own_width) for joint in plain.joints)
        shaft = CoupledCoulomb(joints=(1, 2), coefficient=0.8, sense=-1, width=width)
        robot = replace(plain, joints=joints, further_drives=(shaft,))
        locked = robot.locked({robot.joint_names[2]: 0.0})
        qd = np.random.default_rng(0).normal(size=(10, 2))
        expected = tf.friction(robot, np.column_stack([qd, np.zeros(10)]))[:, :2]
        np.testing.assert_allclose(tf.friction(locked, qd), expected, atol=1e-14)


def test_a_branch_that_is_left_out_takes_its_terms_along() -> None:
    robot = tf.random_robot("RRRR", 5)
    terms = [
        Stribeck(joints=3, coefficient=1.0, width=0.1),
        Stribeck(joints=1, coefficient=2.0, width=0.1),
        CoupledCoulomb(joints=(1, 3), coefficient=0.5),
        PointSpring(coefficient=3.0, ends=(End(-1, (0, 0, 1)), End(2, (1, 0, 0)))),
        PointSpring(coefficient=3.0, ends=(End(0, (0, 0, 1)), End(3, (1, 0, 0)))),
    ]
    short = robot.with_drives([*robot.drives, *terms]).up_to(robot.links[2].name)
    assert [(term.shape, term.joints) for term in short.further_drives] == [("stribeck", (1,)), ("spring", (0, 1, 2))]


def test_loops_carry_terms_and_refuse_what_they_leave_open() -> None:
    robot = tf.random_robot("RRRR", 5)
    names = robot.joint_names
    relation = {names[3]: {names[1]: 1.0}}
    spring = robot.with_drives([*robot.drives, tf.Drive.of("stiffness", 3, 2.0)])
    assert spring.with_relations(relation).further_drives == spring.further_drives
    for shape in ("load", "thermal"):
        follower = robot.with_drives([*robot.drives, tf.Drive.of(shape, 3, 0.1)])
        with pytest.raises(DescriptionError, match="follows other joints"):
            follower.with_relations(relation)


def test_four_terms_are_fields_of_the_joint() -> None:
    robot = tf.random_robot("RR", 2)
    terms = [
        tf.Drive.of("rotor", 0, 0.3),
        tf.Drive.of("viscous", 1, 0.4),
        tf.Drive.of("coulomb", 1, 0.5, width=0.01),
        tf.Drive.of("offset", 0, 0.6),
    ]
    joints = robot.with_drives(terms).joints
    assert [joint.parameters for joint in joints] == [(0.3, 0.0, 0.0, 0.6), (0.0, 0.4, 0.5, 0.0)]
    assert [joint.coulomb_width for joint in joints] == [0.0, 0.01]
    assert joints[1].rotor_inertia is None
    assert not robot.without_drives().parameters[robot.layout.drives].any()


def test_check_names_coefficients_that_no_drive_has() -> None:
    robot = tf.random_robot("RRR", 2)
    loss = tf.Drive.of("load", 1, -0.1)
    shaft = tf.Drive.of("coupled_inertia", (1, 2), 10.0)
    findings = robot.with_drives([*robot.drives, loss, shaft]).check()
    assert any("Fl_2" in str(finding) and finding.severity == "unphysical" for finding in findings)
    assert any("more than the rotors" in str(finding) for finding in findings)


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ("smooth", {"width": 0.0}, "width.*must be positive, got 0"),
        ("stribeck", {"width": -1.0}, "width.*must be positive, got -1"),
        ("stribeck", {}, "width is missing"),
        ("coulomb", {"width": -0.1}, "width.*cannot be negative"),
        ("coulomb", {"width": 1e-310}, "width.*cannot be below 1e-30"),
        ("stribeck", {"width": 1e-310}, "width.*cannot be below 1e-30"),
        ("coulomb", {"width": float("nan")}, "finite number"),
        ("thermal", {"reference": -300.0}, "below absolute zero"),
        ("stiffness", {"rest": "soft"}, "expected a number"),
        ("stiffness", {"sense": 1}, "unknown constant 'sense'; it takes rest"),
        ("viscous", {"width": 1.0}, "unknown constant 'width'; it takes none"),
        ("viscous", {"joints": (0, 1)}, "expected 1 joint"),
        ("viscous", {"joints": "joint1"}, "indices counted from 0"),
        ("viscous", {"coefficient": float("inf")}, "finite number"),
        ("viscous", {"label": "a b"}, "no word"),
        ("coupled_viscous", {"joints": (1, 1)}, "are the same"),
        ("coupled_viscous", {"joints": (0, 1), "sense": 2}, "sense is 1 or -1"),
        ("spring", {"joints": ()}, "ends is missing"),
        ("spring", {"joints": (), "ends": ((0, (1, 2)), (1, (0, 0, 0)))}, "two pairs of a link and a point"),
        ("spring", {"joints": (), "ends": ((0, (1, 2, 3)),)}, "give two"),
        ("spring", {"joints": (), "ends": SPRING_ENDS, "rest": -1.0}, "rest.*cannot be negative"),
    ],
)
def test_senseless_constants_are_refused(shape: str, options: dict, message: str) -> None:
    with pytest.raises(TauformError, match=message) as caught:
        tf.Drive.of(shape, **{"joints": 0, "coefficient": 1.0, **options})
    assert "\n" not in str(caught.value)


def test_unknown_shapes_name_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="stribek"):
        tf.Drive.of("stribek", 0, 1.0)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ([tf.Drive.of("stiffness", 7, 1.0)], "joint 7 does not exist; count from 0 to 3"),
        ([tf.Drive.of("stiffness", 1, 1.0), tf.Drive.of("stiffness", 1, 2.0)], "two drive terms are called K_2"),
        ([tf.Drive.of("viscous", 1, 1.0), tf.Drive.of("viscous", 1, 2.0)], "viscous is given twice"),
        ([tf.Drive.of("viscous", 9, 1.0)], "joint 9, which does not exist"),
        ([tf.Drive.of("sine", 2, 1.0)], "slides; a torque that repeats"),
        ([tf.Drive.of("coupled_inertia", (1, 2), 1.0)], "share no shaft"),
        ([PointSpring(ends=(End(1, (0, 0, 0)), End(1, (1, 0, 0))))], "same link"),
        ([PointSpring(ends=(End(1, (0, 0, 0)), End(5, (1, 0, 0))))], "link 5 does not exist"),
    ],
)
def test_terms_that_do_not_fit_the_robot_are_refused(terms: list, message: str) -> None:
    with pytest.raises(DescriptionError, match=message):
        tf.random_robot("RRPR", 1).with_drives(terms)


def test_a_joints_own_terms_are_not_further_ones() -> None:
    with pytest.raises(DescriptionError, match="belongs to its joint"):
        replace(tf.random_robot("RR", 1), further_drives=(tf.Drive.of("viscous", 0, 1.0),))


TABLE = """
[[drive]]
shape = "stribeck"
joint = "{joint}"
coefficient = 0.4
width = 0.05
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"stribeck"', '"stribek"', "no shape 'stribek'; choose from smooth, stribeck"),
        ('"stribeck"', '"viscous"', "which is a key of its joint"),
        ("width = 0.05", "width = 0", "drive 1.*width.*positive"),
        ("width = 0.05", "", "drive 1.*width is missing"),
        ("width = 0.05", "widht = 0.05", "unknown key 'widht'"),
        ("coefficient = 0.4", "", "coefficient is missing"),
        ("coefficient = 0.4", "coefficient = nan", "finite number"),
        ('joint = "{joint}"', 'joint = "elbow"', "elbow"),
        ('joint = "{joint}"', "", "give joint"),
        ('joint = "{joint}"', 'joints = ["{joint}", "{joint}"]', "expected 1 joint"),
        ('shape = "stribeck"', 'shape = "spring"\nends = 3', "drive 1"),
    ],
)
def test_bad_tables_are_one_sentence(old: str, new: str, message: str, tmp_path: Path) -> None:
    robot = tf.random_robot("RR", 1)
    path = tmp_path / "arm.toml"
    robot.save(path)
    text = path.read_text()
    assert old in TABLE
    table = TABLE.replace(old, new).replace("{joint}", robot.joint_names[0])
    path.write_text(text.replace("\n[end]", f"{table}\n[end]"))
    with pytest.raises(TauformError, match=message) as caught:
        tf.load(path)
    assert str(caught.value).startswith("arm.toml: ")


def test_springs_may_be_fixed_to_frames(tmp_path: Path) -> None:
    robot = tf.random_robot("RR", 1)
    placed = np.array([[0, -1.0, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])
    path = tmp_path / "arm.toml"
    replace(robot, frames=(*robot.frames, replace(robot.tool, name="hook", link=1, link_from_frame=placed))).save(path)
    ends = '[{point = [0, 0, 1]}, {link = "hook", point = [1, 0, 0]}]'
    table = f'[[drive]]\nshape = "spring"\ncoefficient = 9\nends = {ends}\n'
    path.write_text(path.read_text().replace("\n[end]", f"\n{table}\n[end]"))
    (spring,) = tf.load(path).further_drives
    assert spring.ends == (End(-1, (0.0, 0.0, 1.0)), End(1, (1.0, 3.0, 3.0)))


def test_temperature_is_asked_for_where_it_matters() -> None:
    robot = tf.random_robot("RR", 1)
    warm = robot.with_drives([*robot.drives, tf.Drive.of("thermal", 1, 0.01)])
    state = np.ones((3, 2))
    with pytest.raises(DescriptionError, match="depends on it; give temperature="):
        tf.inverse_dynamics(warm, *state)
    with pytest.raises(TauformError, match="absolute zero"):
        tf.inverse_dynamics(warm, *state, temperature=[20.0, -300.0])
    cold = tf.inverse_dynamics(warm, *state, temperature=[20.0, 20.0])
    np.testing.assert_array_equal(cold, tf.inverse_dynamics(robot, *state))
    np.testing.assert_array_equal(cold, tf.inverse_dynamics(robot, *state, temperature=[20.0, 90.0]))


def test_friction_asks_for_what_its_terms_need() -> None:
    robot = tf.random_robot("RR", 1)
    for shape, missing in (("stiffness", "q"), ("load", "q")):
        with pytest.raises(DescriptionError, match=f"depends on {missing}; give {missing}="):
            tf.friction(robot.with_drives([tf.Drive.of(shape, 0, 0.1)]), [1.0, 1.0])


def test_strong_load_friction_leaves_the_acceleration_open() -> None:
    robot = tf.random_robot("RR", 1).with_drives([tf.Drive.of("load", 1, 1.2)])
    with pytest.raises(DescriptionError, match="must stay below 1"):
        tf.forward_dynamics(robot, *np.ones((3, 2)))


def test_shapes_say_what_they_are() -> None:
    kinds = [shape.kind for shape in SHAPES.values()]
    assert len(set(kinds)) == len(kinds)
    for name, shape in SHAPES.items():
        assert shape.shape == name
        assert shape.meaning
        assert shape.__doc__
        assert Smooth(joints=0, coefficient=1.0, width=0.5).constants == {"width": 0.5}
