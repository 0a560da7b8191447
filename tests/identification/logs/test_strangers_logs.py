"""Logs as laboratories write them: read as they are, or refused in a sentence whose flags mend it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

import tauform as tf
from identification.logs.log_files import PLAIN, ROBOT, arrays, log, raw, table
from tauform.cli import main
from tauform.errors import RecordingError, UnknownNameError

NAMES = "t,q1,q2,tau1,tau2"


def numbers(path: Path, *columns: np.ndarray, sep: str = ",", first: str = "") -> Path:
    """Columns of numbers below some text."""
    np.savetxt(path, np.column_stack(columns), delimiter=sep, fmt="%.12g", header=first, comments="")
    if not first:
        path.write_text(path.read_text(encoding="utf-8").lstrip("\n"), encoding="utf-8")
    return path


def read(path: Path | list[Path], **options: Any) -> tf.Recording:
    return tf.read_recording(path, tf.load(ROBOT), **options)


def same(recording: tf.Recording, tolerance: float = 1e-9) -> None:
    for name in ("t", "q", "tau"):
        np.testing.assert_allclose(getattr(recording, name), log()[name], rtol=0, atol=tolerance)


def interleaved() -> np.ndarray:
    """q1, qd1, tau1, q2, qd2, tau2."""
    fields = np.stack([log()[name] for name in ("q", "qd", "tau")], axis=2)
    return fields.reshape(len(fields), -1)


def with_decimal_commas(path: Path) -> Path:
    numbers(path, log()["t"], log()["q"], log()["qd"], log()["tau"], sep=";")
    path.write_text(path.read_text(encoding="utf-8").replace(".", ","), encoding="utf-8")
    return path


# File, what writes it, and flags that are not in the sentence but needed beside it.
WITHOUT_NAMES: dict[str, tuple[str, Callable[[Path], Any], tuple[str, ...]]] = {
    "blocks": ("a.csv", lambda p: numbers(p, log()["t"], log()["q"], log()["qd"], log()["tau"]), ()),
    "joint by joint": ("a.csv", lambda p: numbers(p, log()["t"], interleaved()), ()),
    "torques first": ("a.txt", lambda p: numbers(p, log()["tau"], log()["t"], log()["q"], sep=" "), ()),
    "tabs": ("a.tsv", lambda p: numbers(p, log()["t"], log()["q"], log()["qd"], log()["tau"], sep="\t"), ()),
    "decimal commas": ("a.csv", with_decimal_commas, ()),
    "no time": ("a.csv", lambda p: numbers(p, log()["q"], log()["tau"]), ("--rate", "100")),
    "a matrix": ("a.mat", lambda p: scipy.io.savemat(p, {"data": np.column_stack([log()["t"], interleaved()])}), ()),
}


@pytest.mark.parametrize("name", WITHOUT_NAMES)
def test_columns_without_names_are_suggested_by_number_and_read_so(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, write, more = WITHOUT_NAMES[name]
    write(tmp_path / file)
    command = ["identify", ROBOT, str(tmp_path / file), *PLAIN, "--json", "--quiet", *more]
    assert main(command) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert file in said
    flags = re.findall(r"--column [a-z]+=[\d:a-z-]+(?:,[\d:a-z-]+)*", said)
    assert flags, said
    options: dict[str, str] = dict(pair.split("=") for pair in (flag.split(" ")[1] for flag in flags))
    columns = {k: v.split(",") if "," in v else v for k, v in options.items()}
    same(read(tmp_path / file, columns=columns, rate=100.0 if more else None))
    assert main([*command, *shlex.split(" ".join(flags))]) == 0


def test_a_first_line_of_numbers_that_tell_nothing_has_an_example(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"a.csv: the first line holds numbers .* for example columns={'t': '1'"):
        read(raw(tmp_path / "a.csv", b"0,0,0,0,0\n" * 50))


def test_numbers_beyond_the_last_column_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"a.csv: no column number 6; it has 5"):
        read(table(tmp_path / "a.csv"), columns={"tau": "5-6"})
    same(read(table(tmp_path / "a.csv"), columns={"tau": "4-5", "q": ["2", "3"], "t": "1"}))


@pytest.mark.parametrize(
    "above",
    [
        f"# robot cell 4\n# 2026-11-02 10:12\n{NAMES}",
        f"Data logger 3.1\nchannels: 5\n\n{NAMES}",
        f"{NAMES}\ns,rad,rad,Nm,Nm",
        f"% exported\n{NAMES}\n[s],[rad],[rad],[Nm],[Nm]",
    ],
)
def test_notes_and_units_above_the_numbers_are_understood(above: str, tmp_path: Path) -> None:
    same(read(numbers(tmp_path / "a.csv", log()["t"], log()["q"], log()["tau"], first=above)))


def test_a_line_of_other_units_counts_as_part_of_the_names(tmp_path: Path) -> None:
    path = numbers(
        tmp_path / "a.csv", log()["t"], np.rad2deg(log()["q"]), log()["tau"], first=f"{NAMES}\ns,deg,deg,Nm,Nm"
    )
    with pytest.raises(RecordingError, match=r"a.csv: column 'q1 \[deg\]' is in another unit .*units={'q': 'deg'}"):
        read(path)
    same(read(path, units={"q": "deg"}))
    same(read(path, units="deg"))


def test_a_log_without_time_is_read_by_its_rate(tmp_path: Path) -> None:
    path = numbers(tmp_path / "a.csv", log()["q"], log()["tau"], first="q1,q2,tau1,tau2")
    with pytest.raises(RecordingError, match=r"a.csv: no time column among q1, .*sampling rate, rate=1000"):
        read(path)
    same(read(path, rate=100.0))
    same(read(path, rate=100.0, stream=True))
    with pytest.raises(RecordingError, match=r"rate= takes samples per second, not -1"):
        read(path, rate=-1.0)
    timed = table(tmp_path / "b.csv")
    with pytest.raises(RecordingError, match=r"b.csv: has a time column, 't', and rate= .*columns={'t': None}"):
        read(timed, rate=100.0)
    same(read(timed, rate=100.0, columns={"t": None}))


# How three files of one recording may be written: names of their columns, and time stamps or none.
@pytest.mark.parametrize("header", ["t,j1,j2", "stamp,joint1,joint2", "time,q1,q2", ""])
def test_files_of_one_field_each_are_joined(header: str, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("joint_positions.csv", "velocities.csv", "efforts.txt")]
    for path, field in zip(files, ("q", "qd", "tau"), strict=True):
        own = header.replace("q1,q2", f"{field}1,{field}2")
        numbers(path, 1.7e9 + log()["t"], log()[field], first=own)
    recording = read(files)
    same(recording, 1e-6)
    assert recording.qd is not None
    assert recording.name == "joint_positions.csv+velocities.csv+efforts.txt"


def test_parts_of_other_rates_are_interpolated_but_not_across_gaps(tmp_path: Path) -> None:
    t, tau = log()["t"], log()["tau"]
    numbers(tmp_path / "positions.csv", t, log()["q"], first="t,joint1,joint2")
    slow = np.r_[0:400:2, 600:990:2]  # half the rate, with two seconds missing, and an early end
    numbers(tmp_path / "efforts.csv", t[slow], tau[slow], first="t,joint1,joint2")
    recording = read([tmp_path / "positions.csv", tmp_path / "efforts.csv"])
    expected = np.column_stack([np.interp(t[:399], t[slow], column) for column in tau[slow].T])
    np.testing.assert_allclose(recording.tau[:399], expected, atol=1e-9)
    assert recording.duration == pytest.approx(9.88)
    assert not ((recording.t > 3.98 + 1e-9) & (recording.t < 6.0 - 1e-9)).any()
    assert "efforts.csv: 50 Hz, interpolated at the time stamps of positions.csv; 201 samples" in recording.findings[0]


def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    q = numbers(tmp_path / "positions.csv", log()["t"], log()["q"], first="t,joint1,joint2")
    late = numbers(tmp_path / "efforts.csv", 1e5 + log()["t"], log()["tau"], first="t,joint1,joint2")
    with pytest.raises(RecordingError, match=r"no time in common: positions.csv covers 0 to 9.99 s, efforts.csv .*10"):
        read([q, late])
    with pytest.raises(RecordingError, match=r"positions.csv and pos.csv both hold positions"):
        read([q, numbers(tmp_path / "pos.csv", log()["t"], log()["q"], first="t,joint1,joint2")])
    with pytest.raises(RecordingError, match=r"no file holds torques: positions.csv holds positions; vel.csv "):
        read([q, numbers(tmp_path / "vel.csv", log()["t"], log()["qd"], first="t,joint1,joint2")])
    short = numbers(tmp_path / "torque.txt", log()["tau"][:-1])
    bare = numbers(tmp_path / "position.txt", log()["q"])
    with pytest.raises(RecordingError, match=r"torque.txt holds 999 samples, position.txt 1000; with rate="):
        read([bare, short], rate=100.0)
    same(read([bare, numbers(tmp_path / "torque.txt", log()["tau"])], rate=100.0))


def test_parts_are_joined_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    q = numbers(tmp_path / "positions.csv", log()["t"], log()["q"], first="t,joint1,joint2")
    tau = numbers(tmp_path / "efforts.csv", log()["t"], log()["tau"], first="t,joint1,joint2")
    assert main(["identify", ROBOT, f"{q}+{tau}", *PLAIN, "--quiet"]) == 0
    assert "positions.csv+efforts.csv: read t from t" in " ".join(capsys.readouterr().out.split())


def hdf5(path: Path, content: dict[str, Any]) -> Path:
    """A file as MATLAB's -v7.3 writes it: transposed, structs as groups."""
    h5py = pytest.importorskip("h5py")

    def fill(group: Any, held: dict[str, Any]) -> None:
        for name, value in held.items():
            if isinstance(value, dict):
                fill(group.create_group(name), value)
            else:
                group[name] = np.atleast_2d(value.T if np.ndim(value) == 2 else value)

    with h5py.File(path, "w") as file:
        fill(file, content)
    return path


