"""tauform derive."""

from __future__ import annotations

import json

import pytest

import tauform as tf
from tauform.cli import main


def test_derive_prints_json_and_saves(capsys, tmp_path):
    path = tmp_path / "kr6.npz"
    assert main(["derive", "kr6_r700", "--json", "-o", str(path)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["n_terms"], data["n_base"]) == (6086, 36)
    assert data["torque_error"] < 1e-12
    assert tf.load_model(path).n_terms == 6086


def test_derive_prints_tables_and_short_equations(capsys):
    assert main(["derive", "two_link", "--zero", "my_1", "--zero", "my_2"]) == 0
    out = capsys.readouterr().out
    assert "base parameters l" in out
    assert "tau2 =" in out


@pytest.mark.parametrize(
    "arguments", [["four_bar"], ["kr6_r700", "--zero", "mq_1"], ["kr6_r700", "--include", "springs"]]
)
def test_bad_input_is_one_sentence_and_exit_code_2(capsys, arguments, tmp_path):
    assert main(["derive", *arguments, "-o", str(tmp_path / "model.npz")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("groups", [[], ["declared"], ["link"], ["link", "rotor", "viscous"]], ids=str)
def test_what_is_left_out_of_theta_is_left_out_of_the_comparison(capsys, groups, tmp_path):
    robot = tf.random_robot("RPR", seed=1)
    robot.save(tmp_path / "arm.toml")
    flags = [word for group in groups for word in ("--include", group)]
    assert main(["derive", str(tmp_path / "arm.toml"), "--json", *flags]) == 0
    captured = capsys.readouterr()
    data = json.loads(captured.out)
    assert data["torque_error"] < 1e-12
    assert data["n_base"] == tf.base_parameters(robot, include=groups or None).n
    assert "Warning" not in captured.err
