"""tauform model with a log: one identification, one folder of C, and `make check` prints the verdict's figure."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import chain, product
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.cli import main
from tauform.identification.motion.simulate import simulated_recording

pytestmark = pytest.mark.skipif(shutil.which("cc") is None or shutil.which("make") is None, reason="no C compiler")
FIGURE = re.compile(r"^(\S+) +torque error (\S+) %", re.MULTILINE)
# Digits that are printed, as a share of the torque.
PRINTED = 0.51e-6
OPTIONS = (["--urdf", "arm.urdf"], ["--real", "float"], ["--reduce"], ["--physical"])
QUICK = ["--functions", "inverse_dynamics", "--route", "parameters", "--tolerance", "0.05", "--confidence", "0.9"]


def recorded(name: str, seed: int) -> None:
    """A log of an arm with smooth friction and a spring, at a rate that is decimated."""
    robot = tf.load("arm.urdf")
    rng = np.random.default_rng(seed)
    t, rate = np.arange(0.0, 12.0, 0.002), np.array([1.3, 2.1])
    phase = np.outer(t, rate) + rng.uniform(0, 6, 2)
    wobble, factor = np.outer(t, 1.7 * rate), 1.7 * rate
    q = np.sin(phase) + 0.4 * np.sin(wobble)
    qd = rate * np.cos(phase) + 0.4 * factor * np.cos(wobble)
    qdd = -(rate**2) * np.sin(phase) - 0.4 * factor**2 * np.sin(wobble)
    tau = tf.inverse_dynamics(robot, q, qd, qdd) + 0.2 * qd + 2.0 * np.tanh(qd / 0.5) + [0.0, 3.0] * q
    tau += rng.normal(0, 0.1, tau.shape)
    warm = np.column_stack([np.linspace(20.0, 35.0, len(t))] * 2)
    head = "t,q1,q2,tau1,tau2,temperature_1,temperature_2"
    np.savetxt(name, np.column_stack([t, q, tau, warm]), delimiter=",", header=head, comments="", fmt="%.9g")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tf.planar_chain(2).save("arm.urdf")
    recorded("log.csv", 1)
    recorded("other.csv", 2)
    return tmp_path


def shipped(line: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, object], dict[str, float], str]:
    """What --json says, the figures of `make check`, and all that it printed."""
    assert main(["model", "arm.urdf", "log.csv", "-o", "out", "--name", "arm", "--json", *QUICK, *line]) == 0
    answer = json.loads(capsys.readouterr().out)
    done = subprocess.run(["make", "check"], cwd="out/c", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return answer, {name: float(figure) / 100 for name, figure in FIGURE.findall(done.stdout)}, done.stdout


def fitted(line: list[str]) -> tf.Fit:
    robot = tf.load("arm.urdf")
    log, other = (tf.read_recording(name, robot) for name in ("log.csv", "other.csv"))
    fit = tf.identify(robot, log, validate=other)
    fit = fit.reduced() if "--reduce" in line else fit
    return fit.physically_consistent() if "--physical" in line else fit


def assert_shipped(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    answer, figures, said = shipped([*line, "--validate", "other.csv"], capsys)
    fit = fitted(line)
    assert fit.terms or any(fit.design.widths)  # more than plain friction
    assert figures["inverse_dynamics"] == pytest.approx(fit.unseen.total, abs=PRINTED)
    # the same figure wherever it is quoted
    quoted = f"{100 * fit.unseen.total:.4f} %"
    readme, page = (Path("out", file).read_text(encoding="utf-8") for file in ("c/README.md", "report.html"))
    assert all(quoted in text for text in (readme, page, said))
    summary = json.loads(Path("out/summary.json").read_text())
    for told in (summary["torque_error"], answer["torque_error"]):
        assert told["functions"].keys() == figures.keys()
        for name, figure in figures.items():
            assert told["functions"][name] == pytest.approx(figure, abs=PRINTED)
        assert quoted in told["verdict"]
    stages = [stage["name"] for stage in summary["stages"]]
    assert sum("identification" in stage for stage in stages) == 1
    assert [path.name for path in Path("out").iterdir() if path.is_dir()] == ["c"]
    assert Path("out/robot.urdf").exists() == ("--urdf" in line)
    assert ("const float" in Path("out/c/arm.h").read_text()) == ("float" in line)


@pytest.mark.parametrize("line", [[*chain(*OPTIONS)]], ids=["everything"])
def test_make_check_prints_the_verdict(line: list[str], place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "--physical" in line:
        pytest.importorskip("clarabel")
    assert_shipped(line, capsys)


@pytest.mark.nightly
@pytest.mark.parametrize("chosen", list(product([False, True], repeat=len(OPTIONS))), ids=str)
def test_all_options_go_together(chosen: tuple[bool, ...], place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("clarabel")
    assert_shipped([word for use, option in zip(chosen, OPTIONS, strict=True) if use for word in option], capsys)


def test_a_reduced_program_has_a_figure_of_its_own(tmp_path: Path) -> None:
    logs = [simulated_recording(arm(), motion(arm(), k), np.random.default_rng(k), torque_noise=1.0) for k in (1, 2)]
    options = {"functions": ("inverse_dynamics",), "tolerance": 0.1, "confidence": 0.9, "routes": ("parameters",)}
    model = tf.model_robot(arm(), logs[0], validate=logs[1], **options)  # type: ignore[arg-type]
    model.write(tmp_path / "out", real="float")
    said = subprocess.run(["make", "check"], cwd=tmp_path / "out" / "c", capture_output=True, text=True, check=True)
    figures = {name: float(figure) / 100 for name, figure in FIGURE.findall(said.stdout)}
    assert model.fit is not None
    assert figures["inverse_dynamics"] == pytest.approx(model.fit.unseen.total, abs=PRINTED)
    # the programs' distance bounds that of their errors
    own, allowed = figures["inverse_dynamics_reduced"], 0.1
    assert 10 * PRINTED < own - figures["inverse_dynamics"] < allowed


def test_friction_that_depends_on_temperature_reaches_the_c(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, figures, _ = shipped(["--friction", "thermal"], capsys)
    robot = tf.load("arm.urdf")
    fit = tf.identify(robot, tf.read_recording("log.csv", robot), friction="thermal")
    assert figures["inverse_dynamics"] == pytest.approx(fit.residuals.total, abs=PRINTED)
    assert "temperature" in Path("out/c/arm.h").read_text()


def test_an_excerpt_and_none_at_all(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    part, figures, _ = shipped(["--excerpt", "5"], capsys)
    assert "an excerpt of 5.0 s" in str(part["torque_error"])
    assert figures
    none, figures, _ = shipped(["--no-recording"], capsys)
    assert figures == {}
    assert not list(Path("out/c").glob("*recording*"))
    told = none["torque_error"]
    assert isinstance(told, dict)
    assert told["stored"] is False
    assert told["functions"]
    assert "no recording is stored here, as was asked for" in told["remark"]
    # it was run on the motion all the same, where that was at hand
    stages = {stage["name"]: stage for stage in none["stages"]}  # type: ignore[attr-defined]
    assert stages["C on recorded motion"]["status"] == "verified"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["log.csv", "--excerpt", "0"], "--excerpt"),
        (["log.csv", "--excerpt", "-3"], "--excerpt"),
        (["log.csv", "--excerpt", "soon"], "--excerpt"),
        (["log.csv", "--excerpt", "5", "--no-recording"], "leave one of them out"),
        (["log.csv", "--real", "half"], "double, float"),
        (["--excerpt", "5"], "--excerpt"),
        (["--no-recording"], "--no-recording"),
        (["--reduce"], "--reduce"),
    ],
    ids=str,
)
def test_what_cannot_be_is_one_sentence_before_the_work(
    line: list[str], words: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["model", "arm.urdf", "-o", "out", *line]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert len(err.splitlines()) <= 2  # one more names --help
    assert not (place / "out").exists()