@pytest.mark.parametrize("write", [scipy.io.savemat, hdf5])
def test_structs_of_matlab_are_looked_into(write: Callable[..., Any], tmp_path: Path) -> None:
    fields = {name: log()[name] for name in ("t", "q", "tau")}
    write(tmp_path / "a.mat", {"run": fields})
    same(read(tmp_path / "a.mat"))
    # one row per joint, as MATLAB users like it
    write(tmp_path / "b.mat", {"log": {"meas": {name: values.T for name, values in fields.items()}}})
    turned = read(tmp_path / "b.mat")
    same(turned)
    assert "b.mat: q, tau hold one row per joint: turned" in turned.findings
    two = {"run1": fields, "run2": {name: 2 * values for name, values in fields.items()}}
    write(tmp_path / "c.mat", two)
    with pytest.raises(RecordingError, match=r"c.mat: no time column among run1.t, "):
        read(tmp_path / "c.mat")
    same(read(tmp_path / "c.mat", columns={"t": "run1.t", "q": "run1.q", "tau": "run1.tau"}))


def test_simulink_structures_with_time_are_read(tmp_path: Path) -> None:
    signals = np.array([(log()["q"], "pos"), (log()["tau"], "tau")], dtype=[("values", object), ("label", object)])
    scipy.io.savemat(tmp_path / "out.mat", {"out": {"time": log()["t"], "signals": signals}})
    columns = {"t": "out.time", "q": "out.signals(1).values", "tau": "out.signals(2).values"}
    with pytest.raises(RecordingError, match=r"out.mat: .*out.signals\(1\).values"):
        read(tmp_path / "out.mat")
    same(read(tmp_path / "out.mat", columns=columns))


