"""Options that cannot go together are refused before anything is read or computed, and nothing is half-written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.cli import VERBS, main
from tauform.closedform.base import conic
from tauform.errors import MissingExtraError

LOG = ["log.csv"]
MODEL = ["model", "arm.urdf", "-o", "out"]
GENERATE = ["generate", "two_link", "-o", "c"]
RECORDING = ["--recording", "log.csv"]
FIGURES = ["reduce", "two_link", "--plot", "figures"]
IDENTIFY = ["identify", "arm.urdf", *LOG]
# Command lines by what they end in; all that is named here exists, unless it is called absent.
CONFLICTS: dict[str, tuple[list[str], str]] = {
    "urdf of another robot": ([*IDENTIFY, "--urdf", "other.urdf", "new.urdf"], "stands elsewhere"),
    "urdf that is none": ([*IDENTIFY, "--urdf", "log.csv", "new.urdf"], "cannot be read as a URDF"),
    "urdf that is absent": ([*IDENTIFY, "--urdf", "absent.urdf", "new.urdf"], "absent.urdf"),
    "urdf of loops": (["identify", "parallelogram", *LOG, "--urdf", "new", "new.urdf"], "follows several joints"),
    "urdf in no folder": ([*IDENTIFY, "--urdf", "arm.urdf", "absent/new.urdf"], "absent/new.urdf"),
    "a part of no recording": ([*IDENTIFY, "--code", "c", "--excerpt", "3", "--no-recording"], "--no-recording none"),
    "name without code": ([*IDENTIFY, "--name", "arm"], "--code"),
    "name that is no C": ([*IDENTIFY, "--code", "c", "--name", "1 arm"], "1 arm"),
    "save under no ending": ([*IDENTIFY, "--save", "fit.txt"], "fit.txt"),
    "identified robot under no ending": ([*IDENTIFY, "--identified", "robot.json"], "robot.json"),
    "functions without code": ([*IDENTIFY, "--functions", "mass_matrix"], "--code"),
    "save in no folder": ([*IDENTIFY, "--save", "absent/fit.npz"], "absent/fit.npz"),
    "two results in one file": ([*IDENTIFY, "--save", "a.json", "--report", "a.json"], "two results"),
    "a file in a folder of C": ([*IDENTIFY, "--code", "c", "--save", "c/fit.npz"], "c/fit.npz"),
    "method": ([*IDENTIFY, "--method", "guess"], "--method"),
    "friction": ([*IDENTIFY, "--friction", "sticky"], "--friction"),
    "smoother": ([*IDENTIFY, "--smoother", "wild"], "--smoother"),
    "model: urdf of another robot": ([*MODEL, *LOG, "--urdf", "other.urdf"], "stands elsewhere"),
    "model: urdf without a log": ([*MODEL, "--urdf", "arm.urdf"], "--urdf"),
    "model: physical without a log": ([*MODEL, "--physical"], "--physical"),
    "model: friction without a log": ([*MODEL, "--friction", "plain"], "--friction"),
    "model: function": ([*MODEL, *LOG, "--function", "dynamics"], "dynamics"),
    "model: tolerance": ([*MODEL, *LOG, "--tolerance", "2"], "tolerance"),
    "model: confidence": ([*MODEL, *LOG, "--confidence", "1"], "confidence"),
    "model: route": ([*MODEL, *LOG, "--route", "shortest"], "shortest"),
    "model: route of nothing": ([*MODEL, "--tolerance", "0", "--route", "terms"], "--route"),
    "model: friction that is none": ([*MODEL, *LOG, "--friction", "sticky"], "--friction"),
    "generate: second function": ([*GENERATE, "--functions", "mass_matrix,wrong"], "wrong"),
    "generate: friction of none": ([*GENERATE, "--functions", "mass_matrix,friction"], "no joint"),
    "generate: algorithm": ([*GENERATE, "--algorithm", "quick"], "quick"),
    "generate: parameters": ([*GENERATE, "--parameters", "later"], "--parameters"),
    "generate: on-line": ([*GENERATE, "--functions", "mass_matrix", "--online", "payload"], "on-line function"),
    "generate: on-line, loops": (["generate", "parallelogram", "-o", "c", "--online", "friction_estimator"], "loops"),
    "generate: real": ([*GENERATE, "--real", "half"], "half"),
    "reduce: bounds of a recording": (["reduce", "arm.urdf", *RECORDING, "--velocity", "1"], "--velocity"),
    "reduce: name without C": (["reduce", "two_link", "--name", "arm"], "--name"),
    "reduce: function": (["reduce", "two_link", *RECORDING, "--function", "wrong"], "wrong"),
    "reduce: figures of loops": ([*FIGURES, "--also", "four_bar"], "four_bar"),
    "reduce: figures and C": ([*FIGURES, "-o", "c"], "--output"),
    "reduce: temperature of a recording": (["reduce", "arm.urdf", *RECORDING, "--temperature", "1,2"], "--temperature"),
    "reduce: temperature of no friction": (["reduce", "two_link", "--temperature", "10,60"], "--temperature"),
    "multirate: temperature of no friction": (["multirate", "two_link", "--temperature", "10,60"], "--temperature"),
    "multirate: friction": (["multirate", "two_link", "-o", "c", "--friction", "late"], "--friction"),
    "multirate: error": (["multirate", "two_link", "-o", "c", "--error", "2"], "error"),
    "multirate: run": (["multirate", "two_link", "-o", "c", "--run", "0.001"], "background period"),
    "multirate: figure in its folder": (["multirate", "two_link", "-o", "c", "--plot", "c/a.png"], "c/a.png"),
    "linearize": (["linearize", "two_link", "-o", "model.txt"], ".npz"),
    "derive": (["derive", "two_link", "-o", "absent/model.npz"], "absent/model.npz"),
    "show": (["show", "two_link", "-o", "robot.txt"], "robot.txt"),
    "simulate": (["simulate", "two_link", "-o", "a.csv", "--plot", "a.txt"], "a.txt"),
    "simulate: integrator": (["simulate", "two_link", "-o", "a.csv", "--integrator", "euler"], "--integrator"),
    "excite": (["excite", "two_link", "-o", "a.csv", "--plot", "a.txt"], "a.txt"),
    "fleet: output": (["fleet", "two_link", ".", "-o", "log.csv"], "log.csv"),
    "fleet: checkpoint": (["fleet", "two_link", ".", "--checkpoint", "log.csv"], "log.csv"),
    "excite: kind": (["excite", "two_link", "-o", "a.csv", "--kind", "cubic"], "--kind"),
}  # fmt: skip
# What takes time; none of it may be called.
WORK = ("identify", "generate", "reduce", "multirate", "derive", "read_recording", "linearize_forward", "simulate")
WORK_INSIDE = (
    "tauform.pipeline.model_robot.identify",
    "tauform.pipeline.model_robot.derive",
    "tauform.pipeline.program_stages.generate",
    "tauform.pipeline.model_robot.base_parameters",
    "tauform.rigidbody.check.check",
    "tauform.identification.motion.excite.MotionProblem",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """arm.urdf, other.urdf and log.csv, and nothing that computes."""
    monkeypatch.chdir(tmp_path)
    robot = tf.planar_chain(2)
    robot.save("arm.urdf")
    Path("other.urdf").write_text(Path("arm.urdf").read_text().replace('xyz="1 0 0"', 'xyz="2 0 0"'))
    t = np.arange(0.0, 5.0, 0.01)
    table = np.column_stack([t, np.sin(2 * t), np.cos(3 * t), np.sin(t), np.cos(t)])
    np.savetxt("log.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("computed before the refusal")

    for name in WORK:
        monkeypatch.setattr(tf, name, _like(getattr(tf, name), refuse))
    for path in WORK_INSIDE:
        monkeypatch.setattr(path, refuse)
    return tmp_path


def _like(function: object, refuse: object) -> object:
    """Refuses to run; its name and annotations are those of the function."""
    assert callable(refuse)

    def stand_in(*arguments: object, **options: object) -> object:
        return refuse()

    stand_in.__wrapped__ = function  # type: ignore[attr-defined]
    stand_in.__name__ = function.__name__  # type: ignore[attr-defined]
    return stand_in


def test_every_verb_that_writes_is_here() -> None:
    assert {line[0] for line, _ in CONFLICTS.values()} == set(VERBS) - {
        "robots",
        "base",
        "bench",
        "inspect",
        "studio",
        "cache",
    }


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_is_found_before_any_work(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line, expected = CONFLICTS[name]
    before = sorted(path.name for path in place.rglob("*"))
    assert main([*line, "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert expected in err
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 2
    assert sorted(path.name for path in place.rglob("*")) == before


@pytest.mark.parametrize("option", [["--physical"], ["--urdf", "arm.urdf", "new.urdf"]], ids=["physical", "urdf"])
def test_a_missing_solver_is_missed_before_any_work(
    option: list[str], place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise MissingExtraError("install it with: pip install 'tauform[feasible]'")

    monkeypatch.setattr(conic, "semidefinite_solver", missing)
    monkeypatch.setattr("tauform.identification.export.urdf.semidefinite_solver", missing)
    assert main([*IDENTIFY, *option]) == 2
    assert "tauform[feasible]" in capsys.readouterr().err


@pytest.mark.parametrize("line", [[*IDENTIFY, "--code", "c"], [*MODEL, *LOG]], ids=["identify", "model"])
def test_an_excerpt_that_filters_leave_nothing_of_is_refused_before_any_work(
    line: list[str], place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the logs tell: they are read, and nothing is identified."""
    t = np.arange(0.0, 5.0, 0.01)
    recording = tf.Recording(t, np.sin(np.outer(t, [2.0, 3.0])), np.ones((len(t), 2)))
    monkeypatch.setattr("tauform.cli.reading.LogOptions.recordings", lambda *_: [recording])
    assert main([*line, "--excerpt", "0.01", "--quiet"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "--excerpt 0.01 is too short, for filters settle in" in err
    assert not (place / "c").exists()
    assert not (place / "out").exists()
