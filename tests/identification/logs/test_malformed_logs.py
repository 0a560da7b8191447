"""Logs as they should not be: each ends in one sentence with the remedy in flags, exit code 2 and no output file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

from identification.logs.log_files import (
    PLAIN,
    ROBOT,
    arrays,
    cut,
    edited,
    endless_line,
    later,
    log,
    parquet,
    put,
    raw,
    table,
)
from tauform.cli import main

# Name of the file, what makes it, further options, and what is said.
REFUSED: dict[str, tuple[str, Callable[[Path], Any], tuple[str, ...], str]] = {
    "degrees": ("a.csv", lambda p: table(p, q=np.rad2deg(log()["q"])), (), "reads as degrees.*--degrees"),
    "degrees, little motion": (
        "a.csv",
        lambda p: table(p, q=17 * log()["q"], t=log()["t"] / 3),
        (),
        "would turn at .* in degrees.*--degrees",
    ),
    "degrees by name": (
        "a.csv",
        lambda p: table(p, header="t,q1 [deg],q2 [deg],tau1,tau2"),
        (),
        r"'q1 \[deg\]' is in another unit by its name \(deg\); read it with --unit q=deg",
    ),
    "velocity in degrees": (
        "a.csv",
        lambda p: table(p, velocities=True, qd=np.rad2deg(log()["qd"])),
        (),
        "57.3 times the rate.*degrees per second.*--column qd=none",
    ),
    "velocity zero": (
        "a.csv",
        lambda p: table(p, velocities=True, qd=0 * log()["qd"]),
        (),
        "velocity of joint 'joint1' is zero while",
    ),
    "velocity turned": (
        "a.csv",
        lambda p: table(p, velocities=True, qd=-log()["qd"]),
        (),
        "of the opposite sign",
    ),
    "milliseconds": ("a.csv", lambda p: table(p, t=1e3 * log()["t"]), (), "milliseconds.*--time-unit ms"),
    "microseconds": ("a.csv", lambda p: table(p, t=1e6 * log()["t"]), (), "microseconds.*--time-unit us"),
    "nanoseconds": ("a.csv", lambda p: table(p, t=1e9 * log()["t"]), (), "nanoseconds.*--time-unit ns"),
    "no such unit": ("a.csv", table, ("--time-unit", "h"), "--time-unit: no 'h'; choose from 's', 'ms', 'us', 'ns'"),
    "seconds read as milliseconds": ("a.csv", table, ("--time-unit", "ms"), "would turn at .* a unit is wrong"),
    "a joint too many": (
        "a.csv",
        lambda p: table(p, q=log()["q"][:, [0, 1, 1]], tau=log()["tau"][:, [0, 1, 1]]),
        (),
        r"positions of 3 joints \(q1, q2, q3\), the robot has 2 \(joint1, joint2\).*--column q=q1,q2",
    ),
    "a joint too few": ("a.csv", lambda p: table(p, q=log()["q"][:, :1]), (), r"of 1 joint \(q1\), the robot has 2"),
    "no torques": ("a.csv", lambda p: table(p, header="t,q1,q2,x,y"), (), "no torques of 2 joints among t, q1"),
    "NaN in a torque": ("a.csv", lambda p: table(p, tau=put(log()["tau"], (17, 1), np.nan)), (), "sample 17, joint 2"),
    "NaN in time": ("a.csv", lambda p: table(p, t=put(log()["t"], 5, np.nan)), (), "t is not a number at sample 5"),
    "infinity": ("a.csv", lambda p: table(p, q=put(log()["q"], (3, 0), np.inf)), (), "q is not a number at sample 3"),
    "clock reset": (
        "a.csv",
        lambda p: table(p, t=put(log()["t"], slice(500, None), 0.0)),
        (),
        "time runs backwards after sample 499",
    ),
    "one time stamp": ("a.csv", lambda p: table(p, t=0 * log()["t"]), (), "all time stamps are the same"),
    "dead torque": ("a.csv", lambda p: table(p, tau=log()["tau"] * [1, 0]), (), "torque of joint 'joint2' is 0"),
    "dead position": ("a.csv", lambda p: table(p, q=log()["q"] * [1, 0]), (), "never moves.*--lock joint2=0"),
    "positions for torques": ("a.csv", lambda p: table(p, tau=log()["q"]), (), "are the same columns; map the torques"),
    "too few samples": (
        "a.csv",
        lambda p: table(p, **{name: values[:20] for name, values in log().items()}),
        (),
        "20 samples; a recording needs at least 30",
    ),
    "torques late": ("a.csv", lambda p: table(p, tau=later(0.06)), (), r"lag behind.*--delay 0\.0[56]"),
    "torques early": ("a.csv", lambda p: table(p, tau=later(-0.06)), (), r"run ahead of.*--delay -0\.0[56]"),
    "delay beyond the end": ("a.csv", table, ("--delay", "100"), "--delay 100 leaves nothing"),
    "empty": ("a.csv", lambda p: raw(p, b""), (), "holds no samples"),
    "names only": ("a.csv", lambda p: raw(p, b"t,q1,q2,tau1,tau2\n"), (), "holds no samples"),
    "no names": ("a.csv", lambda p: raw(p, b"0,0,0,0,0\n" * 50), (), "first line holds numbers"),
    "a word": ("a.csv", lambda p: edited(p, 41, "0.4,1,oops,3,4"), (), "line 41, column q2: 'oops' is not a number"),
    "a short line": ("a.csv", lambda p: edited(p, 42, "0.4,1,2"), (), "line 42 holds 3 values, the first line names 5"),
    "a long line": ("a.csv", lambda p: edited(p, 42, "0.4,1,2,3,4,5"), (), "line 42 holds 6 values, the first"),
    "cut in its first sample": ("a.csv", lambda p: cut(table(p), 30), (), "holds no samples|names in the first line"),
    "a name too few": ("a.csv", lambda p: table(p, header="t,q1,q2,tau1"), (), "4 names in the first line but 5"),
    "words": (
        "a.csv",
        lambda p: raw(p, b"name,town\nanna,rome\nbert,oslo\n"),
        (),
        r"none of its columns \(name, town\) holds numbers; export time",
    ),
    "one name twice": ("a.csv", lambda p: table(p, header="t,q1,q1,tau1,tau2"), (), "two columns are named 'q1'"),
    "binary": ("a.csv", lambda p: raw(p, bytes(range(256)) * 20), (), "not text"),
    "UTF-16 without its mark": ("a.csv", lambda p: raw(p, "t,q1\n0,1\n".encode("utf-16-le")), (), "a.csv: "),
    "UTF-16 cut in a character": ("a.csv", lambda p: raw(p, "t,q1\n0,1\n".encode("utf-16")[:-1]), (), "a.csv: "),
    "a huge torque": (
        "a.csv",
        lambda p: table(p, tau=put(log()["tau"], (100, 1), 1e30)),
        (),
        r"torque of joint 'joint2' \(column tau2\) is 1e\+30 at sample 100 \(1 s\), while the others run from "
        r"-\d.* cannot be meant; leave it out with --trigger 'tau2<5e\+29'",
    ),
    "a position far away": (
        "a.csv",
        lambda p: table(p, q=put(log()["q"], (100, 0), -50.0)),
        (),
        r"position of joint 'joint1' \(column q1\) is -50 at sample 100 .*--trigger 'q1>-26'",
    ),
    "a position far away, in degrees": (
        "a.npz",
        lambda p: arrays(p, q=np.rad2deg(put(log()["q"], (slice(100, 102), 0), 50.0))),
        ("--degrees",),
        r"is 50 at sample 10[01] \(1(\.01)? s\) and 1 more like it, while .*--trigger 'q:1<1430'",
    ),
    "a velocity far away": (
        "a.csv",
        lambda p: table(p, velocities=True, qd=put(log()["qd"], (100, 0), 1e9)),
        (),
        r"velocity of joint 'joint1' \(column qd1\) is 1e\+09 at sample 100",
    ),
    "time not named": ("a.csv", lambda p: table(p, header="x,q1,q2,tau1,tau2"), (), "--column t="),
    "names unknown": (
        "a.csv",
        lambda p: table(p, header="t,a,b,c,d"),
        (),
        "by their numbers they may be --column t=t --column q=a,b --column tau=c,d",
    ),
    "names mapped wrongly": ("a.csv", table, ("--column", "q=q1,z"), "no column 'z' for q; it has t, q1"),
    "too many names mapped": ("a.csv", table, ("--column", "q=q1,q2,tau1"), "--column gives q 3 names"),
    "field unknown": ("a.csv", table, ("--column", "z=q1"), "--column maps t, q, tau, qd, .*not 'z'"),
    "mapping without names": ("a.csv", table, ("--column", "q"), "--column takes FIELD=NAMES"),
    "prefix unknown": ("a.csv", table, ("--column", "q=w_"), "no 2 columns named w_<joint> for q"),
    "prefix of names that go on": (
        "a.csv", lambda p: table(p, header="t,J1_q,J2_q,J1_t,J2_t"), ("--column", "q=J"), "such as --column 'q=J{}_q'",
    ),
    "prefix of fewer joints": (
        "a.csv", lambda p: table(p, header="t,q1,q2,T_1,x"), ("--column", "tau=T_"), r"for 1 column \(T_1\), the",
    ),
    "pattern of more joints": (
        "a.csv", lambda p: table(p, header="t,J1_q,J2_q,J3_q,J4_q"), ("--column", "q=J{}_q"),
        r"'J{}_q' for q stands for 4 columns \(J1_q, J2_q, J3_q, J4_q\), the robot has 2 joints.*--column q=J1_q,",
    ),
    "pattern that counts from 2": (
        "a.csv", lambda p: table(p, header="t,J2_q,J3_q,J1_t,J2_t"), ("--column", "q=J{}_q"), "numbered from 0 or 1",
    ),
    "pattern unknown": ("a.csv", table, ("--column", "q=w{}_q"), r"no columns like 'w{}_q' for q.*the log t, q1"),
    "pattern of two joints": ("a.csv", table, ("--column", "q={}_{}"), "--column takes patterns with one {}"),
    "no file": ("a.csv", lambda p: None, (), "no such file"),
    "a folder": ("a", lambda p: p.mkdir(), (), "a folder, and no rosbag2"),
    "another format": ("a.xyz", lambda p: raw(p, b"a"), (), r"cannot read \.xyz; use \.csv"),
    "NPZ of six joints": ("a.npz", lambda p: arrays(p, q=np.tile(log()["q"], 3)), (), "q has 6 columns"),
    "NPZ of two lengths": ("a.npz", lambda p: arrays(p, t=log()["t"][1:]), (), "q holds 1000 rows, t 999"),
    "NPZ of objects": ("a.npz", lambda p: np.savez(p, t=np.array([{}])), (), "no columns of numbers"),
    "NPZ cut": ("a.npz", lambda p: cut(arrays(p), 3000), (), "not an NPZ of numbers"),
    "NPZ damaged": (
        "a.npz",
        lambda p: raw(arrays(p), p.read_bytes().replace(log()["q"][500].tobytes(), bytes(16))),
        (),
        "cut off or damaged",
    ),
    "NPZ empty": ("a.npz", lambda p: arrays(p, **{k: v[:0] for k, v in log().items()}), (), "holds no samples"),
    "MAT without numbers": ("a.mat", lambda p: scipy.io.savemat(p, {"log": "hello"}), (), "no columns of numbers"),
    "MAT cut": ("a.mat", lambda p: cut(arrays(p, scipy.io.savemat), 3000), (), "no positions|cut off|cannot read"),
    "MAT of text": ("a.mat", lambda p: raw(p, b"hello"), (), "cannot read it"),
    "Parquet of text": ("a.parquet", lambda p: raw(p, b"hello"), (), "not a Parquet table"),
    "Parquet without a byte": ("a.parquet", lambda p: raw(p, b""), (), "is empty; copy it again"),
    "Parquet cut": ("a.parquet", lambda p: cut(parquet(p), 3000), (), "cut off before its end; copy it again"),
    "Parquet without its last byte": ("a.parquet", lambda p: cut(parquet(p), -1), (), "cut off before its end"),
    "Parquet with a damaged list of columns": (
        "a.parquet",
        lambda p: raw(parquet(p), p.read_bytes()[:-300] + bytes(292) + p.read_bytes()[-8:]),
        (),
        r"cut off or damaged \(.*\); copy it again",
    ),
    "Parquet with a hole": ("a.parquet", lambda p: parquet(p, t=[0.0, None] * 500), (), "not a number at sample 1"),
    "bag of text": ("a.db3", lambda p: raw(p, b"hello"), (), "cannot read the bag"),
    "ROS 1 bag of one endless line": ("a.bag", endless_line, (), "does not begin as bags of ROS 1 do"),
    "MCAP of text": ("a.mcap", lambda p: raw(p, b"hello"), (), "cannot read the bag"),
    "a gain too many": ("a.csv", table, ("--gains", "1,2,3"), "--gains needs 2 numbers"),
    "gains of words": ("a.csv", table, ("--gains", "a,b"), "--gains takes a number per joint"),
    "gains of NaN": ("a.csv", table, ("--gains", "nan,1"), "--gains holds something that is not a number"),
    "smoother unknown": ("a.csv", table, ("--smoother", "x"), "--smoother: no 'x'; choose from 'lowpass'"),
    "negative cut-off": ("a.csv", table, ("--cutoff", "-1", "3"), "--cutoff needs positive cut-offs"),
    "cut-off too low": ("a.csv", table, ("--cutoff", "0.001", "0.001"), "too short for the filters to settle"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_malformed_log_is_refused_in_one_sentence(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, make, options, said = REFUSED[name]
    if Path(file).suffix in (".db3", ".mcap"):
        pytest.importorskip("rosbags")
    if Path(file).suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path, saved = tmp_path / file, tmp_path / "fit.json"
    make(path)
    assert main(["identify", ROBOT, str(path), *PLAIN, "--save", str(saved), *options]) == 2
    shown = capsys.readouterr()
    assert not shown.out
    words = " ".join(shown.err.split())
    assert re.search(said, words), words
    assert "Traceback" not in words
    assert not saved.exists()


@pytest.mark.parametrize("name", ["a huge torque", "a position far away", "a position far away, in degrees"])
def test_a_sample_that_cannot_be_meant_is_left_out_as_it_was_told(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, make, options, _ = REFUSED[name]
    make(tmp_path / file)
    command = ["identify", ROBOT, str(tmp_path / file), *PLAIN, *options, "--quiet"]
    assert main(command) == 2
    found = re.search(r"--trigger '([^']*)'", " ".join(capsys.readouterr().err.split()))
    assert found is not None
    assert main([*command, "--trigger", found[1]]) == 0
    assert re.search(r"keeps 99[89] of 1000 samples", " ".join(capsys.readouterr().out.split()))


@pytest.mark.parametrize("content", [b"", b"t,q1\n"])
def test_what_is_no_log_is_refused_before_the_robot_is_looked_at(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (raw(tmp_path / "a.csv", content), tmp_path / "absent.csv", tmp_path):
        assert main(["identify", "no_such_robot", str(path), "--quiet"]) == 2
        assert path.name in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["model", "reduce", "multirate"])
def test_other_verbs_read_logs_with_the_same_options(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = table(tmp_path / "a.csv", t=1e3 * log()["t"], header="t,a,b,c,d"), tmp_path / "out"
    source = [str(path)] if verb == "model" else ["--recording", str(path)]
    command = [verb, ROBOT, *source, "-o", str(out)]
    mapped = [*command, "--column", "q=a,b", "--column", "tau=c,d"]
    for words, said in ((command, "--column q=a,b"), (mapped, "--time-unit ms")):
        assert main(words) == 2
        assert said in capsys.readouterr().err
    assert not out.exists()
    if verb == "multirate":
        assert main([*mapped, "--time-unit", "ms"]) == 0


@pytest.mark.filterwarnings("error")
def test_columns_of_infinities_and_gaps_are_no_clock() -> None:
    from tauform.identification.logs.contents import is_clock

    assert not is_clock(np.array([np.inf, np.inf, np.nan, 1.0]))
    assert is_clock(np.arange(5.0))