def test_series_of_time_and_data_are_read(tmp_path: Path) -> None:
    """As MATLAB users save timeseries: a struct for each field."""
    series = {name: {"Time": log()["t"], "Data": log()[name]} for name in ("q", "tau")}
    for content in (series, {"out": series}):
        scipy.io.savemat(tmp_path / "a.mat", content)
        same(read(tmp_path / "a.mat"))
        assert not tf.inspect_log(tmp_path / "a.mat").options
    series["tau"]["Time"] = log()["t"] + 1
    scipy.io.savemat(tmp_path / "b.mat", series)
    with pytest.raises(RecordingError, match=r"b.mat: no time column among q.Time, tau.Time"):
        read(tmp_path / "b.mat")


@pytest.mark.parametrize("word", ["eff", "kraft", "T"])
def test_columns_by_the_joints_names_are_read_or_suggested(word: str, tmp_path: Path) -> None:
    names = [f"{field}_{joint}" for field in ("pos", word) for joint in ("joint1", "joint2")]
    path = table(tmp_path / "a.csv", header=",".join(["t", *names]))
    if word != "eff":
        with pytest.raises(RecordingError, match=rf"they may be columns={{'tau': '{word}_{{}}'}}; check it"):
            read(path)
    same(read(path, columns={"tau": f"{word}_{{}}"}))


