"""check(): finds what is unphysical or almost aligned, says so in words, and changes nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from real_robots import urdf
from tauform.description.joint import Limits, Link


def with_link(robot: tf.Robot, i: int, inertia: tf.Inertia) -> tf.Robot:
    links = list(robot.links)
    links[i] = Link(links[i].name, inertia)
    return replace(robot, links=tuple(links))


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("kr6_r700", {"link 'link5'": "not positive definite"}),
        ("lbr7", {"link 'link4'": "triangle inequality", "link 'link6'": "triangle inequality"}),
        ("sr6ia", {}),
        ("two_link", {}),
        ("parallelogram", {}),
    ],
)
def test_unphysical_prints_of_the_papers_are_found_and_no_others(name: str, found: dict[str, str]) -> None:
    findings = tf.load(name).check()
    assert [finding.place for finding in findings] == list(found)
    for finding in findings:
        assert finding.severity == "unphysical"
        assert found[finding.place] in finding.what


@pytest.mark.parametrize("seed", range(5))
def test_physical_robots_have_no_findings(seed: int) -> None:
    assert tf.random_robot(8, seed=seed, branching=0.3).check() == []
    assert tf.planar_chain(4).check() == []


def test_agrees_with_the_pseudo_inertia() -> None:
    # A body is physical exactly when its pseudo-inertia is positive semidefinite (Wensing et al. 2018).
    rng = np.random.default_rng(0)
    robot = tf.planar_chain(1)
    n_unphysical = 0
    for _ in range(200):
        moments = rng.uniform(0, 1, 3)
        turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        body = tf.Inertia.of(1.0, rng.normal(size=3) * 0.3, turn @ np.diag(moments) @ turn.T, inertia_about="com")
        physical = np.linalg.eigvalsh(body.pseudo_inertia)[0] > 0
        unphysical = [f for f in inertia_findings_of(with_link(robot, 0, body)) if f == "unphysical"]
        assert bool(unphysical) != physical
        n_unphysical += not physical
    assert 20 < n_unphysical < 180


def inertia_findings_of(robot: tf.Robot) -> list[str]:
    return [finding.severity for finding in robot.check()]


def test_zero_mass_is_fine_but_not_with_moments() -> None:
    robot = tf.planar_chain(2)
    assert with_link(robot, 0, tf.Inertia.zero()).check() == []
    moments = tf.Inertia([0, 1, 0, 0, 0, 0, 0, 0, 0, 0])
    assert "mass is 0 but its moments are not" in str(with_link(robot, 0, moments).check()[0])
    negative = tf.Inertia([-1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    assert "negative (-1 kg)" in str(with_link(robot, 0, negative).check()[0])


def test_centre_of_mass_in_millimetres_is_doubtful() -> None:
    robot = with_link(tf.planar_chain(3), 1, tf.Inertia.of(1.0, [500.0, 0, 0], np.eye(3), inertia_about="com"))
    (finding,) = robot.check()
    assert (finding.severity, finding.place) == ("doubtful", "link 'link2'")
    assert "mm" in finding.remedy


def test_payload_and_drives_are_checked() -> None:
    robot = tf.planar_chain(2).with_payload(tf.Inertia.of(1.0, inertia=[1, 0, 0, 0, 0, 0], inertia_about="com"))
    assert "payload at 'tool'" in str(robot.check()[0])
    wrong = {"rotor_inertia": -1.0, "viscous": -2.0, "coulomb": -3.0, "limits": Limits(lower=1, upper=-1)}
    joints = (replace(robot.joints[0], **wrong), robot.joints[1])
    texts = [str(finding) for finding in replace(tf.planar_chain(2), joints=joints).check()]
    assert len(texts) == 4
    assert all("joint 'joint1'" in text for text in texts)


def test_almost_aligned_joints_come_with_the_torque_error_of_snapping() -> None:
    robot = tf.load(urdf("xarm7"))
    notes = [finding for finding in robot.check() if finding.severity == "note"]
    assert [note.place for note in notes] == ["joints " + ", ".join(f"'joint{i}'" for i in range(2, 8))]
    match = re.search(r"snap=(\S+) .* at most (\S+) N m", notes[-1].remedy)
    assert match is not None
    snap, error = float(match[1]), float(match[2])
    # The figure holds for other states, within the spread of a maximum.
    q, qd, qdd = np.random.default_rng(9).normal(size=(3, 200, 7))
    change = np.abs(tf.inverse_dynamics(robot.snapped(snap), q, qd, qdd) - tf.inverse_dynamics(robot, q, qd, qdd)).max()
    assert error / 5 < change < error * 5
    assert [f for f in robot.snapped(snap).check() if f.severity == "note"] == []


def test_checking_changes_nothing() -> None:
    robot = tf.load("kr6_r700")
    before = robot.parameters.copy()
    robot.check()
    np.testing.assert_array_equal(robot.parameters, before)
    assert tf.check(robot) == robot.check()


def test_gravity_that_points_up_is_doubtful() -> None:
    robot = tf.planar_chain(2)
    finding = robot.with_gravity([0, 0, 9.81]).check()[0]
    assert (finding.severity, finding.place) == ("doubtful", "gravity")
    assert "(0, 0, 9.81) points along the base's z" in finding.what
    for fine in ([0, 0, -9.81], [0, 9.81, 0], [0, 0, 0], [7.0, 0, 6.9]):
        assert robot.with_gravity(fine).check() == []


@pytest.mark.parametrize(
    ("tensor", "what"),
    [([0.01, 0, 0, 0.03, 0, 0.03], "not positive definite"), ([0.02, 0.001, 0.03, 0.003, 0, 0.004], "triangle")],
)
def test_inertia_in_another_order_is_told_ours(tensor: list[float], what: str) -> None:
    robot = tf.planar_chain(1)
    body = tf.Inertia.of(2.0, [0.1, 0, 0], tensor, inertia_about="com")
    finding = with_link(robot, 0, body).check()[0]
    assert what in finding.what
    assert "six numbers are Ixx Iyy Izz Ixy Ixz Iyz" in finding.remedy
