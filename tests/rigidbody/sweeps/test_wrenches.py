"""External wrenches: shapes, batches, frames on the base, and what is refused."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states, random_tree
from tauform.description.joint import Frame
from tauform.errors import ArgumentError, GenerationError, ShapeError, UnknownNameError

ROBOT = random_tree(4, seed=4)
STATE = np.zeros((3, 4))


def test_wrenches_broadcast_with_the_states():
    q, qd, qdd = random_states(ROBOT, 6, seed=1)
    w = np.random.default_rng(0).normal(size=(6, 6))
    many = tf.inverse_dynamics(ROBOT, q, qd, qdd, wrenches={"link4": w})
    one_by_one = [tf.inverse_dynamics(ROBOT, q[k], qd[k], qdd[k], wrenches={"link4": w[k]}) for k in range(6)]
    np.testing.assert_allclose(many, one_by_one, rtol=0, atol=1e-13)
    # one state under many wrenches, and many states under one
    assert tf.forward_dynamics(ROBOT, q[0], qd[0], qdd[0], wrenches={"link4": w}).shape == (6, 4)
    assert tf.bias_torque(ROBOT, q, qd, wrenches={"link4": w[0]}).shape == (6, 4)


def test_wrenches_on_one_link_add_up():
    robot = tf.load("kr6_r700")
    q, qd, qdd = random_states(robot, 3, seed=2)
    a, b = np.random.default_rng(1).normal(size=(2, 6))
    both = tf.inverse_dynamics(robot, q, qd, qdd, wrenches={"tool": a, "link6": b})
    np.testing.assert_allclose(both, tf.inverse_dynamics(robot, q, qd, qdd, wrenches={"tool": a + b}), atol=1e-12)


def test_a_complex_step_passes_through():
    q, qd, qdd = random_states(ROBOT, 1, seed=3)[:, 0]
    w, direction = np.random.default_rng(2).normal(size=(2, 6))
    slope = tf.inverse_dynamics(ROBOT, q, qd, qdd, wrenches={"link4": w + 1e-30j * direction}).imag / 1e-30
    expected = tf.inverse_dynamics(ROBOT, q, qd, qdd, wrenches={"link4": direction})
    np.testing.assert_allclose(slope, expected - tf.inverse_dynamics(ROBOT, q, qd, qdd), rtol=0, atol=1e-12)


@pytest.mark.parametrize("function", [tf.inverse_dynamics, tf.forward_dynamics])
@pytest.mark.parametrize(
    ("wrenches", "error", "words"),
    [
        ({"link9": np.zeros(6)}, UnknownNameError, "link9"),
        ({"link4": np.zeros(5)}, ShapeError, r"wrenches\['link4'\]: expected shape \(\.\.\., 6\).*force, then moment"),
        ({"link4": [0, 0, np.nan, 0, 0, 0]}, ShapeError, r"wrenches\['link4'\]: entry \[2\] is not finite"),
        ({"link4": np.zeros((3, 6)), "link3": np.zeros((2, 6))}, ShapeError, "broadcast"),
        (np.zeros(6), ArgumentError, "wrenches"),
    ],
)
def test_what_is_no_wrench_is_refused(function, wrenches, error, words):
    with pytest.raises(error, match=words):
        function(ROBOT, *STATE, wrenches=wrenches)


@pytest.mark.parametrize(
    ("function", "wrenches", "error", "words"),
    [
        ("inverse_dynamics", ["link9"], UnknownNameError, "link9"),
        ("inverse_dynamics", ["link4", "link4"], GenerationError, "named twice"),
        ("mass_matrix", ["link4"], GenerationError, "inverse_dynamics, bias_torque, forward_dynamics"),
        ("inverse_dynamics", "link4", ArgumentError, r"put it into a list: \['link4'\]"),
    ],
)
def test_programs_refuse_what_they_cannot_feel(function, wrenches, error, words):
    with pytest.raises(error, match=words):
        tf.generate(ROBOT, function, wrenches=wrenches)


def test_a_closed_form_has_no_place_for_wrenches():
    robot = tf.load("two_link")
    with pytest.raises(GenerationError, match="give the robot"):
        tf.generate(tf.derive(robot).bind(robot), wrenches=[robot.links[0].name])


def test_written_code_takes_wrenches_of_frames_with_odd_names(tmp_path: Path):
    places = [Frame(name, link, np.eye(4)) for name, link in (("tool-0", 1), ("tool_0", 1), ("wall", -1))]
    robot = replace(tf.load("two_link"), frames=tuple(places), tip="tool_0")
    frames = [place.name for place in places]
    programs = [tf.generate(robot, name, wrenches=frames) for name in ("inverse_dynamics", "forward_dynamics")]
    tf.write_c(programs, tmp_path / "c", batch=True)
    header = (tmp_path / "c" / "two_link.h").read_text(encoding="utf-8")
    assert "const double wrench_tool_0[6], const double wrench_tool_0_[6]" in header
    assert "wrench_tool-0: force [N], then moment [N m]" in header
    done = subprocess.run(["make", "-C", tmp_path / "c", "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