def test_one_joint_in_degrees_is_named_with_its_column(tmp_path: Path) -> None:
    robot = tf.load("kr6_r700")
    q = 0.5 * np.tile(log()["q"], 3)
    q[:, 2] = np.rad2deg(q[:, 2])
    for path, column in ((tmp_path / "a.csv", "q3"), (tmp_path / "a.npz", "q:3")):
        write = table if path.suffix == ".csv" else arrays
        read = tf.read_recording(write(path, q=q, tau=q + 1), robot)
        with pytest.raises(
            RecordingError, match=rf"'joint3' runs from .* degrees, while .*units={{'{column}': 'deg'}}"
        ):
            tf.identify(robot, read)
        mended = tf.read_recording(path, robot, units={column: "deg"})
        np.testing.assert_allclose(mended.q[:, 2], 0.5 * log()["q"][:, 0], atol=1e-9)
        np.testing.assert_allclose(mended.q[:, 3], q[:, 3], atol=1e-9)
        assert tf.inspect_log(path).options == {"units": {column: "deg"}}


def test_what_a_fit_would_refuse_is_found_when_a_log_is_read(tmp_path: Path) -> None:
    for changed in ({"q": np.rad2deg(log()["q"])}, {"tau": log()["tau"] * [1, 0]}):
        recording = read(table(tmp_path / "a.csv", **changed))
        with pytest.raises(RecordingError) as refused:
            tf.identify(tf.load(ROBOT), recording)
        assert recording.findings == (str(refused.value),)
    assert not read(table(tmp_path / "a.csv")).findings


def test_a_number_is_a_column_and_no_prefix(tmp_path: Path) -> None:
    path = numbers(tmp_path / "a.csv", *np.zeros((13, 50)))
    with pytest.raises(RecordingError, match=r"gives q 1 names, the robot has 2 joints"):
        read(path, columns={"t": "1", "q": "10", "tau": "2-3"})


