"""Loops by functions and closures: files, edits, and sentences of bad input."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from closed_linkages import four_bar, slider_crank
from tauform.description.joint import Limits
from tauform.errors import DescriptionError, LoopError, TauformError

TREE = slider_crank("text")


def free() -> tf.Robot:
    return replace(TREE, closure=None)


@pytest.mark.parametrize("robot", [four_bar(), four_bar("frame"), slider_crank("text")], ids=lambda r: r.name)
def test_saved_loops_are_read_again(robot: tf.Robot, tmp_path: Path) -> None:
    robot.save(tmp_path / "robot.toml")
    again = tf.load(tmp_path / "robot.toml")
    assert again == robot
    assert pickle.loads(pickle.dumps(robot)) == robot


def test_a_urdf_says_which_joints_are_free(tmp_path: Path) -> None:
    findings = four_bar().save(tmp_path / "robot.urdf").findings
    assert any("'rocker'" in text and "free" in text for text in findings)


def test_linear_relations_stand_beside_functions() -> None:
    robot = free().with_relations({"piston": "0.1*cos(crank)", "rod": {"piston": 2.0, "": 0.5}})
    q = np.array([[0.3, 1.2]])
    np.testing.assert_allclose(robot.closure.at(q).q[1], 0.2 * np.cos(q[0]) + 0.5)
    assert robot.joint_names == ("crank",)


def test_posture_where_a_loop_does_not_close_says_by_how_much() -> None:
    robot = four_bar()
    placed = robot.joints[1].parent_from_joint.copy()
    placed[0, 3] -= 0.3  # the ground link becomes 0.8: the crank cannot turn round
    crank = replace(robot.joints[1], parent_from_joint=placed)
    tree = replace(robot, closure=None, joints=(robot.joints[0], crank, *robot.joints[2:]))
    loop = robot.closure.relations[0]
    start = {"crank": 0.5, "coupler": 0.2, "rocker": 2.2}
    closed = tree.with_closed_loop("four-bar", loop.frames, loop.passive, start)
    # stretched, crank and ground make 1.0 where coupler and rocker make 0.8
    with pytest.raises(LoopError, match=r"loop 'four-bar' does not close at crank = 3.142: 200 mm is left"):
        tf.textbook.inverse_dynamics(closed, [0.0, np.pi], [0, 0], [0, 0])


def test_limits_keep_samples_where_a_loop_closes() -> None:
    short = free()
    limited = replace(
        short, joints=(replace(short.joints[0], limits=Limits(-0.8, 0.8)), *short.joints[1:])
    ).with_relations({"rod": "asin(0.9*sin(crank)/0.7)", "piston": "sqrt(0.6 - sin(crank)**2)"})
    program = tf.generate(limited)
    assert program.certificate.error < 1e-12
    assert tf.base_parameters(limited).n > 0
    with pytest.raises(LoopError, match=r"relation of joint 'rod'.*no real number at crank = 1.5"):
        tf.textbook.inverse_dynamics(limited, [1.5], [0.0], [0.0])


@pytest.mark.parametrize(
    ("relations", "sentence"),
    [
        ({"rod": "2 +"}, "is no expression"),
        ({"rod": "__import__('os')"}, "cannot stand in a relation"),
        ({"rod": "crank.real"}, "cannot stand in a relation"),
        ({"rod": "crank**0.5"}, "powers must be whole"),
        ({"rod": "crank**99999"}, "powers must be whole"),
        ({"rod": "sin(crank, 2)"}, "cannot stand in a relation"),
        ({"rod": "wheel"}, "wheel"),
        ({"rod": "piston", "piston": "rod"}, "follow each other"),
        ({"rod": "1", "piston": "1", "crank": "1"}, "no active joint is left"),
        ({"rod": "(" * 3000 + "crank" + ")" * 3000}, "expression"),
        ({"rod": "-" * 5000 + "crank"}, "expression|nested"),
    ],
)
def test_bad_relations_are_one_sentence(relations: dict[str, str], sentence: str) -> None:
    with pytest.raises(TauformError, match=sentence) as caught:
        free().with_relations(relations)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"frames": ["rod_end"]}, "two frames"),
        ({"frames": ["rod_end", "nowhere"]}, "nowhere"),
        ({"passive": ["rod"]}, "does not close"),
        ({"passive": []}, "no passive joint"),
        ({"passive": ["crank", "rod", "piston"]}, "can move without opening it"),
        ({"start": {"wheel": 1.0}}, "wheel"),
        ({"fixes": "axis"}, "fixes"),
    ],
)
def test_bad_loops_are_one_sentence(change: dict[str, object], sentence: str) -> None:
    given = {"name": "piston", "frames": ["rod_end", "pin"], "passive": ["rod", "piston"], "start": {"piston": 0.4}}
    with pytest.raises(TauformError, match=sentence) as caught:
        free().with_closed_loop(**{**given, **change})
    assert "\n" not in str(caught.value)


def test_joints_beside_a_loop_can_be_locked() -> None:
    robot = four_bar()
    still = robot.locked({"yaw": 0.3})
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 4, 1))
    whole = [np.concatenate([np.full_like(x, y), x], axis=1) for x, y in ((q, 0.3), (qd, 0.0), (qdd, 0.0))]
    expected = tf.textbook.inverse_dynamics(robot, *whole)[:, 1:]
    np.testing.assert_allclose(tf.textbook.inverse_dynamics(still, q, qd, qdd), expected, rtol=0, atol=1e-12)
    with pytest.raises(DescriptionError, match="part of a loop"):
        robot.locked({"crank": 0.1})
