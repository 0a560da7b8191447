"""The lines below the page, pasted as they stand, give what the page shows."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from studio.studio_pages import heavier_arm, write_logs
from tauform.cli import main
from tauform.errors import RecordingError
from tauform.studio import work
from tauform.studio.lines import Lines
from tauform.studio.log_look import look_at_log
from tauform.studio.project import Project

STATE = np.array([[0.3, -0.7], [0.5, -1.0], [1.0, 2.0]])
Json = Callable[[str], Any]


def silent(words: object) -> None:
    """Nobody listens."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A changed robot and two logs, named as at the start of the studio from the folder of the logs."""
    folder = tmp_path / "session"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    found = Project(folder)
    robot = found.open_robot("two_link")
    (tmp_path / "logs").mkdir()
    write_logs(heavier_arm(robot, 1.2), tmp_path / "logs")
    found.name_logs([Path("logs/run1.csv"), Path("logs/run2.csv")])
    found.gravity = (0.0, -3.7, 0.0)
    return found


def change(project: Project) -> None:
    """Edits that no flag has a word for; the file that Save TOML gives lies beside the logs."""
    project.masses, project.tool, project.payload = {"link1": 2.0}, (0.0, 0.1, 0.0), (1.5, (0.1, 0.0, 0.0))
    project.robot.save(project.lines.file_name(".toml"))


def identified(project: Project) -> Any:
    """What the page does on Identify."""
    options = [{project.logs[name]: {}} for name in project.logs]
    kept = project.fit_folder / "fit 1"
    project.fit_lines["fit 1"] = project.lines.identification(*[[project.log_choice(n)] for n in project.logs], False)
    project.fits["fit 1"] = work.identify_robot(project.robot, options[0], options[1], False, kept, silent)
    return project.fits["fit 1"]


def pasted(lines: Lines) -> dict[str, Any]:
    """Names that the Python lines leave behind in a fresh interpreter."""
    names: dict[str, Any] = {}
    exec(compile(lines.python, "pasted", "exec"), names)
    return names


@pytest.fixture
def commanded(capsys: pytest.CaptureFixture[str]) -> Json:
    """Runs the lines of the shell; the last answers as JSON."""

    def run(text: str) -> Any:
        for line in text.splitlines():
            capsys.readouterr()
            words = shlex.split(line, comments=True)
            assert not words or main([*words[1:], "--json", "--quiet"]) in (0, 1)
        return json.loads(capsys.readouterr().out)

    return run


@pytest.mark.parametrize("changed", [False, True])
def test_a_state(project: Project, commanded: Json, changed: bool) -> None:
    if changed:
        change(project)
    lines = project.lines.state(*STATE.tolist(), {})
    names, answer = pasted(lines), commanded(lines.shell)["state"]
    expected = tf.inverse_dynamics(project.robot, *STATE)
    np.testing.assert_allclose(tf.inverse_dynamics(names["robot"], *STATE), expected)
    np.testing.assert_array_equal([names["q"], names["qd"], names["qdd"]], STATE)
    np.testing.assert_allclose(answer["tau"], expected, rtol=1e-12)
    np.testing.assert_allclose(answer["mass_matrix"], tf.mass_matrix(project.robot, STATE[0]), rtol=1e-12)
    J = tf.jacobian(project.robot, STATE[0])
    assert answer["manipulability"] == pytest.approx(np.sqrt(np.linalg.det(J.T @ J)))


def test_changes_and_files(project: Project, commanded: Json) -> None:
    saved = project.lines.saved(".toml")
    commanded(saved.shell)
    assert tf.load("two_link_edited.toml") == project.robot
    Path("two_link_edited.toml").unlink()
    change(project)
    pasted(project.lines.saved(".toml"))
    assert tf.load("two_link_edited.toml") == project.robot
    assert pasted(project.lines.changed())["robot"] == project.robot
    pasted(project.lines.load())["robot"].view()


def test_a_log_before_it_is_identified(project: Project, commanded: Json) -> None:
    project.choices["run1.csv:q"] = ["q2", "q1"]  # mapped by hand
    lines = project.lines.look(project.log_choice("run1.csv"))
    look = look_at_log(project.robot, project.logs["run1.csv"], project.log_options("run1.csv"), silent)
    seen, answer = pasted(lines)["seen"], commanded(lines.shell)[0]["recording"]
    drawn = look.plots["delays"].panels[0].series[0]
    np.testing.assert_allclose(1e3 * seen.delays.seconds, drawn.y, rtol=1e-9)
    np.testing.assert_allclose(1e3 * np.array(answer["delays"]["seconds"]), drawn.y, rtol=1e-9)
    assert set(seen.findings) < set(look.findings)