def test_a_group_that_holds_itself_ends(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = hdf5(tmp_path / "a.mat", {"run": {name: log()[name] for name in ("t", "q", "tau")}})
    with h5py.File(path, "a") as file:
        for k in range(20):
            file["run"][f"again{k}"] = file["run"]
            file["run"][f"root{k}"] = file["/"]
    same(read(path))


@pytest.mark.parametrize("write", [arrays, lambda p, **c: arrays(p.with_suffix(".npz"), **c)])
def test_arrays_of_one_row_per_joint_are_turned(write: Callable[..., Path], tmp_path: Path) -> None:
    same(read(write(tmp_path / "a.npz", q=log()["q"].T, tau=np.asfortranarray(log()["tau"].T))))


def named(path: Path, joints: tuple[str, str]) -> Path:
    columns = [f"{field}_{joint}" for field in ("position", "effort") for joint in joints]
    return table(path, header=",".join(["t", *columns]))


@pytest.mark.parametrize(
    ("joints", "why"), [(("A1", "A2"), "by number"), (("joint_one", "joint_two"), "by order"), (("B", "A"), "by order")]
)
def test_other_names_of_joints_are_listed_with_a_mapping(joints: tuple[str, str], why: str, tmp_path: Path) -> None:
    path = named(tmp_path / "a.csv", joints)
    said = rf"a.csv: holds positions of 2 joints \(position_{joints[0]}, .*joint1, joint2\).*joints=\['.*\({why}; check"
    with pytest.raises(RecordingError, match=said):
        read(path)
    recording = read(path, joints=list(joints))
    same(recording)
    assert recording.columns["q"] == tuple(f"position_{joint}" for joint in joints)
    same(read(path, joints={"joint2": joints[1], "joint1": joints[0]}))


def test_mappings_follow_names_whatever_the_order() -> None:
    from tauform.identification.logs.joints import suggested_joints

    robot = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
    assert suggested_joints(robot, ["elbow", "shoulder_lift", "shoulder_pan"])[1] == "by name"
    assert suggested_joints(robot, ["elbow", "shoulder_lift", "shoulder_pan"])[0] == [
        "shoulder_pan",
        "shoulder_lift",
        "elbow",
    ]
    assert suggested_joints(("joint_1", "joint_2"), ["J2", "J1"]) == (["J1", "J2"], "by number")
    assert suggested_joints(("a", "b"), ["x", "y"]) == (["x", "y"], "by order")


def test_mappings_that_cannot_be_meant_are_refused(tmp_path: Path) -> None:
    path = named(tmp_path / "a.csv", ("A1", "A2"))
    with pytest.raises(UnknownNameError, match=r"joints= joint 'joint9' does not exist"):
        read(path, joints={"joint9": "A1"})
    with pytest.raises(RecordingError, match=r"joints= gives 1 names, the robot has 2 joints"):
        read(path, joints=["A1"])
    with pytest.raises(RecordingError, match=r"joints= calls two joints 'A1'"):
        read(path, joints=["A1", "A1"])
    with pytest.raises(RecordingError, match=r"found no positions .* by the names A1, A3"):
        read(path, joints=["A1", "A3"])


def test_a_mapping_is_said_in_flags_that_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["identify", ROBOT, str(named(tmp_path / "a.csv", ("A1", "A2"))), *PLAIN, "--quiet"]
    assert main(command) == 2
    flags = re.search(r"--map \S+", " ".join(capsys.readouterr().err.split()))
    assert flags is not None
    assert main([*command, *flags[0].split(" ")]) == 0
    assert main([*command, "--map", "joint1=A1", "--map", "joint2=A2"]) == 0
    for words in ("A1,joint2=A2", "joint1="):
        assert main([*command, "--map", words]) == 2
        assert "--map takes" in capsys.readouterr().err


@pytest.mark.parametrize("names", [("A1", "A2"), ("1", "2")])
def test_a_robot_with_more_joints_than_the_log_is_cut_or_locked(
    names: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = named(tmp_path / "a.csv", names)
    assert main(["identify", "kr6_r700", str(path), "--quiet"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "a.csv: holds positions of 2 joints" in said
    assert "load the robot without joint3, joint4, joint5, joint6: --tip link2, or --lock joint3=0" in said
    assert tf.load("kr6_r700", tip="link2").joint_names == ("joint1", "joint2")
    with pytest.raises(RecordingError, match=r"q has 2 columns, the robot has 6 joints .*tip='link2', or lock="):
        tf.read_recording(arrays(tmp_path / "a.npz"), tf.load("kr6_r700"))
    # Columns that were named by the user, or that their numbers alone tell.
    with pytest.raises(RecordingError, match=r"gives q 2 names, the robot has 6 joints; .*tip='link2', or lock="):
        tf.read_recording(path, tf.load("kr6_r700"), columns={"q": "2-3"})
    bare = numbers(tmp_path / "b.csv", log()["t"], log()["q"], log()["tau"])
    with pytest.raises(RecordingError, match=r"b.csv: .*columns={'t': '1', 'q': '2-3'.* for 2 joints; .*tip='link2'"):
        tf.read_recording(bare, tf.load("kr6_r700"))


def test_joints_of_a_hand_are_locked_and_not_those_of_the_arm(tmp_path: Path) -> None:
    """A finger that counts from 1 as well: the names decide, and not the last numbers."""
    arm = tf.load("kr6_r700")
    hand = replace(arm, joints=(*arm.joints[:5], replace(arm.joints[5], name="finger_joint1")))
    columns = [f"joint{k}/{field}" for field in ("position", "effort") for k in range(1, 6)]
    values = np.tile(log()["q"], 3)[:, :5]
    path = numbers(tmp_path / "a.csv", log()["t"], values, values, first=",".join(["t", *columns]))
    with pytest.raises(
        RecordingError, match=r"load the robot without finger_joint1: tip='link5', or lock={'finger_joint1'"
    ):
        tf.read_recording(path, hand)


def test_units_are_told_by_field_by_column_or_alone(tmp_path: Path) -> None:
    q, tau, t = np.rad2deg(log()["q"]), 1e3 * log()["tau"], 1e3 * log()["t"]
    path = table(tmp_path / "a.csv", q=q, tau=tau, t=t)
    same(read(path, units="deg,mNm,ms"))
    same(read(path, units={"q": "deg", "tau": "mNm", "t": "ms"}))
    mixed = table(tmp_path / "b.csv", q=np.column_stack([log()["q"][:, 0], q[:, 1]]))
    same(read(mixed, units={"q2": "deg"}))
    spinning = table(tmp_path / "c.csv", velocities=True, qd=log()["qd"] * 30 / np.pi)
    np.testing.assert_allclose(read(spinning, units={"qd": "rpm"}).qd, log()["qd"], atol=1e-9)
    for units, said in (
        ("furlong", "units= knows no 'furlong'; choose from rad"),
        ({"q": "mNm"}, "mNm measures no q"),
        ({"q9": "deg"}, r"a.csv: units={'q9': 'deg'} names neither a field .* nor a column"),
        ({"q1": "mm"}, "a.csv: column 'q1' is of a joint that turns, and 'mm' measures something else"),
    ):
        with pytest.raises(RecordingError, match=said):
            read(path, units=units)


@pytest.mark.parametrize(
    "header", ["t,q1,q2,actual_current_0,actual_current_1", "t,q1,q2,i1,i2", "t,q1,q2,tau1 [A],tau2 [A]"]
)
def test_motor_currents_are_recognised(header: str, tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", tau=log()["tau"] / [20, 5], header=header)
    with pytest.raises(RecordingError, match=r"a.csv: columns .*hold motor currents .*gains=.*units={'tau': 'A'}"):
        read(path)
    same(read(path, gains=[20.0, 5.0]))
    kept = read(path, units={"tau": "A"})
    assert "in amperes" in kept.findings[0]
    np.testing.assert_allclose(kept.tau, log()["tau"] / [20, 5], atol=1e-9)


def test_approach_and_rest_are_cut(tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv")
    cut = read(path, between=(1.0, 9.0))
    assert cut.n_samples == 800
    np.testing.assert_allclose(cut.q, log()["q"][100:900], atol=1e-9)
    for between, said in (((5.0, 1.0), "ends before it starts"), ((20.0, 30.0), r"lies outside of its 9.99 s")):
        with pytest.raises(RecordingError, match=rf"a.csv: between=\(.*{said}"):
            read(path, between=between)
    with pytest.raises(RecordingError, match="between= needs a start and an end in seconds"):
        read(path, between=(0, 10**400))


def test_rows_are_kept_by_a_trigger(tmp_path: Path) -> None:
    phase = np.repeat([0, 1, 0, 3, 0], 200)
    path = numbers(tmp_path / "a.csv", log()["t"], log()["q"], log()["tau"], phase, first=f"{NAMES},phase")
    both = read(path, trigger="phase")
    assert both.n_samples == 400
    assert "a.csv: phase keeps 400 of 1000 samples, in 2 ranges" in both.findings
    np.testing.assert_allclose(both.q, log()["q"][np.flatnonzero(phase)], atol=1e-9)
    assert read(path, trigger="phase=3").n_samples == 200
    assert read(path, trigger="phase>0.5", between=(0.0, 1.0)).n_samples == 100
    assert read(path, trigger="6>=1", stream=True).n_samples == 400
    for trigger, said in (
        ("phase=7", r"a.csv: trigger='phase=7' holds nowhere: its column lies between 0 and 3"),
        ("run", r"a.csv: no column 'run' for trigger="),
        ("phase=on", r"trigger='phase=on' compares with 'on', which is not a number"),
    ):
        with pytest.raises(RecordingError, match=said):
            read(path, trigger=trigger)


def test_options_reach_every_verb_that_reads_logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = numbers(tmp_path / "a.csv", log()["q"], log()["tau"], np.ones(1000))
    options = ["--column", "q=1-2", "--column", "tau=3-4", "--rate", "100", "--trigger", "5", "--between", "1", "9"]
    assert main(["multirate", ROBOT, "--recording", str(path), *options, "--quiet"]) == 0
    assert "a.csv: read q from 1, 2; tau from 3, 4" in " ".join(capsys.readouterr().out.split())
