"""What a session holds: robots with the page's edits, uploads by their own names, work that can be ended."""

from __future__ import annotations

import re
import shlex
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from command_flags import flags_of
from studio.small_jobs import refusing, slow
from tauform.errors import DescriptionError, RecordingError, TauformError
from tauform.report.html.meshes import LinkMesh
from tauform.studio.jobs import Job
from tauform.studio.lines import Edits, Lines, LogChoice, RobotLines
from tauform.studio.log_look import look_at_log
from tauform.studio.project import Project, ProjectBusyError
from tauform.studio.scene import stl
from tauform.studio.work import read_logs
from tools.simulated_logs import simulated_log, write_csv


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
    # "fits" is where fits are kept, which are read as Python objects
    for name in ("", ".", "..", "a\0b", "x" * 300, "fits", "../fits"):
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


def ended(job: Job) -> Job:
    """The job once it no longer runs."""
    for _ in range(600):
        if not job.poll():
            return job
        time.sleep(0.05)
    raise TimeoutError(job.title)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name,town\nanna,rome\nbert,oslo\n", "none of its columns (name, town) holds numbers; export time"),
        ("t,q1,q2,tau1,tau2\n" + "0,0,0,0,0\n" * 3 + "\x01\n" * 9, "line 5 holds 1 value, the first line names 5"),
        (None, "no such file; check the path"),
    ],
)
def test_a_log_that_cannot_be_read_is_one_sentence_with_its_own_name(
    tmp_path: Path, text: str | None, sentence: str
) -> None:
    """Whether it is looked at or identified; the folder that uploads lie in is no place that a user knows."""
    project = Project(tmp_path / "session")
    path = project.keep("run.csv", (text or "").encode())
    if text is None:
        path.unlink()
    project.open_robot("two_link")
    for look in (True, False):

        def read(look: bool = look) -> object:
            if look:
                return look_at_log(project.robot, path, {}, lambda words: None)
            return read_logs(project.robot, {path: {}}, lambda words: None)

        with pytest.raises(RecordingError) as refused:
            read()
        assert project.said(refused.value).startswith(f"run.csv: {sentence}")


def test_sentences_speak_of_files_by_the_names_that_a_user_gave_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of uploads, of logs named at the start, also once they are off the list, and of libraries' own temporaries."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    project = Project(tmp_path / "scratch" / "session")
    (tmp_path / "logs").mkdir()
    monkeypatch.chdir(tmp_path)
    project.name_logs([Path("logs/run.csv"), Path("logs/run.csv.gz")])
    project.drop_log("run.csv")
    named, upload, other = (
        tmp_path / "logs" / "run.csv",
        project.folder / "a b.urdf",
        tmp_path / "scratch" / "x" / "y.o",
    )
    said = project.said(f"{named}.gz: short; [Errno 2] gone: '{named}'; {upload}: no robot; {other}: {other.parent}")
    assert said == "logs/run.csv.gz: short; [Errno 2] gone: 'logs/run.csv'; a b.urdf: no robot; y.o: x"
    full = f"{tmp_path / 'scratch'}: cannot hold the recording"
    assert project.said(full) == "the folder of temporary files: cannot hold the recording"
    # A folder of the user's that only ends alike.
    theirs = f"/home/me{tmp_path / 'scratch'}/run.csv"
    assert project.said(theirs) == theirs


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


def page_lines() -> dict[str, Lines]:
    """The lines of every action of the pages, of names that a shell would part."""
    plain = RobotLines("a b.urdf", "tool0", Edits(gravity=(0.0, 0.0, -1.6)))
    chosen = {"columns": {"t": "time", "q": ["a", "b"]}, "units": "deg,mNm", "rate": 500.0}
    log, mapped = LogChoice("run 1.csv"), LogChoice("check.csv", chosen)
    options = {"duration": 10.0, "max_seconds": 5.0, "velocity": 1.0, "acceleration": 2.0, "effort": 50.0, "floor": 0.1}
    found = {}
    edits = Edits(masses={"l1": 2.0}, tool=(0.0, 0.0, 0.1), payload=(1.5, (0.1, 0.0, 0.0)))
    for case, robot in {
        "plain": plain,
        "edited": replace(plain, edits=edits),
        "fitted": replace(plain, fit=plain.identification([log], [mapped], True)),
    }.items():
        found |= {
            f"{case} load": robot.load(),
            f"{case} state": robot.state([-0.1, 0.2], [0.0, 1.0], [0.0, 0.0], {"temperature": [20.0, 20.0]}),
            f"{case} save": robot.saved(".toml"),
            f"{case} look": robot.look(mapped),
            f"{case} reduction": robot.reduction(0.01, "fast"),
            f"{case} recorded": robot.reduction(0.01, "slow", [mapped]),
            f"{case} code": robot.code(["inverse_dynamics", "mass_matrix"], "rust", "float"),
            f"{case} C": robot.code(["inverse_dynamics", "mass_matrix"], "c", "float"),
            f"{case} plan": robot.plan(options | {"collisions": False}),
        }
    return found | {"report": replace(plain, fit=plain.identification([log], [mapped], True)).report()}