def test_a_log_in_degrees_without_a_clock(project: Project, commanded: Json) -> None:
    recorded = tf.read_recording(project.logs["run1.csv"], project.robot)
    table = np.column_stack([np.degrees(recorded.q), recorded.tau])
    np.savetxt(project.logs["run1.csv"], table, delimiter=",", header="q1,q2,tau1,tau2", comments="")
    project.choices |= {"run1.csv:units": ["deg"], "run1.csv:rate": 100.0}
    lines = project.lines.look(project.log_choice("run1.csv"))
    read = pasted(lines)["recording"]
    np.testing.assert_allclose(read.q, recorded.q, atol=1e-12)
    np.testing.assert_allclose(read.t, recorded.t - recorded.t[0], atol=1e-9)
    told, seen = commanded(lines.shell)[0]["recording"], tf.inspect_recording(project.robot, read)
    np.testing.assert_allclose(told["delays"]["seconds"], seen.delays.seconds, rtol=1e-9)


@pytest.mark.parametrize("changed", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_a_fit_its_report_and_smaller_programs_of_its_robot(project: Project, commanded: Json, changed: bool) -> None:
    if changed:
        change(project)
    look = identified(project)
    report = project.lines.report()
    fit = pasted(report)["fit"]
    assert Path("report.html").stat().st_size > 1e5
    # What exists is not overwritten unasked.
    Path("report.html").unlink()
    answer = commanded(report.shell)
    assert (fit.verdict.reasons, fit.unseen.total) == (look.verdict.reasons, look.unseen.total)
    assert answer["validation"]["total"] == pytest.approx(look.unseen.total, rel=1e-9)
    assert Path("report.html").stat().st_size > 1e5
    lines = project.lines.reduction(0.05, "slow", [project.log_choice("run1.csv")])
    logs = {project.logs["run1.csv"]: {}}
    shown = work.shrink(project.identified, 0.05, "slow", logs, silent).found
    assert pasted(lines)["found"].program.n_operations == shown.program.n_operations
    counts = commanded(lines.shell)
    assert counts["multiplications"] + counts["additions"] == shown.program.n_operations


@pytest.mark.parametrize("name", ["-n.toml", "a\"b'c $(x) <b>`.toml", "ä ö.toml", "../x.toml"])
def test_names_of_files_are_quoted(project: Project, commanded: Json, name: str) -> None:
    text = tf.load("two_link").save("plain.toml").path.read_bytes()
    path = project.keep(name, text)
    assert path.parent == project.folder
    project.open_robot(path)
    Path(path.name).write_bytes(text)
    assert pasted(project.lines.changed())["robot"] == project.robot
    assert commanded(project.lines.load().shell)["n_joints"] == 2


def test_a_name_that_no_disk_takes_is_refused_without_its_folder(project: Project) -> None:
    with pytest.raises(RecordingError, match=r"^yyy.*longer than 200 bytes; rename it$"):
        project.keep("y" * 300, b"")


@pytest.mark.nightly
@pytest.mark.parametrize("target", ["c", "rust"])
@pytest.mark.parametrize("fitted", [False, True])
def test_code(project: Project, commanded: Json, target: str, fitted: bool) -> None:
    """The same files, byte by byte, from the page, Python and the command line."""
    if fitted:
        identified(project)
    names = ["inverse_dynamics", "gravity_torque"]
    model: Any = project.last_fit.path if project.last_fit else project.robot
    lines = project.lines.code(names, target, "float")
    work.deliver(model, names, target, "float", Path("page"), silent)
    pasted(lines)
    Path("out").rename("python")
    commanded(lines.shell)
    files = sorted(path.relative_to("out") for path in Path("out").rglob("*") if path.is_file())
    assert len(files) > 3
    for path in files:
        assert Path("python", path).read_bytes() == Path("out", path).read_bytes(), path
        assert Path("page", path).read_bytes() == Path("out", path).read_bytes(), path


@pytest.mark.nightly
def test_a_plan(project: Project, commanded: Json) -> None:
    change(project)
    options = {"duration": 5.0, "max_seconds": 1.0, "velocity": 1.0, "acceleration": 4.0, "collisions": False}
    lines = project.lines.plan(options)
    for run in (lambda: pasted(lines), lambda: commanded(lines.shell)):
        run()
        t, q1, q2 = np.loadtxt("motion.csv", delimiter=",", skiprows=1)[:, :3].T
        assert t[-1] == pytest.approx(5.0, abs=0.1)
        assert max(np.abs(np.gradient(q, t)).max() for q in (q1, q2)) < 1.01
        Path("motion.csv").unlink()
