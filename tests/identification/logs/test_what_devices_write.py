"""Logs as controllers and other tools write them: dates for time, states beside joints, one field per file."""

from __future__ import annotations

import shlex
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.logs.log_files import PLAIN, ROBOT, log
from identification.logs.test_remedies import written
from tauform.cli import main
from tauform.errors import RecordingError

NAMES = "t,q1,q2,tau1,tau2"


def same(recording: tf.Recording, tolerance: float = 1e-9) -> None:
    for name in ("q", "tau"):
        np.testing.assert_allclose(getattr(recording, name), log()[name], rtol=0, atol=tolerance)
    np.testing.assert_allclose(recording.t - recording.t[0], log()["t"], rtol=0, atol=1e-6)


def dated(path: Path, style: str, sep: str = ",") -> Path:
    """A CSV whose first column is a date or a time of day."""
    lines = [NAMES.replace("t,", "timestamp,").replace(",", sep)]
    for t, *values in np.column_stack([log()["t"], log()["q"], log()["tau"]]).tolist():
        instant = datetime(2026, 3, 1, 9, 59, 55) + timedelta(seconds=round(t, 3))
        stamp = instant.isoformat(timespec="milliseconds") if style == "iso" else instant.strftime(style)
        lines.append(sep.join([stamp, *(f"{value:.12g}" for value in values)]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("style", "sep"),
    [
        ("iso", ","),
        ("%Y-%m-%d %H:%M:%S.%f", ";"),
        ("%Y/%m/%d %H:%M:%S.%fZ", ","),
        ("%H:%M:%S.%f", "\t"),
    ],
)
def test_dates_and_times_of_day_are_a_clock(style: str, sep: str, tmp_path: Path) -> None:
    path = dated(tmp_path / "a.csv", style, sep)
    same(tf.read_recording(path, tf.load(ROBOT)))
    seen = tf.inspect_log(path)
    assert seen.clock is not None
    assert seen.clock.rate == pytest.approx(100.0, rel=1e-3)


def test_a_word_among_dates_is_named_by_its_line(tmp_path: Path) -> None:
    path = dated(tmp_path / "a.csv", "iso")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[300] = lines[300].replace(lines[300].split(",")[0], "later")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(RecordingError, match=r"a.csv: line 301.*later"):
        tf.read_recording(path, tf.load(ROBOT))


def test_notes_between_samples_are_passed_over(tmp_path: Path) -> None:
    path = Path(written(tmp_path / "a.csv", NAMES, log()["t"], log()["q"], log()["tau"]))
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*lines[:500], "# operator: brake test", *lines[500:]]) + "\n", encoding="utf-8")
    same(tf.read_recording(path, tf.load(ROBOT)))


PHASE = np.repeat([1.0, 2.0, 3.0, 4.0], [100, 150, 600, 150])


def held_but_in(phase: float) -> np.ndarray:
    """Positions that move in one phase alone."""
    q = log()["q"].copy()
    rows = np.flatnonzero(phase == PHASE)
    q[: rows[0]], q[rows[-1] :] = q[rows[0]], q[rows[-1]]
    return q