@pytest.mark.parametrize("action", page_lines())
def test_lines_are_python_and_commands_that_exist(action: str) -> None:
    lines = page_lines()[action]
    compile(lines.python, "lines", "exec")
    for name in re.findall(r"\btf\.(\w+)", lines.python):
        assert hasattr(tf, name), name
    for line in lines.shell.splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        assert {word.partition("=")[0] for word in words if word.startswith("--")} <= flags_of(words[1])
        assert {"a b.urdf", "a b_edited.toml", "identified.toml"} & set(words)


def test_results_are_kept_without_a_page_and_work_runs_alone(tmp_path: Path) -> None:
    """A tab that is closed in the middle of a run loses nothing."""
    project, seen = Project(tmp_path), []
    found: list[str] = []
    project.watchers.append(seen.append)
    project.start("Work", found.append, slow, 0.0)
    with pytest.raises(ProjectBusyError, match="Work is still running; cancel it first"):
        project.start("Other", found.append, slow, 0.0)
    assert project.job is not None
    # the tab is closed here: nobody looks until the work is long done
    project.watchers.clear()
    job = project.job
    job._process.join(30)
    project.poll()
    assert found == ["result"]
    project.start("Work", found.append, refusing)
    project.job._process.join(30)
    project.poll()
    assert (found, project.complaint) == (["result"], "run.csv: no such column")
    assert seen == ["work"]


