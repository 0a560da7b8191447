"""A first look at a log, without a robot: what it holds, and options that read it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import tauform as tf
from identification.logs.log_files import PLAIN, ROBOT, arrays, log, put, raw, table
from identification.logs.test_strangers_logs import interleaved, numbers
from tauform.cli import main
from tauform.errors import RecordingError


def test_usual_names_are_told_with_ranges_and_rate(tmp_path: Path) -> None:
    seen = tf.inspect_log(table(tmp_path / "a.csv", velocities=True))
    assert [(c.name, c.field, c.joint) for c in seen.columns[:4]] == [
        ("t", "t", ""), ("q1", "q", "1"), ("q2", "q", "2"), ("tau1", "tau", "1"),
    ]  # fmt: skip
    assert seen.joints == ("1", "2")
    assert seen.clock is not None
    assert seen.clock.rate == pytest.approx(100)
    assert seen.clock.duration == pytest.approx(9.99)
    assert seen.n_samples == 1000
    column, values = seen.columns[1], log()["q"][:, 0]
    expected = values.min(), values.max(), values.mean(), values.std()
    assert (column.smallest, column.largest, column.mean, column.deviation) == pytest.approx(expected, abs=1e-9)
    assert "holds positions of 2 joints, velocities of 2 joints, torques of 2 joints" in seen.findings[0]
    assert not seen.options


def strange_logs(folder: Path) -> list[Path]:
    """Logs that need options: no names and degrees in milliseconds; joint by joint; no time; structs; rpm."""
    axes = "Zeit,status,A1.IstPos,A1.IstMoment,A2.IstPos,A2.IstMoment"
    pairs = np.stack([np.rad2deg(log()["q"]), log()["tau"]], axis=2).reshape(-1, 4)
    q, qd, tau, t = (log()[name] for name in ("q", "qd", "tau", "t"))
    rest = np.zeros(200)
    still = [np.concatenate([np.repeat(x[:1], 200, axis=0), x, np.repeat(x[-1:], 200, axis=0)]) for x in (q, tau)]
    scipy.io.savemat(folder / "struct.mat", {"run": {"t": t, "data": interleaved()}})
    return [
        numbers(folder / "degrees.csv", 1e3 * t, np.rad2deg(q), np.rad2deg(qd), tau),
        numbers(folder / "joints.csv", t, interleaved()),
        folder / "struct.mat",
        numbers(folder / "rpm.csv", t, q, qd * 30 / np.pi, tau, first="t,q1,q2,qd1,qd2,tau1,tau2"),
        numbers(folder / "units.csv", t, np.rad2deg(q), tau, first="t,q1 [deg],q2 [deg],tau1,tau2"),
        numbers(folder / "axes.csv", 1e3 * t, np.arange(len(t)) % 7, pairs, first=axes),
        numbers(folder / "pairs.csv", t, np.stack([q, tau], axis=2).reshape(-1, 4)),
        numbers(folder / "rest.csv", np.arange(1000 + 2 * len(rest)) / 100, *still, first="t,q1,q2,tau1,tau2"),
    ]


def test_the_options_that_are_told_read_the_log(tmp_path: Path) -> None:
    robot = tf.load(ROBOT)
    for path in strange_logs(tmp_path):
        seen = tf.inspect_log(path)
        assert seen.options, path
        read = tf.read_recording(path, robot, **seen.options)
        kept = slice(0, read.n_samples)
        np.testing.assert_allclose(read.q[kept], log()["q"][kept], atol=2e-2 if path.stem == "rest" else 1e-8)
        if path.stem != "rest":
            np.testing.assert_allclose(read.tau, log()["tau"], atol=1e-8)


@pytest.mark.parametrize("name", ["degrees.csv", "joints.csv", "axes.csv", "pairs.csv"])
def test_a_refused_log_is_told_the_same_options(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `inspect` suggests is what `identify` does, as a shell takes it; pasted, it works."""
    path = next(path for path in strange_logs(tmp_path) if path.name == name)
    command = ["identify", ROBOT, str(path), *PLAIN, "--json", "--quiet"]
    assert main(command) == 2
    said = re.search(r"by their numbers they may be (.*); check it", " ".join(capsys.readouterr().err.split()))
    assert said is not None
    assert main([*command, *shlex.split(said[1])]) == 0
    read = json.loads(capsys.readouterr().out)["columns"][name]
    inspected = tf.read_recording(path, tf.load(ROBOT), **tf.inspect_log(path).options).columns
    assert read == json.loads(json.dumps(inspected))
    assert main(["inspect", str(path), "--quiet"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for flag in re.findall(r"--\S+ (?:'[^']*'|\S+)", said[1]):
        assert flag in shown


def test_what_is_missing_is_told(tmp_path: Path) -> None:
    seen = tf.inspect_log(numbers(tmp_path / "a.csv", log()["q"], log()["tau"], first="q1,q2,i1,i2"))
    told = " ".join(seen.findings)
    assert "a.csv: no time column: give the sampling rate, rate=1000" in told
    assert "are motor currents by their names" in told
    assert seen.clock is None
    holes = tf.inspect_log(table(tmp_path / "b.csv", tau=np.where(log()["tau"] > 5, np.nan, log()["tau"])))
    assert "hold samples that are not numbers" in " ".join(holes.findings)
    assert holes.columns[3].n_missing == (log()["tau"][:, 0] > 5).sum()


def test_clocks_are_described(tmp_path: Path) -> None:
    t = log()["t"].copy()
    t[500:] += 3.0
    t[100] = t[99]
    seen = tf.inspect_log(table(tmp_path / "a.csv", t=t))
    assert seen.clock is not None
    assert (seen.clock.n_gaps, seen.clock.n_repeated, seen.clock.n_backwards) == (1, 1, 0)
    assert "1 gap" in repr(seen)
    back = tf.inspect_log(table(tmp_path / "b.csv", t=np.where(t > 5, t - 5, t)))
    assert "runs backwards" in " ".join(back.findings)


def test_rows_in_the_wrong_order_are_no_log_without_time(tmp_path: Path) -> None:
    seen = tf.inspect_log(table(tmp_path / "a.csv", t=log()["t"][::-1]))
    assert seen.clock is not None
    assert seen.clock.rate == pytest.approx(100)
    assert not seen.options
    told = " ".join(seen.findings)
    assert "t runs backwards: sort the rows by it" in told
    assert "no time column" not in told
    still = tf.inspect_log(table(tmp_path / "b.csv", t=0 * log()["t"]))
    assert "t stands still: map the column that holds the time" in " ".join(still.findings)


@pytest.mark.parametrize("field", ["q", "tau"])
def test_a_sample_that_cannot_be_meant_says_nothing_of_units_or_rest(field: str, tmp_path: Path) -> None:
    seen = tf.inspect_log(table(tmp_path / "a.csv", **{field: put(log()[field], (100, 1), -1e6)}))
    assert not seen.options
    assert f"a.csv: {field}2 is -1e+06 at sample 100, while the others run from" in " ".join(seen.findings)


def test_a_guess_of_joints_is_called_one_and_the_robot_decides(tmp_path: Path) -> None:
    path = numbers(tmp_path / "a.csv", log()["t"], log()["q"], log()["tau"])
    alone, named = tf.inspect_log(path), tf.inspect_log(path, robot=tf.load(ROBOT))
    assert "that it is of 2 joints is a guess: name the robot" in " ".join(alone.findings)
    assert "guess" not in " ".join(named.findings)
    assert alone.options == named.options


def test_several_logs_have_a_summary_each(tmp_path: Path) -> None:
    paths = [table(tmp_path / "a.csv"), arrays(tmp_path / "b.npz")]
    assert [seen.name for seen in tf.inspect_log(paths)] == ["a.csv", "b.npz"]


def test_text_columns_and_arrays_of_other_lengths_are_left_out(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([f"{lines[0]},state", *(f"{line},RUN" for line in lines[1:]), ""]), encoding="utf-8")
    assert [c.name for c in tf.inspect_log(path).columns] == ["t", "q1", "q2", "tau1", "tau2"]
    seen = tf.inspect_log(arrays(tmp_path / "a.npz", calibration=np.arange(7.0)))
    assert [c.name for c in seen.columns] == ["t", "q:1", "q:2", "tau:1", "tau:2"]
    assert [c.field for c in seen.columns] == ["t", "q", "q", "tau", "tau"]


def test_the_verb_shows_a_table_or_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(strange_logs(tmp_path)[0])
    assert main(["inspect", path, "--quiet"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "degrees.csv: 7 columns, 1000 samples, 9.99 s at 100 Hz" in shown
    assert "--column q=2-3" in shown
    assert "--time-unit ms" in shown
    assert "--unit q=deg --unit qd=deg" in shown
    assert main(["inspect", path, "--json", "--quiet"]) == 0
    (data,) = json.loads(capsys.readouterr().out)
    assert data["options"]["units"] == {"q": "deg", "qd": "deg"}
    assert data["columns"][1]["field"] == "q"


@pytest.mark.parametrize(("content", "said"), [(b"", "holds no samples"), (b"hello", "holds no samples")])
def test_what_is_no_log_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=f"a.csv: {said}"):
        tf.inspect_log(raw(tmp_path / "a.csv", content))
    with pytest.raises(RecordingError, match="no such file"):
        tf.inspect_log(tmp_path / "absent.csv")


def test_a_log_whose_only_line_is_cut_off_has_columns_and_no_samples(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,q1,q2,tau1,tau2\n0,0,1,-209.96,-4")
    summary = tf.inspect_log(tmp_path / "a.csv")
    assert (summary.n_samples, len(summary.columns)) == (0, 5)
    assert "a.csv: line 2 has no end and may be cut off: left out" in summary.findings
