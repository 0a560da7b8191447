"""tauform generate."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.cli import main
from tauform.cli.function_names import chosen_functions
from tauform.codegen.functions import FUNCTIONS

needs_compiler = pytest.mark.skipif(not (shutil.which("cc") and shutil.which("make")), reason="no C compiler here")


OPTIONS = [(), ("--real", "float", "--batch"), ("--parameters", "runtime"), ("--single-header", "--no-friction")]


@needs_compiler
@pytest.mark.usefixtures("flags_of_the_makefile")
@pytest.mark.parametrize("options", representatives(OPTIONS, OPTIONS[0], OPTIONS[1]))
def test_written_folder_passes_its_own_test(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    assert main(["generate", "two_link", "-o", str(folder), *options]) == 0
    shown = capsys.readouterr().out
    assert "inverse_dynamics" in shown
    assert "check" in shown
    done = subprocess.run(["make", "check"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mass_matrix" in done.stdout


def test_json_holds_counts_candidates_and_certificate(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    command = ["generate", "sr6ia", "-o", str(folder), "--function", "mass_matrix,gravity_torque", "--json"]
    assert main(command) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [function["name"] for function in shown["functions"]] == ["mass_matrix", "gravity_torque"]
    program = tf.generate(tf.load("sr6ia"), "mass_matrix")
    assert shown["functions"][0]["multiplications"] == program.n_multiplications
    assert len(shown["functions"][0]["candidates"]) == len(program.candidates)
    certificate = shown["functions"][0]["certificate"]
    assert certificate["error"] < certificate["tolerance"]
    written = [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
    assert sorted(map(Path, shown["files"])) == sorted(written)


def test_all_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "two_link", "-o", str(tmp_path / "out"), "--function", "all", "--json"]) == 0
    names = {function["name"] for function in json.loads(capsys.readouterr().out)["functions"]}
    assert names == set(FUNCTIONS) - {"friction"}  # the arm has none


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--function", "inverse_dynamic"), "did you mean 'inverse_dynamics'"),
        (("--function", "xyz"), "choose from inverse_dynamics"),
        (("--function", ","), "names no function"),
        (("--function", "friction"), "no joint has any"),
        (("--function", "inverse_dynamics", "--algorithm", "magic"), "choose from auto, fastest, newton_euler"),
        (("--parameters", "loose"), "choose from 'baked', 'runtime'"),
        (("--payload", "loose"), "choose from 'baked', 'runtime'"),
        (("--real", "half"), "expected one of double, float"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(
    options: tuple[str, ...], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "two_link", "-o", str(tmp_path / "out"), *options]) == 2
    assert complaint in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_folders_of_others_are_refused_unless_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    command = ["generate", "two_link", "-o", str(tmp_path), "--function", "gravity_torque"]
    assert main(command) == 2
    assert "mine.txt" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.txt"]
    assert main([*command, "--force"]) == 0
    assert (tmp_path / "mine.txt").read_text() == "precious"
    assert (tmp_path / "two_link.c").exists()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_no_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tmp_path.chmod(0o500)
    assert main(["generate", "two_link", "-o", str(tmp_path / "out"), "--function", "gravity_torque"]) == 2
    assert "cannot be written" in capsys.readouterr().err


def test_code_of_a_fit_is_replaced_but_not_what_others_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    t = np.arange(0.0, 10.0, 0.01)
    q = np.stack([np.sin(2 * t), np.cos(3 * t)], axis=1)
    qd = np.stack([2 * np.cos(2 * t), -3 * np.sin(3 * t)], axis=1)
    tau = tf.inverse_dynamics(tf.load("two_link"), q, qd, -q * [4.0, 9.0])
    log, folder = tmp_path / "log.csv", tmp_path / "c"
    np.savetxt(log, np.column_stack([t, q, tau]), delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    command = ["identify", "two_link", str(log), "--friction", "plain", "--no-couplings", "--code", str(folder)]
    assert main(command) == main(command) == 0  # what we wrote ourselves is ours, the recording too
    assert (folder / "recording.csv").exists()
    assert "two_link_inverse_dynamics(" in (folder / "two_link.h").read_text()
    (folder / "mine.txt").write_text("precious")
    capsys.readouterr()
    assert main(command) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*command, "--force"]) == 0
    assert (folder / "mine.txt").read_text() == "precious"


def test_all_functions_are_those_that_the_robot_has(tmp_path: Path) -> None:
    """Friction by load leaves no model to a momentum observer, and everything else as it is."""
    robot = tf.load("two_link").with_drives([tf.Drive.of("load", 1, 0.1)])
    names = chosen_functions(robot, ["all"])
    assert set(FUNCTIONS) - set(names) == {"momentum_observer"}
    assert set(FUNCTIONS) - set(chosen_functions(tf.load("two_link"), ["all"])) == {"friction"}


def test_friction_is_left_out_and_rotors_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = tf.random_robot(2, seed=1)
    assert any(joint.viscous for joint in robot.joints)
    robot.save(tmp_path / "arm.toml")
    command = ["generate", str(tmp_path / "arm.toml"), "-o", str(tmp_path / "out"), "--functions", "inverse_dynamics"]
    assert main([*command, "--no-friction", "--prefix", "mine", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    bare = tf.generate(robot.rigid, "inverse_dynamics")
    assert shown["functions"][0]["multiplications"] == bare.n_multiplications
    assert (tmp_path / "out" / "mine.h").exists()


def test_online_functions_are_asked_for_before_the_work(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def work(*arguments: object, **options: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr(tf, "generate", work)
    for robot, name, said in (
        ("two_link", "payload_estimatr", "payload_estimator"),
        ("parallelogram", "friction_estimator", "loops"),
    ):
        words = ["generate", robot, "--functions", "gravity_torque", "--online", name, "-o", str(tmp_path / "out")]
        assert main(words) == 2
        assert said in capsys.readouterr().err
