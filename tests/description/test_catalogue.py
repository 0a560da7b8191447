"""The catalogue: what the papers print, in our frames."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from tauform.errors import DescriptionError, UnknownNameError


def test_lists_every_robot_with_its_source() -> None:
    listed = tf.robots()
    papers = {"kr6_r700", "lbr7", "sr6ia", "puma560_gautier", "puma260_izaguirre", "two_link"}
    assert papers <= set(listed)
    assert "Lloyd2021" in listed["kr6_r700"]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("kr6_r700", "RRRRRR"), ("lbr7", "RRRRRRR"), ("sr6ia", "RRPR"), ("two_link", "RR"), ("puma560_gautier", "RRRRRR")],
)
def test_joints(name: str, kinds: str) -> None:
    robot = tf.load(name)
    assert "".join("R" if joint.is_revolute else "P" for joint in robot.joints) == kinds
    assert robot.is_chain


def test_angles_are_exact() -> None:
    for name in tf.robots():
        for joint in tf.load(name).joints:
            assert set(np.abs(joint.parent_from_joint[:3, :3]).ravel()) == {0.0, 1.0}, (name, joint.name)


def test_puma560_keeps_the_papers_table() -> None:
    # Gautier1991 Table III: 66 standard parameters; modified DH, so they stand as printed.
    robot = tf.load("puma560_gautier")
    values = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    assert (values["Izz_1"], values["Ixy_2"], values["Iyz_3"], values["mz_4"]) == (0.5, 0.7, -0.6, -0.2)
    assert (values["m_3"], values["Ia_2"], values["Ia_6"]) == (4.8, 4.5, 0.3)
    assert len(robot.columns()) == 66
    lengths = {length.name: length.value for joint in robot.joints for length in joint.lengths}
    assert lengths == {"D3": 0.5, "R3": 0.2, "D4": 0.02, "R4": 0.6}


def test_puma260_has_78_parameters_with_friction() -> None:
    robot = tf.load("puma260_izaguirre")
    assert len(robot.columns(("link", "rotor", "viscous", "coulomb"))) == 78
    assert robot.joints[1].parameters == (0.136312, 0.94467, 1.38928, 0.0)


def test_two_link_torque_by_hand() -> None:
    # tau_1 at rest, stretched out: the weight of two uniform rods.
    robot = tf.load("two_link")
    zero = np.zeros(2)
    expected = 9.81 * np.array([3.0 * 0.6 + 2.0 * (1.2 + 0.55), 2.0 * 0.55])
    np.testing.assert_allclose(tf.inverse_dynamics(robot, zero, zero, zero), expected)


def test_kr6_reach() -> None:
    # d1, a1, a2, a3, d4, d6 of Lloyd2021 Table 1(a) at q = 0, in the DH frame of the tool.
    T = tf.forward_kinematics(tf.load("kr6_r700"), np.zeros(6))
    np.testing.assert_allclose(T[:3, 3], [0.025 - 0.315 - 0.035, 0, 0.183 + 0.365 + 0.08], atol=1e-15)


def test_unknown_name_suggests_a_near_one() -> None:
    with pytest.raises(UnknownNameError, match="'kr6_r70' does not exist; did you mean 'kr6_r700'"):
        tf.load("kr6_r70")


def test_missing_file_is_named() -> None:
    with pytest.raises(DescriptionError, match=r"nowhere\.urdf: no such file"):
        tf.load("nowhere.urdf")