def test_the_tool_moves_and_its_payload_with_it(tmp_path: Path) -> None:
    project = Project(tmp_path)
    robot = project.open_robot("kr6_r700")
    q = np.array([0.3, -0.7, 0.4, 0.1, 0.5, 0.2])
    project.tool, project.payload = (0.0, 0.0, 0.2), (2.0, (0.0, 0.0, 0.0))
    before, after = (tf.forward_kinematics(r, q) for r in (robot, project.robot))
    np.testing.assert_allclose(after[:3, 3], before[:3, 3] + 0.2 * before[:3, 2], atol=1e-12)
    # a payload at the moved tool is one with its centre of mass there
    project.tool, project.payload = (0.0, 0.0, 0.0), (2.0, (0.0, 0.0, 0.2))
    shifted = tf.gravity_torque(project.robot, q)
    project.tool, project.payload = (0.0, 0.0, 0.2), (2.0, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(tf.gravity_torque(project.robot, q), shifted, rtol=1e-12)


def test_a_log_is_looked_at_before_it_is_identified(tmp_path: Path) -> None:
    robot, path = tf.load("two_link"), tmp_path / "run.csv"
    t = np.arange(0.0, 4.0, 0.01)
    # the second joint rests for half of the time
    table = np.column_stack([t, np.sin(3 * t), np.where(t < 2, np.cos(3 * t), np.cos(6.0)), np.cos(t), np.sin(t)])
    np.savetxt(path, table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    look = look_at_log(robot, path, {}, lambda words: None)
    assert look.guess == {"t": ["t"], "q": ["q1", "q2"], "qd": [], "tau": ["tau1", "tau2"]}
    rest = next(sentence for sentence in look.findings if sentence.startswith("at rest"))
    assert float(re.findall(r"joint2 (\d+) %", rest)[0]) == pytest.approx(50, abs=6)
    assert list(look.plots) == ["signals", "delays", "spectra"]
    # a log of another robot: a sentence, its columns to be mapped by hand, no figure
    other = look_at_log(tf.load("kr6_r700"), path, {}, lambda words: None)
    assert other.plots == {}
    assert len(other.columns) == 5
    assert "run.csv" in other.findings[0]


def test_a_guess_by_numbers_is_in_the_order_of_the_joints_and_reads(tmp_path: Path) -> None:
    """A log in milliseconds that counts its joints downwards, under names that say nothing."""
    robot, path = tf.load("two_link"), tmp_path / "run.csv"
    log = simulated_log(robot, 1)
    table = np.column_stack([1e3 * log.t, log.q[:, ::-1], log.tau[:, ::-1]])
    np.savetxt(path, table, delimiter=",", header="stamp,w2,w1,m2,m1", comments="")
    look = look_at_log(robot, path, {}, lambda words: None)
    assert look.plots == {}
    assert (look.guess, look.units) == ({"t": ["stamp"], "q": ["w1", "w2"], "qd": [], "tau": ["m1", "m2"]}, ("ms",))
    # What the page asks for once somebody accepts what it shows.
    project = Project(tmp_path / "session")
    project.choices = {f"run.csv:{field}": names[0] if field == "t" else names for field, names in look.guess.items()}
    project.choices["run.csv:units"] = list(look.units)
    read = read_logs(robot, {path: project.log_options("run.csv")}, lambda words: None)["run.csv"]
    np.testing.assert_allclose(read.q, log.q, atol=1e-12)
    np.testing.assert_allclose(read.tau, log.tau, atol=1e-12)
    np.testing.assert_allclose(read.t - read.t[0], log.t - log.t[0], atol=1e-9)


def test_units_of_some_columns_are_no_guess_for_all(tmp_path: Path) -> None:
    """Positions in degrees beside velocities in rad/s: the page's word would turn both."""
    robot, path = tf.load("two_link"), tmp_path / "run.csv"
    log = simulated_log(robot, 1)
    rates = np.gradient(log.q, log.t, axis=0)
    for name, q, qd, units in (("both", 57.3, 57.3, ("deg",)), ("one", 57.3, 1.0, ())):
        table = np.column_stack([log.t, q * log.q, qd * rates, log.tau])
        header = "t,q1 [deg],q2 [deg],qd1,qd2,tau1,tau2"
        np.savetxt(path, table, delimiter=",", header=header, comments="")
        assert look_at_log(robot, path, {}, lambda words: None).units == units, name


def test_meshes_are_served_as_stl() -> None:
    mesh = LinkMesh(0, np.eye(3), np.array([[0, 1, 2]]), (0.5, 0.5, 0.5))
    data = stl(mesh)
    assert len(data) == 84 + 50
    row = np.frombuffer(data[84:132], dtype="<f4").reshape(4, 3)
    np.testing.assert_allclose(row[1:], np.eye(3))
    np.testing.assert_allclose(row[0], np.full(3, 1 / np.sqrt(3)), rtol=1e-6)


MESH = """<mujoco><compiler meshdir="assets"/><asset><mesh name="link" file="link.stl"/></asset>
<worldbody><body><joint type="hinge"/><geom type="mesh" mesh="link"/></body></worldbody></mujoco>"""
ROBOT = """<robot name="x"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="{name}"/></geometry></visual></link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize("name", ["package://x_description/meshes/link.stl", "meshes/link.stl", "meshes\\link.stl"])
def test_meshes_dropped_with_a_urdf_have_lost_their_folders(tmp_path: Path, name: str) -> None:
    project = Project(tmp_path)
    project.keep("link.stl", stl(LinkMesh(0, np.eye(3), np.array([[0, 1, 2]]), (0.5, 0.5, 0.5))))
    project.open_robot(project.keep("x.urdf", ROBOT.format(name=name).encode()))
    assert project.notes == []
    assert [mesh.link for mesh in project.meshes] == [0]


def test_meshes_dropped_with_a_mujoco_model_have_lost_their_folders(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    project = Project(tmp_path)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    project.keep("link.stl", stl(LinkMesh(0, corners, faces, (0.5, 0.5, 0.5))))
    project.open_robot(project.keep("x.xml", MESH.encode()))
    assert [mesh.link for mesh in project.meshes] == [0]


def test_a_delay_of_each_joint_is_told_before_a_run(tmp_path: Path) -> None:
    """Torques shifted by hand, each joint by a time of its own."""
    log, path = simulated_log(tf.load("two_link"), 1, rate=500.0), tmp_path / "late.csv"
    late = [0.02, -0.004]
    tau = np.column_stack([np.interp(log.t - d, log.t, column) for d, column in zip(late, log.tau.T, strict=True)])
    look = look_at_log(tf.load("two_link"), write_csv(replace(log, tau=tau), path), {}, lambda words: None)
    told = next(sentence for sentence in look.findings if sentence.startswith("delay"))
    shown = look.plots["delays"].panels[0].series[0].y
    np.testing.assert_allclose(shown, [20.0, -4.0], atol=0.2)
    assert "joint1 20 ±" in told
    assert "one sample is 2 ms" in told


def test_another_robot_ends_work_on_the_one_before(tmp_path: Path) -> None:
    project, found = Project(tmp_path), []
    project.open_robot("two_link")
    project.start("Work", found.append, slow, 600.0)
    project.open_robot("kr6_r700")
    project.poll()
    assert project.job is not None
    assert (project.job.state, found) == ("cancelled", [])
    assert "Work was ended" in project.complaint
