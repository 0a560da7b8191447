"""tauform linearize."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.cli import main

STATE = ("--q", "0.1,-0.2,0.3,0.4,0.5,0.6", "--qd", "joint2=0.5 joint6=-1")
Q, QD = np.array([0.1, -0.2, 0.3, 0.4, 0.5, 0.6]), np.array([0, 0.5, 0, 0, 0, -1])


def test_json_holds_the_state_space(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearize", "kr6_r700", *STATE, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    robot = tf.load("kr6_r700")
    model = tf.state_space(robot, Q, QD)
    np.testing.assert_allclose(shown["A"], model.A, rtol=1e-12)
    np.testing.assert_allclose(shown["B"], model.B, rtol=1e-12)
    np.testing.assert_allclose(shown["tau"], tf.bias_torque(robot, Q, QD) + tf.friction(robot, QD), rtol=1e-12)
    assert shown["controllable"] is True
    assert len(shown["eigenvalues"]) == len(shown["damping"]) == 12


def test_file_holds_the_matrices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.npz"
    assert main(["linearize", "kr6_r700", *STATE, "--tau", "0 1 2 3 4 5", "--dt", "0.01", "-o", str(path)]) == 0
    assert "least stable" in capsys.readouterr().out
    with np.load(path) as stored:
        expected = tf.state_space(tf.load("kr6_r700"), Q, QD, np.arange(6.0), dt=0.01)
        np.testing.assert_allclose(stored["A"], expected.A, rtol=1e-12)
        assert stored["dt"] == 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--q", "1 2"], "expected 6 numbers, got 2"),
        (["--q", "elbow=1"], "no joint 'elbow'"),
        (["--qd", "1 2 3 4 five 6"], "--qd: expected numbers like 0.1"),
        (["--q", "joint1=1 2"], "name every joint"),
        (["--q", "nan 0 0 0 0 0"], "not finite"),
        (["--dt", "-1"], "positive time step"),
        (["-o", "model.txt"], ".npz"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["linearize", "kr6_r700", *options]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err.replace("\n", " ")