@pytest.mark.parametrize(
    ("name", "values", "trigger"),
    [("DI_run", (PHASE == 3).astype(float), "DI_run"), ("program phase", PHASE, "program phase=3")],
)
def test_a_column_that_marks_rows_is_told_with_its_trigger(
    name: str, values: np.ndarray, trigger: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "a.csv", f"{NAMES},{name}", log()["t"], held_but_in(3.0), log()["tau"], values)
    assert main(["inspect", path, "--quiet"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    flag = f"--trigger {shlex.quote(trigger)}"
    assert f"{name} marks rows by" in said
    assert f"keep those of the motion with {flag}" in said
    recording = tf.read_recording(path, tf.load(ROBOT), trigger=shlex.split(flag)[1])
    assert recording.n_samples == 600


def test_a_state_beside_columns_without_names_is_no_joint(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "", log()["t"], log()["q"], log()["qd"], log()["tau"], PHASE)
    seen = tf.inspect_log(path)
    assert seen.options["columns"] == {"t": "1", "q": "2-3", "qd": "4-5", "tau": "6-7"}
    assert any("trigger='8=" in sentence for sentence in seen.findings)


def test_more_joints_than_the_robot_has_are_not_mixed_up(tmp_path: Path) -> None:
    """Seven columns of positions are no six, with the seventh among the torques."""
    finger = 0.02 * np.sin(3 * log()["t"])
    path = written(tmp_path / "a.csv", "", log()["t"], log()["q"], finger, log()["tau"], 5 * finger + log()["t"] % 0.1)
    said = r"a.csv: .*columns={'t': '1', 'q': '2-3', 'tau': '5-6'}, the first 2 of 3 joints"
    with pytest.raises(RecordingError, match=said):
        tf.read_recording(path, tf.load(ROBOT))
    same(tf.read_recording(path, tf.load(ROBOT), columns={"t": "1", "q": "2-3", "tau": "5-6"}))


def test_a_file_of_one_field_says_what_to_join_it_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    joints = "stamp,joint1,joint2"
    q, _, _ = (
        written(tmp_path / f"run 4_{word}.csv", joints, 1.7e9 + log()["t"], log()[field])
        for word, field in (("pos", "q"), ("vel", "qd"), ("eff", "tau"))
    )
    written(tmp_path / "run 5_eff.csv", joints, log()["t"], log()["tau"])
    seen = tf.inspect_log(q)
    assert [column.field for column in seen.columns] == ["t", "q", "q"]
    assert not seen.options
    command = ["identify", ROBOT, *PLAIN, "--quiet"]
    assert main([*command, q]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "run 4_pos.csv: holds positions by its name, and no torques" in said
    files = shlex.split(said.split("files beside it: ")[1])
    assert len(files) == 1
    assert main([*command, *files]) == 0
    (tmp_path / "alone").mkdir()
    alone = written(tmp_path / "alone" / "positions.csv", joints, log()["t"], log()["q"])
    with pytest.raises(RecordingError, match=r"positions.csv: .*join it with what does, .*path=\[.*torques.cs"):
        tf.read_recording(alone, tf.load(ROBOT))


@pytest.mark.parametrize("fields", [("t", "q", "tau"), ("q", "qd", "tau")])
def test_a_log_of_one_joint_without_names_is_read_as_it_is_said(fields: tuple[str, ...], tmp_path: Path) -> None:
    """A test rig: one column per field."""
    columns = [log()[name] if name == "t" else log()[name][:, 0] for name in fields]
    path, robot = written(tmp_path / "a.csv", "", *columns), tf.load(ROBOT, tip=tf.load(ROBOT).links[0].name)
    seen = tf.inspect_log(path, robot=robot)
    assert seen.options["columns"] == {name: str(k + 1) for k, name in enumerate(fields)}
    assert not seen.others
    with pytest.raises(RecordingError, match=r"a.csv: .*'q': '[12]', .*check it$"):
        tf.read_recording(path, robot)
    recording = tf.read_recording(path, robot, columns=seen.options["columns"], rate=seen.options.get("rate"))
    np.testing.assert_allclose(recording.q[:, 0], log()["q"][:, 0], atol=1e-9)
    np.testing.assert_allclose(recording.t - recording.t[0], log()["t"], atol=1e-9)


def test_positions_of_motors_are_no_degrees(tmp_path: Path) -> None:
    """Beyond a gear of 100 a joint turns as if its radians were degrees."""
    names = ",".join(f"motor_{field}_{k}" for field in ("position", "torque") for k in (1, 2))
    path = written(tmp_path / "a.csv", f"t,{names}", log()["t"], 100 * log()["q"], 0.01 * log()["tau"])
    seen = tf.inspect_log(path)
    assert "units" not in seen.options
    assert any("motor_position_1 ... are positions of motors" in sentence for sentence in seen.findings)
    recording = tf.read_recording(path, tf.load(ROBOT), **seen.options)
    with pytest.raises(RecordingError, match=r"a.csv: .*'motor_position_1' is of a motor .* by the gear ratio"):
        tf.identify(tf.load(ROBOT), recording)


def test_lists_in_a_parquet_file_are_named(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    content = {"time": log()["t"], "position": list(log()["q"]), "effort": list(log()["tau"])}
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(content), tmp_path / "a.parquet")
    with pytest.raises(RecordingError, match=r"a.parquet: position, effort hold lists; write a column of numbers for"):
        tf.inspect_log(tmp_path / "a.parquet")


def test_of_several_topics_the_one_of_the_robots_joints_is_suggested(tmp_path: Path) -> None:
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    kinds = ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    state, header, stamp = (store.types[kind] for kind in kinds)
    robot = tf.load(ROBOT)
    with Writer(tmp_path / "bag", version=9) as bag:
        topics = {"/arm": robot.joint_names, "/a_hand": ("thumb", "index", "ring")}
        for topic, joints in topics.items():
            connection = bag.add_connection(topic, kinds[0], typestore=store)
            zeros = np.zeros(len(joints))
            message = state(header(stamp(1, 0), ""), list(joints), zeros, zeros, zeros)
            bag.write(connection, 10**9, store.serialize_cdr(message, kinds[0]))
    with pytest.raises(RecordingError, match=r"several topics .*choose one, topic='/arm'"):
        tf.read_recording(tmp_path / "bag", robot)
    # Without a robot, the one of most joints.
    with pytest.raises(RecordingError, match=r"several topics .*choose one, topic='/a_hand'"):
        tf.inspect_log(tmp_path / "bag")
