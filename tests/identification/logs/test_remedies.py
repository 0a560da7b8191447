"""Who pastes what is said, sentence by sentence, arrives at the right fit; in a shell and on the page."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

import tauform as tf
from identification.logs.log_files import PLAIN, ROBOT, log, table
from sampling import representatives
from tauform.cli import main
from tauform.errors import RecordingError
from tauform.studio.log_look import look_at_log
from tauform.studio.on_the_page import OnThePage
from tauform.studio.project import Project
from tauform.wording import spoken_by


def written(path: Path, header: str, *columns: np.ndarray) -> str:
    """A CSV of these columns; none of a header without names."""
    np.savetxt(path, np.column_stack(columns), delimiter=",", fmt="%.12g", header=header, comments="")
    if not header:
        path.write_text(path.read_text(encoding="utf-8").lstrip("\n"), encoding="utf-8")
    return str(path)


def turned(joint: int, values: np.ndarray) -> np.ndarray:
    """One joint in degrees."""
    changed = values.copy()
    changed[:, joint] = np.rad2deg(changed[:, joint])
    return changed


def degrees_in_a_struct(path: Path) -> str:
    scipy.io.savemat(
        path / "a.mat", {"rec": {"time": log()["t"], "pos_deg": np.rad2deg(log()["q"]), "trq": log()["tau"]}}
    )
    return str(path / "a.mat")


def joints_in_a_struct_array(path: Path) -> str:
    """As MATLAB users gather what belongs to a joint: joint(1).pos, joint(1).trq."""
    joints = np.zeros(2, dtype=[("name", object), ("pos", object), ("trq", object)])
    for k in range(2):
        joints[k] = (f"J{k + 1}", log()["q"][:, k], log()["tau"][:, k])
    scipy.io.savemat(path / "a.mat", {"t": log()["t"], "joint": joints})
    return str(path / "a.mat")


def two_files(path: Path) -> str:
    q = written(path / "positions.csv", "t,A1 [deg],A2 [deg]", log()["t"], np.rad2deg(log()["q"]))
    return f"{q}+{written(path / 'torques.csv', 't,A1,A2', log()['t'], log()['tau'])}"


# t, q, tau; or with velocities.
def fields(*names: str) -> list[np.ndarray]:
    return [log()[name] for name in names]


STUMBLING: dict[str, Callable[[Path], str]] = {
    "nothing is named": lambda p: written(p / "a.csv", "", *fields("q", "tau")),
    "nothing is named, and velocities tell the rate": lambda p: written(p / "a.csv", "", *fields("q", "qd", "tau")),
    "velocities tell the rate": lambda p: written(p / "a.csv", "q1,q2,qd1,qd2,tau1,tau2", *fields("q", "qd", "tau")),
    "a struct in degrees": degrees_in_a_struct,
    "a struct array of joints": joints_in_a_struct_array,
    "two files": two_files,
    "other names and units": lambda p: str(
        table(p / "a.csv", header="t,pos_A1,pos_A2,trq_A1 [mNm],trq_A2 [mNm]", tau=1e3 * log()["tau"])
    ),
    "units behind the names": lambda p: written(
        p / "a.csv",
        "time_ms,pos_1_deg,pos_2_deg,vel_1_deg/s,vel_2_deg/s,trq_1_Nm,trq_2_Nm",
        1e3 * log()["t"],
        *(np.rad2deg(log()[name]) for name in ("q", "qd")),
        log()["tau"],
    ),
    "names with blanks": lambda p: written(
        p / "a.csv",
        "Time (ms),Joint 1 Angle (deg),Joint 2 Angle (deg),Joint 1 Torque (Nm),Joint 2 Torque (Nm)",
        1e3 * log()["t"],
        np.rad2deg(log()["q"]),
        log()["tau"],
    ),
    "counted downwards behind a blank": lambda p: written(
        p / "a.csv", "t,pos A2,pos A1,torque A2,torque A1", log()["t"], log()["q"][:, ::-1], log()["tau"][:, ::-1]
    ),
    "a letter of one's own": lambda p: written(p / "a.csv", "t,q1,q2,u1,u2", *fields("t", "q", "tau")),
    "torques as they were asked for": lambda p: written(
        p / "a.csv", "t,q1,q2,tau_des1,tau_des2", *fields("t", "q", "tau")
    ),
    "positions as they were asked for": lambda p: written(
        p / "a.csv", "t,q_cmd_1,q_cmd_2,tau_1,tau_2", *fields("t", "q", "tau")
    ),
    "asked for beside measured": lambda p: written(
        p / "a.csv",
        "t,q_des_1,q_des_2,q_meas_1,q_meas_2,m_cmd_1,m_cmd_2,m_act_1,m_act_2",
        log()["t"], log()["q"] + 0.02, log()["q"], 1.1 * log()["tau"], log()["tau"],
    ),
    "velocities in degrees": lambda p: written(
        p / "a.csv", "t,q1,q2,qd1,qd2,tau1,tau2", log()["t"], log()["q"], np.rad2deg(log()["qd"]), log()["tau"]
    ),
    "all in degrees": lambda p: written(
        p / "a.csv", "t,q1,q2,qd1,qd2,tau1,tau2", log()["t"], *np.rad2deg([log()["q"], log()["qd"]]), log()["tau"]
    ),
    "positions in degrees": lambda p: written(
        p / "a.csv", "t,q1,q2,qd1,qd2,tau1,tau2", log()["t"], np.rad2deg(log()["q"]), *fields("qd", "tau")
    ),
    "a rail beside the arm": lambda p: written(
        p / "a.csv",
        "t,position_rail,position_A1,position_A2,effort_rail,effort_A1,effort_A2",
        log()["t"], 0.1 * log()["q"][:, 0], log()["q"], log()["t"] % 1, log()["tau"],
    ),
}  # fmt: skip


def pasted(robot: str, log_file: str, capsys: pytest.CaptureFixture[str], *more: str, most: int = 4) -> list[str]:
    """Flags that a user has pasted from what was said, until a log is read."""
    flags: list[str] = []
    for _ in range(most):
        if main(["identify", robot, log_file, *PLAIN, "--quiet", *more, *flags]) == 0:
            return flags
        said = " ".join(capsys.readouterr().err.split())
        assert Path(log_file.split("+")[0]).name in said
        # Of two ways the first, but the last of --tip and --lock, which keeps what hangs on the joint; of an example of
        # a rate, the true one.
        first = re.split(r", or (?!--lock)|; --", said.replace("--rate 1000", "--rate 100"))[0]
        found = re.findall(r"--(?!tip)\S+(?: (?:'[^']*'|[^\s;,]+(?:,[^\s;,]+)*))?", first)
        assert found, said
        flags += shlex.split(" ".join(found))
    raise AssertionError(f"not read after {flags}")


@pytest.mark.parametrize(
    "name",
    representatives(
        list(STUMBLING), "nothing is named, and velocities tell the rate", "two files", "units behind the names",
        "asked for beside measured", "positions in degrees", "a struct array of joints", "a letter of one's own",
    ),
)  # fmt: skip
def test_what_is_said_leads_to_the_right_fit(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every sentence names the file and flags that mend it; who pastes them gets the torques that were recorded."""
    saved = tmp_path / "fit.json"
    pasted(ROBOT, STUMBLING[name](tmp_path), capsys, "--save", str(saved), "--force")
    t, q, qd = (log()[field] for field in ("t", "q", "qd"))
    error = tf.load_fit(saved).predict(q, qd, np.gradient(qd, t, axis=0)) - log()["tau"]
    assert (error.std(axis=0) < 0.03 * log()["tau"].std(axis=0) + 0.05).all()


