"""Which columns of a log become what: never a silent choice, never a shifted row, and always said."""

from __future__ import annotations

import json
import re
import shlex
import time
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.logs.log_files import PLAIN, ROBOT, arrays, log, table
from tauform.cli import main
from tauform.errors import RecordingError

# Header of a log of two joints in which a field may be meant twice, and the field.
TWICE = {
    "two names": ("t,q1,q2,tau1,tau2,torque1,torque2", "tau"),
    "two positions": ("t,q1,q2,tau1,tau2,actual_q_0,actual_q_1", "q"),
    "two units": ("t,q1 [rad],q2 [rad],tau1,tau2,q1 [mrad],q2 [mrad]", "q"),
    "two spellings": ("t,q1,q2,tau1,tau2,q_1,q_2", "q"),
    "by name and by number": ("t,q1,q2,tau1,tau2,joint1_torque,joint2_torque", "tau"),
    "two velocities": ("t,q1,q2,tau1,tau2,qd1,qd2,vel_1,vel_2", "qd"),
    "two clocks": ("t,q1,q2,tau1,tau2,timestamp", "t"),
}


def written(path: Path, header: str, field: str) -> Path:
    """A CSV with this header: the log's five columns first, then those of the field, once or twice."""
    again = [log()[field]] * (2 if field == "qd" else 1)
    columns = np.column_stack([log()["t"], log()["q"], log()["tau"], *again])
    np.savetxt(path, columns, delimiter=",", header=header, comments="", fmt="%.12g")
    return path


@pytest.mark.parametrize("name", TWICE)
def test_a_field_that_is_there_twice_is_refused_with_a_remedy_that_works(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, field = TWICE[name]
    command = ["identify", ROBOT, str(written(tmp_path / "a.csv", header, field)), *PLAIN, "--json"]
    assert main(command) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "two sets of columns may hold" in said
    assert len([column for column in header.split(",") if column in said]) >= 2
    remedy = re.search(rf"--column '?{field}=.*$", said)
    assert remedy is not None
    option, value = shlex.split(remedy[0])  # as a shell takes it
    assert main([*command, option, value]) == 0
    read = json.loads(capsys.readouterr().out)["columns"]["a.csv"][field]
    assert (read if field == "t" else ",".join(read)) == value.removeprefix(f"{field}=")


def test_two_matrices_for_one_field_are_refused(tmp_path: Path) -> None:
    path = arrays(tmp_path / "a.npz", torque=log()["tau"])
    with pytest.raises(RecordingError, match="tau or torque; choose one"):
        tf.read_recording(path, tf.load(ROBOT))
    assert tf.read_recording(path, tf.load(ROBOT), columns={"tau": "torque"}).columns["tau"] == "torque"


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_a_recording_says_which_columns_it_was_read_from(kind: str, tmp_path: Path) -> None:
    robot = tf.load(ROBOT)
    path = table(tmp_path / "a.csv", velocities=True) if kind == "csv" else arrays(tmp_path / "a.npz")
    read = tf.read_recording(path, robot)
    expected = {"t": "t", "q": ("q1", "q2"), "tau": ("tau1", "tau2"), "qd": ("qd1", "qd2")}
    assert read.columns == (expected if kind == "csv" else {"t": "t", "q": "q", "tau": "tau"})
    again = tf.read_recording(path, robot, columns=read.columns)
    np.testing.assert_array_equal(again.tau, read.tau)
    assert read.between(1, 5).columns == read.columns
    fit = tf.identify(robot, read, friction="plain", couplings=None)
    assert fit.findings[0] == read.read_from
    assert tf.Recording(read.t, read.q, read.tau).read_from is None


@pytest.mark.parametrize("verb", ["identify", "model", "reduce", "multirate"])
def test_every_verb_names_the_columns(verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(table(tmp_path / "a.csv"))
    line = {
        "identify": [ROBOT, path, *PLAIN],
        "model": [ROBOT, path, "-o", str(tmp_path / "out"), "--tolerance", "0", "--function", "gravity_torque"],
        "reduce": [ROBOT, "--recording", path, "--samples", "500", "--tolerance", "0.1"],
        "multirate": [ROBOT, "--recording", path],
    }[verb]
    assert main([verb, *line]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "a.csv: read t from t; q from q1, q2; tau from tau1, tau2" in shown


@pytest.mark.parametrize("row", ["0.4,1,2,3,4,5", '0.4,1,"2,3",4,5,6', "0.4,1,2,3,4,"])
@pytest.mark.parametrize("line", [2, 3, 500, 1001])
def test_a_row_with_too_many_values_is_refused_by_its_line(row: str, line: int, tmp_path: Path) -> None:
    lines = table(tmp_path / "a.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    lines[line - 1] = row + "\n"
    (tmp_path / "a.csv").write_text("".join(lines), encoding="utf-8")
    said = "5 names in the first line but 6 columns" if line == 2 else f"line {line} holds 6 values, .* names 5"
    with pytest.raises(RecordingError, match=said):
        tf.read_recording(tmp_path / "a.csv", tf.load(ROBOT))


def test_line_numbers_count_empty_lines(tmp_path: Path) -> None:
    lines = table(tmp_path / "a.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "a.csv").write_text("".join([*lines[:9], "\n\n", "0.4,1,x,3,4\n", *lines[9:]]), encoding="utf-8")
    with pytest.raises(RecordingError, match="line 12, column q2: 'x' is not a number"):
        tf.read_recording(tmp_path / "a.csv", tf.load(ROBOT))


def test_a_csv_cut_anywhere_holds_all_whole_samples_and_no_other(tmp_path: Path) -> None:
    path, robot = table(tmp_path / "a.csv", **{name: values[:60] for name, values in log().items()}), tf.load(ROBOT)
    whole, data = tf.read_recording(path, robot), path.read_bytes()
    assert not whole.findings
    for size in range(len(data) - 150, len(data)):  # the last three lines
        path.write_bytes(data[:size])
        read = tf.read_recording(path, robot)
        assert read.n_samples == data[:size].count(b"\n") - 1
        np.testing.assert_array_equal(read.tau, whole.tau[: read.n_samples])
        np.testing.assert_array_equal(read.q, whole.q[: read.n_samples])
        if data[size - 1 : size] != b"\n":
            assert "has no end and may be cut off: left out" in read.findings[0]


def test_many_columns_are_read_at_once(tmp_path: Path) -> None:
    """Forty thousand names: a comparison of each with each other would take minutes."""
    names = [f"signal_{k}" for k in range(40_000)]
    rows = [",".join([f"{0.01 * k},{np.sin(k):.6g},{np.cos(k):.6g},{k},{-k}", *["0"] * len(names)]) for k in range(31)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([",".join(["t", "q1", "q2", "tau1", "tau2", *names]), *rows, ""]), encoding="utf-8")
    before = time.process_time()
    recording = tf.read_recording(path, tf.load(ROBOT))
    assert time.process_time() - before < 20
    assert recording.columns["tau"] == ("tau1", "tau2")
    with pytest.raises(RecordingError, match=r"no positions of 2 joints among .* more; map them"):
        tf.read_recording(_renamed(path), tf.load(ROBOT))


def _renamed(path: Path) -> Path:
    path.write_text(path.read_text(encoding="utf-8").replace("q1,q2", "a,b", 1), encoding="utf-8")
    return path
