"""Options of tauform model that belong to an identification."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tauform as tf
from cli.verbs.code.conftest import WriteLog
from tauform.cli import main

QUICK = ["--tolerance", "0", "--function", "gravity_torque"]


@pytest.fixture
def arm(write_log: WriteLog) -> Path:
    """arm.urdf and log.csv in the working folder."""
    return write_log(lambda qd: 0.2 * qd, 1e-3)


def test_the_urdf_has_the_identified_dynamics_and_the_simulation_is_a_stage(
    arm: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("clarabel")
    words = ["model", "arm.urdf", "log.csv", "-o", "out", "--urdf", "arm.urdf", "--simulate", "--friction", "plain"]
    assert main([*words, *QUICK, "--json"]) == 0
    stages = {stage["name"]: stage for stage in json.loads(capsys.readouterr().out)["stages"]}
    robot = tf.load("arm.urdf")
    recording = tf.read_recording("log.csv", robot)
    fit = tf.identify(robot, recording, friction="plain")
    followed = tf.validate_by_simulation(fit, recording)
    assert stages["simulation along log.csv"]["figure"] == pytest.approx(followed.relative.max(), rel=1e-6)
    assert stages["URDF"]["outcome"].startswith("robot.urdf")
    fit.write_urdf("arm.urdf", "direct.urdf")
    assert (arm / "out" / "robot.urdf").read_text() == Path("direct.urdf").read_text()


@pytest.mark.parametrize("option", [["--simulate"], ["--urdf", "arm.urdf"], ["--validate", "log.csv"]])
def test_without_recordings_they_are_refused(option: list[str], arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "arm.urdf", "-o", "out", *QUICK, *option]) == 2
    assert option[0] in capsys.readouterr().err
    assert not (arm / "out").exists()


def test_an_unknown_friction_is_one_sentence(arm: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "arm.urdf", "log.csv", "-o", "out", "--friction", "sticky", *QUICK]) == 2
    assert "sticky" in capsys.readouterr().err
    assert not (arm / "out").exists()