def test_a_wrong_rate_is_told_by_the_velocities(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever pasted an example of a rate hears of the right one, and not that velocities belong to no position."""
    path = STUMBLING["velocities tell the rate"](tmp_path)
    robot = tf.load(ROBOT)
    with pytest.raises(RecordingError, match=r"a.csv: .*samples seem to be taken at 100 Hz; give the rate, rate=100,"):
        tf.identify(robot, tf.read_recording(path, robot, rate=1000.0))
    assert tf.inspect_log(path).options["rate"] == 100.0
    # Velocities in degrees per second beside radians would tell a rate that no logger has.
    other = written(tmp_path / "b.csv", "q1,q2,qd1,qd2,tau1,tau2", log()["q"], np.rad2deg(log()["qd"]), log()["tau"])
    assert "rate" not in tf.inspect_log(other).options


def test_one_joint_in_degrees_is_mended_in_both_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = tf.load("kr6_r700")
    q, qd = (0.5 * np.tile(log()[name], 3) for name in ("q", "qd"))
    header = ",".join(["t", *(f"{field}{k}" for field in ("q", "qd", "tau") for k in range(1, 7))])
    path = written(tmp_path / "a.csv", header, log()["t"], turned(2, q), turned(2, qd), q + np.linspace(0, 1, 6))
    read = tf.read_recording(path, robot, units={"q3": "deg"})
    with pytest.raises(RecordingError, match=r"a.csv: .*degrees per second; read it with units={'qd3': 'deg/s'}"):
        tf.identify(robot, read)
    mended = tf.read_recording(path, robot, units={"q3": "deg", "qd3": "deg/s"})
    assert mended.qd is not None
    np.testing.assert_allclose(np.asarray(mended.qd), qd, atol=1e-9)


def test_units_with_and_without_a_field_are_taken_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Flags are pasted beside those that are there already."""
    path = STUMBLING["positions in degrees"](tmp_path)
    flags = ["--unit", "deg", "--unit", "qd=rad/s"]
    assert main(["identify", ROBOT, path, *PLAIN, "--quiet", *flags]) == 0


@pytest.mark.parametrize("name", representatives(list(STUMBLING), "nothing is named", "units behind the names"))
def test_the_page_says_what_to_choose_on_it(name: str, tmp_path: Path) -> None:
    """A user of the studio has neither arguments nor flags: lists, fields and buttons are named by their labels."""
    path = STUMBLING[name](tmp_path)
    if "+" in path:
        pytest.skip("the page reads one file a log")
    with spoken_by(OnThePage()):
        project = Project(tmp_path / "session")
        project.open_robot(ROBOT)
        for _ in range(4):
            look = look_at_log(project.robot, Path(path), project.log_options("log"), lambda words: None)
            for sentence in look.findings:
                code = re.findall(r"--[a-z]|\w+=\{|\w+=\[|\w+='|tf\.\w+", sentence)
                assert not code or "in Python" in sentence, sentence
            if look.plots:
                return
            chosen = said_on_the_page(look.findings[0], [str(row["column"]) for row in look.columns])
            assert chosen, look.findings[0]
            units = [*project.choices.get("log:units", []), *chosen.pop("units", [])]
            # Lists show the guess; what a user leaves as it is is taken with it.
            for field, names in look.guess.items():
                project.choices.setdefault(f"log:{field}", (names[0] if names else None) if field == "t" else names)
            project.choices |= {f"log:{option}": value for option, value in chosen.items()} | {"log:units": units}
    raise AssertionError(look.findings[0])


def said_on_the_page(sentence: str, columns: list[str]) -> dict[str, Any]:
    """Option -> what a sentence says to choose there."""
    chosen: dict[str, Any] = {}
    if found := re.search(r'"units that are not SI" (\w+(?:, \w+)*)', sentence):
        chosen["units"] = found[1].split(", ")
    if found := re.search(r'"rate without a time column \[Hz\]" ([\d.]+)', sentence):
        chosen["rate"] = float(found[1])
    for field, said in re.findall(r'"[a-z]+ \((\w+)\)" ([^";]+?)(?:, "|;|$| reads| with)', sentence):
        like = re.compile(re.escape(said).replace("…", r"\d+"))
        named = [column for column in columns if like.fullmatch(column)] or said.split(", ")
        chosen |= {field: named} if set(named) <= set(columns) and field != "t" else {"guess": True}
    if found := re.search(r"the columns of (.+), chosen in this order", sentence):
        joints = found[1].split(", ")
        kept = [[c for c in columns if re.search(rf"{re.escape(joint)}(?!\d)", c)] for joint in joints]
        chosen |= {field: [of_joint[k] for of_joint in kept] for k, field in enumerate(("q", "tau"))}
    return chosen
