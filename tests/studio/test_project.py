"""What a session holds: robots with the page's edits, uploads by their own names, work that can be ended."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.errors import DescriptionError, RecordingError, TauformError
from tauform.report.html.meshes import LinkMesh
from tauform.studio.jobs import Job
from tauform.studio.lines import Lines
from tauform.studio.project import Project
from tauform.studio.scene import stl
from tauform.studio.work import read_logs


def test_edits_change_the_torques_as_they_should(tmp_path: Path) -> None:
    project = Project(tmp_path)
    robot = project.open_robot("two_link")
    q = np.array([0.3, -0.7])
    assert tf.gravity_torque(project.robot, q) == pytest.approx(tf.gravity_torque(robot, q))
    project.masses = {link.name: 2 * inertia.mass for link, inertia in zip(robot.links, robot.inertias, strict=True)}
    assert tf.gravity_torque(project.robot, q) == pytest.approx(2 * tf.gravity_torque(robot, q))
    project.gravity = (0.0, 0.0, 0.0)
    assert tf.gravity_torque(project.robot, q) == pytest.approx(np.zeros(2))
    project.gravity, project.payload = (0.0, -9.81, 0.0), (1.5, (0.1, 0.0, 0.0))
    carried = project.robot.payload
    assert carried is not None
    assert carried.inertia.mass == 1.5


def test_a_file_that_is_no_robot_leaves_the_project_as_it_was(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.open_robot("two_link")
    bad = project.keep("../../evil.urdf", b"<robot name='x'>")
    assert bad.parent == tmp_path
    with pytest.raises(DescriptionError):
        project.open_robot(bad)
    assert project.source == "two_link"
    with pytest.raises(TauformError):
        _ = Project(tmp_path).robot


def test_uploads_keep_their_names_and_not_their_paths(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for name in ("../a.csv", "/etc/a.csv", "C:\\logs\\a.csv"):
        assert project.keep(name, b"1").parent == tmp_path
    for name in ("", ".", "..", "a\0b", "x" * 300):
        with pytest.raises(RecordingError):
            project.keep(name, b"1")


def test_each_log_is_read_with_its_own_columns(tmp_path: Path) -> None:
    t = np.arange(0.0, 1.0, 0.02)
    table = np.column_stack([t, *(np.sin((k + 1) * t) for k in range(4))])
    for name, header in (("a", "t,q1,q2,tau1,tau2"), ("b", "t,x,y,u,v")):
        np.savetxt(tmp_path / f"{name}.csv", table, delimiter=",", header=header, comments="")
    chosen = {"columns": {"q": ["x", "y"], "tau": ["u", "v"]}}
    logs = {tmp_path / "a.csv": {}, tmp_path / "b.csv": chosen}
    found = read_logs(tf.load("two_link"), logs, lambda words: None)
    np.testing.assert_array_equal(found["a.csv"].tau, found["b.csv"].tau)


def slow(seconds: float, tell: object) -> str:
    assert callable(tell)
    tell("half")
    time.sleep(seconds)
    return "result"


def refusing(tell: object) -> None:
    raise RecordingError("run.csv: no such column")


def ended(job: Job) -> Job:
    """The job once it no longer runs."""
    for _ in range(600):
        if not job.poll():
            return job
        time.sleep(0.05)
    raise TimeoutError(job.title)


def test_a_job_returns_and_refuses_in_words() -> None:
    job, failing = Job.start("Work", slow, 0.0), Job.start("Work", refusing)
    assert (ended(job).state, job.result, job.words) == ("done", "result", "half")
    assert (ended(failing).state, failing.error) == ("failed", "run.csv: no such column")


def test_a_job_is_cancelled_at_once() -> None:
    job = Job.start("Work", slow, 600.0)
    while job.poll() and job.words != "half":
        time.sleep(0.05)
    start = time.monotonic()
    job.cancel()
    assert job.state == "cancelled"
    assert time.monotonic() - start < 5


def test_lines_are_commands_that_a_shell_reads() -> None:
    lines = Lines.of_fit("/tmp/a b.urdf", "tool0", ["run 1.csv"], ["check.csv"], True)
    assert lines.shell.startswith("tauform identify 'a b.urdf' --tip tool0 'run 1.csv' --validate check.csv --physical")
    compile(lines.python, "lines", "exec")


def test_meshes_are_served_as_stl() -> None:
    mesh = LinkMesh(0, np.eye(3), np.array([[0, 1, 2]]), (0.5, 0.5, 0.5))
    data = stl(mesh)
    assert len(data) == 84 + 50
    row = np.frombuffer(data[84:132], dtype="<f4").reshape(4, 3)
    np.testing.assert_allclose(row[1:], np.eye(3))
    np.testing.assert_allclose(row[0], np.full(3, 1 / np.sqrt(3)), rtol=1e-6)
