"""A run that fails at one result hands over the others, says where they are, and ends with exit code 2."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from cli.verbs.code.conftest import WriteLog
from tauform.cli import main
from tauform.codegen.functions import FUNCTIONS
from tauform.errors import IdentificationError
from tauform.identification.fit import Fit
from tauform.report.delivery import Delivery

pytest.importorskip("clarabel")
QUICK = ["--tolerance", "0", "--function", "gravity_torque,mass_matrix"]


@pytest.fixture
def place(write_log: WriteLog) -> Path:
    """arm.urdf and log.csv of an arm whose Coulomb friction builds up over a velocity."""
    return write_log(lambda qd: 0.2 * qd + 2.0 * np.tanh(qd / 0.5), 1e-2)


def failing(*_: object, **__: object) -> None:
    raise IdentificationError("it does not work")


def test_a_urdf_is_written_whatever_the_friction(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The loss is on the terminal, in the file and in --json; model and identify say the same."""
    assert main(["model", "arm.urdf", "log.csv", "-o", "out", "--urdf", "arm.urdf", *QUICK]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "% lost" in said
    assert "the width of Coulomb steps" in said
    line = ["identify", "arm.urdf", "log.csv", "--urdf", "arm.urdf", "new.urdf", "--json"]
    assert main(line) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (place / "out" / "robot.urdf").read_text() == (place / "new.urdf").read_text()
    loss = 100 * (answer["urdf_loss"]["other"] - answer["urdf_loss"]["fit"])
    assert 0 < loss < 5
    assert f"a loss of {loss:.2f} %" in (place / "new.urdf").read_text()


def test_identify_writes_what_it_can(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fit, "write_urdf", failing)
    line = ["identify", "arm.urdf", "log.csv", "--urdf", "arm.urdf", "new.urdf", "--save", "fit.npz", "--code", "c"]
    assert main([*line, "--report", "fit.html", "--json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["failures"] == ["it does not work"]
    assert err.startswith("it does not work; written all the same: fit.npz, fit.html, ")
    assert len(err.splitlines()) == 1
    assert tf.load_fit("fit.npz").names
    assert (place / "c" / "Makefile").is_file()
    assert not (place / "new.urdf").exists()


def test_a_fit_that_cannot_be_made_physical_is_kept_and_not_shipped(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Fit, "physically_consistent", failing)
    assert main(["identify", "arm.urdf", "log.csv", "--physical", "--save", "fit.npz", "--code", "c"]) == 2
    assert capsys.readouterr().err.strip() == "it does not work; written all the same: fit.npz"
    assert tf.load_fit("fit.npz").physical is None
    assert not (place / "c").exists()


def test_model_writes_the_stages_that_succeeded(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sound program fails where not even rounding is allowed of its function."""
    monkeypatch.setattr("tauform.codegen.runtime.programs.ENABLED", False)
    monkeypatch.setitem(FUNCTIONS, "mass_matrix", replace(FUNCTIONS["mass_matrix"], tolerance=0.0))
    assert main(["model", "arm.urdf", "log.csv", "-o", "out", "--json", *QUICK]) == 2
    out, err = capsys.readouterr()
    assert "failed verification" in err
    assert err.strip().endswith("everything else is in out")
    stages = {stage["name"]: stage["status"] for stage in json.loads(out)["stages"]}
    assert (stages["mass_matrix"], stages["gravity_torque"]) == ("failed", "verified")
    files = {path.name for path in (place / "out").iterdir()}
    assert {"c", "fit.json", "robot.toml", "report.html", "summary.json"} <= files
    assert not list((place / "out" / "c").glob("*mass_matrix*"))
    assert "failed verification" in (place / "out" / "report.html").read_text()


def test_model_keeps_a_fit_that_nothing_can_be_made_of(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tauform.pipeline.model_robot.base_parameters", failing)
    assert main(["model", "arm.urdf", "log.csv", "-o", "out", *QUICK]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip() == "it does not work; the fit that was found before is in out"
    assert {path.name for path in (place / "out").iterdir()} >= {"fit.json", "fit.npz", "report.html"}
    assert tf.load_fit(place / "out" / "fit.npz").names


def test_python_has_what_was_finished(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = tf.load("arm.urdf")
    recording = tf.read_recording("log.csv", robot)
    monkeypatch.setattr(Fit, "write_urdf", failing)
    model = tf.model_robot(robot, recording, tolerance=None, functions=("gravity_torque",))
    with pytest.raises(IdentificationError, match="it does not work; everything else is in out") as caught:
        model.write("out", urdf="new")
    assert isinstance(caught.value.finished, Delivery)
    assert caught.value.finished.report.is_file()
