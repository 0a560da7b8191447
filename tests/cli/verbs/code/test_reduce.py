"""tauform reduce and tauform multirate."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tauform.cli import main


def test_reduce_reports_routes_and_writes_c(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["reduce", "two_link", "--tolerance", "0.05", "--samples", "20000", "-o", str(tmp_path / "c"), "--json"]
    assert main(arguments) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["multiplications"] + data["additions"] <= data["exact_operations"]
    assert {route["name"] for route in data["routes"]} == {"exact", "terms", "parameters", "velocity", "operations"}
    assert all(route["error"] <= 0.05 for route in data["routes"])
    assert (tmp_path / "c" / "two_link.h").exists()


@pytest.mark.parametrize("arguments", [["reduce", "two_link", "--samples", "2000"], ["multirate", "two_link"]])
def test_folders_of_others_are_refused_at_once_unless_told(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    command = [*arguments, "-o", str(tmp_path)]
    with monkeypatch.context() as patch:
        patch.setattr(f"tauform.{arguments[0]}", None, raising=False)  # no work before the refusal
        assert main(command) == 2
    assert "--force" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.txt"]
    assert main([*command, "--force"]) == 0
    assert (tmp_path / "mine.txt").read_text() == "precious"
    assert (tmp_path / "two_link.h").exists()


def test_other_seeds_draw_other_states(capsys: pytest.CaptureFixture[str]) -> None:
    def error(seed: str) -> float:
        route = ["--route", "velocity", "--still", "all"]
        assert main(["reduce", "two_link", *route, "--samples", "2000", "--seed", seed, "--json"]) == 0
        return float(json.loads(capsys.readouterr().out)["routes"][1]["error"])

    assert error("0") == error("0") != error("1")


def test_reduce_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", "two_link", "--profile", "3.1,0.5,5", "--samples", "5000"]) == 0
    assert "operations" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (["--tolerance", "0"], "tolerance"),
        (["--tolerance", "1.5"], "tolerance"),
        (["--confidence", "1"], "confidence"),
        (["--profile", "quick"], "--profile is slow, fast"),
        (["--function", "inverse"], "choose from"),
        (["--recording", "no_such_file.csv"], "no_such_file.csv"),
        (["--route", "magic"], "route 'magic' does not exist"),
        (["--still", "elbow"], "no joint or link 'elbow'"),
        (["--threads", "0"], "threads"),
        (["--samples", "0"], "n_fresh"),
        (["--plot", "figures", "--also", "no_such_robot"], "no_such_robot"),
        (["--also", "two_link"], "--plot"),
        (["--plot", "figures", "--tolerance", "0.1", "-o", "c"], "leave out --tolerance, --output"),
        (["--figures", "figures", "--recording", "log.csv"], "leave out --recording"),
        (["--figures", "figures", "--no-definite"], "leave out --definite"),
    ],
)
def test_bad_input_ends_with_one_sentence(option: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", "two_link", *option]) == 2
    assert sentence in capsys.readouterr().err


def test_an_empty_recording_ends_with_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    log.write_text("t,q1,q2,tau1,tau2\n")
    for command in ("reduce", "multirate"):
        assert main([command, "two_link", "--recording", str(log)]) == 2
        assert "log.csv: holds no samples" in capsys.readouterr().err


def test_one_route_with_velocity_terms_left_out_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["reduce", "two_link", "--route", "velocity", "--still", "all", "--samples", "5000", "--json"]
    assert main(arguments) == 0
    data = json.loads(capsys.readouterr().out)
    assert [route["name"] for route in data["routes"]] == ["exact", "velocity"]
    assert data["routes"][1]["remark"] == "velocity terms of all joints left out"
    assert all(route["definite"] for route in data["routes"])
    assert "operations" in data["reason"]


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        (["--background", "0.0001"], "shorter than the synchronous"),
        (["--coefficients-every", "0"], "coefficients"),
        (["--run", "-1"], "background period"),
        (["--velocity", "0"], "positive"),
        (["--error", "2"], "error"),
    ],
)
def test_bad_rates_end_with_one_sentence(option: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["multirate", "two_link", *option]) == 2
    assert sentence in capsys.readouterr().err


def test_multirate_reports_counts_and_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["multirate", "two_link", "--run", "0.2", "-o", str(tmp_path / "c"), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["programs"]["synchronous"] == {"multiplications": 4, "additions": 4}
    assert data["run"]["ticks"] == 200
    assert 0 < data["run"]["predicted"] < 1
    assert 0 < data["relative_error"] < 1
    assert (tmp_path / "c" / "two_link_multirate.h").exists()


def test_multirate_along_a_recording_shows_bandwidths_and_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    t = np.arange(0.0, 10.0, 0.01)
    q = np.stack([np.sin(2 * t), np.sin(3 * t)], axis=1)
    names = "t,q1,q2,tau1,tau2"
    np.savetxt(tmp_path / "log.csv", np.column_stack([t, q, 0 * q + 1.0]), delimiter=",", header=names, comments="")
    figure = tmp_path / "errors.svg"
    arguments = ["multirate", "two_link", "--recording", str(tmp_path / "log.csv"), "--plot", str(figure), "--json"]
    assert main(arguments) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["bandwidths"]["position"] == pytest.approx(3 / (2 * np.pi), abs=0.2)
    # Texts are paths in the drawing, and comments beside them.
    for axis in ("norm of the torque error [N m]", "RMS of the torque error's norm [N m]"):
        assert f"<!-- {axis} -->" in figure.read_text()


def test_multirate_prints_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["multirate", "two_link", "--error", "0.05"]) == 0
    out = capsys.readouterr().out
    assert "slowest background" in out
    assert "Predicted torque error [N m, N]" in out


def test_a_background_quicker_than_the_control_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["multirate", "two_link", "--background", "0.0001"]) == 2
    assert "shorter than the synchronous" in capsys.readouterr().err


SLIDING = """
name = "slider"
convention = "standard"
[[row]]
joint = "revolute"
a = 0.4
alpha = 0.0
d = 0.0
mass = 2.0
com = [-0.2, 0.0, 0.0]
inertia = [0.01, 0.03, 0.03, 0.0, 0.0, 0.0]
inertia_about = "com"
[[row]]
joint = "prismatic"
a = 0.0
alpha = 0.0
theta = 0.0
mass = 1.0
com = [0.1, 0.0, 0.0]
lower = 0.1
upper = 0.2
velocity = 1.0
"""


@pytest.fixture
def slider(tmp_path: Path) -> str:
    path = tmp_path / "slider.toml"
    path.write_text(SLIDING)
    return str(path)


def test_verbs_keep_within_the_limits_of_a_slide(slider: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["multirate", slider, "--json"]) == 0
    assert main(["reduce", slider, "--samples", "2000", "--route", "parameters", "--json"]) == 0
    assert main(["reduce", slider, "--samples", "2000", "--profile", "1,1,1"]) == 2
    assert "tf.Profile.within(robot) (--profile slow or --profile fast) stays inside" in capsys.readouterr().err


def test_bounds_are_one_number_or_one_per_joint(slider: str, capsys: pytest.CaptureFixture[str]) -> None:
    split = ["multirate", slider, "--json"]
    assert main([*split, "--velocity", "1,0.2", "--acceleration", "5"]) == 0
    one = json.loads(capsys.readouterr().out)["torque"]
    assert main([*split, "--velocity", "1,0.2", "--acceleration", "5,5"]) == 0
    assert json.loads(capsys.readouterr().out)["torque"] == one
    assert main([*split, "--velocity", "1,0.2", "--acceleration", "9,5"]) == 0
    assert json.loads(capsys.readouterr().out)["torque"] != one
    reduced = ["reduce", slider, "--samples", "2000", "--route", "parameters", "--json"]
    assert main([*reduced, "--velocity", "3,0.01", "--acceleration", "7"]) == 0
    assert json.loads(capsys.readouterr().out)["profile"] == "slow"


@pytest.mark.parametrize("verb", ["multirate", "excite", "reduce"])
@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ("1,2,3", "takes 1 number or 2, one per joint (joint1, joint2), not 3"),
        ("1,fast", "takes a number, or one per joint such as 1,0.5,2, not '1,fast'"),
    ],
)
def test_bounds_of_another_number_of_joints_are_refused(
    verb: str, numbers: str, sentence: str, slider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in ("--velocity", "--acceleration"):
        assert main([verb, slider, option, numbers]) == 2
        assert f"{option} {sentence}" in " ".join(capsys.readouterr().err.split())


def test_velocity_that_leaves_limits_is_answered_with_one_that_does_not(
    slider: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["multirate", slider, "--velocity", "2"]) == 2
    sentence = " ".join(capsys.readouterr().err.split())
    assert "joint 'joint2' leaves its limits" in sentence
    slower = sentence.split("for example --velocity ")[1].split()[0]
    assert main(["multirate", slider, "--velocity", slower, "--json"]) == 0


def test_recorded_motion_has_own_velocities(slider: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    t = np.linspace(0, 2, 401)
    q = np.column_stack([np.sin(3 * t), 0.15 + 0.04 * np.cos(5 * t)])
    rows = np.column_stack([t, q, np.zeros_like(q)])
    np.savetxt(log, rows, delimiter=",", header="t,q_1,q_2,tau_1,tau_2", comments="")
    assert main(["reduce", slider, "--recording", str(log), "--velocity", "1"]) == 2
    assert "--recording brings its own velocities; leave out --velocity" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("verb", ["reduce", "multirate"])
def test_friction_by_load_and_temperature_reaches_c(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import tauform as tf

    robot = tf.load("two_link")
    terms = [tf.Drive.of("load", joints=0, coefficient=0.2), tf.Drive.of("thermal", joints=1, coefficient=-0.01)]
    robot.with_drives([*robot.drives, *terms]).save(tmp_path / "warm.toml")
    options = {"reduce": ["--samples", "2000", "--route", "velocity"], "multirate": []}
    command = [verb, str(tmp_path / "warm.toml"), *options[verb], "--temperature", "10,60", "-o", str(tmp_path / "c")]
    assert main(command) == 0
    assert "temperature" in (tmp_path / "c" / "two_link.h").read_text()
    for wrong in ("10", "60,10", "-400,20", "nan,20"):
        assert main([*command[:-4], "--temperature", wrong]) == 2
    assert capsys.readouterr().err.count("temperature") >= 4
