"""Outputs of every verb: files of others stay as they are without --force, and no work is done before that is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from full_disk import full_disk
from sampling import representatives
from tauform.cli import VERBS, main

LOG = ["log.csv", "--friction", "plain", "--no-couplings"]
GRAVITY = ["--gravity", "0", "-9.81", "0"]  # a URDF has no place for it
EXCITE = ["--seconds", "0.05", "--duration", "2", "--harmonics", "2", "--rate", "20"]
# Command lines of all verbs that write, each ending in what is written; PLACE is a folder or a file.
FOLDERS = {
    "generate": ["generate", "two_link", "--functions", "gravity_torque", "-o"],
    "model": ["model", "two_link", "--tolerance", "0", "--functions", "gravity_torque", "-o"],
    "reduce": ["reduce", "two_link", "--route", "velocity", "--samples", "2000", "-o"],
    "reduce --plot": ["reduce", "two_link", "--samples", "2000", "--plot"],
    "multirate": ["multirate", "two_link", "-o"],
    "identify --code": ["identify", "two_link", *LOG, "--code"],
    "fleet": ["fleet", "two_link", ".", "--workers", "0", "-o"],
}
FILES = {
    "show": ["show", "two_link", "-o", "out.toml"],
    "derive": ["derive", "two_link", "-o", "out.npz"],
    "linearize": ["linearize", "two_link", "-o", "out.npz"],
    "simulate": ["simulate", "two_link", "--duration", "0.01", "-o", "out.csv"],
    "simulate --plot": ["simulate", "two_link", "--duration", "0.01", "--plot", "out.html"],
    "excite": ["excite", "two_link", *EXCITE, "-o", "out.csv"],
    "excite --plot": ["excite", "two_link", *EXCITE, "--plot", "out.html"],
    "multirate --plot": ["multirate", "two_link", "--plot", "out.png"],
    "identify --report": ["identify", "two_link", *LOG, "--report", "out.html"],
    "identify --save": ["identify", "two_link", *LOG, "--save", "out.json"],
    "identify --urdf": ["identify", "arm.urdf", *LOG, *GRAVITY, "--urdf", "arm.urdf", "out.urdf"],
}
NEED = {"reduce --plot": "matplotlib", "multirate --plot": "matplotlib", "identify --urdf": "clarabel"}
WRITES_NOTHING = {"robots", "base", "bench", "inspect", "studio", "cache"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a recording of a two-link arm and its URDF."""
    monkeypatch.chdir(tmp_path)
    make_place(tmp_path)
    return tmp_path


def make_place(folder: Path) -> None:
    """Write the recording and the URDF."""
    robot = tf.load("two_link")
    robot.save(folder / "arm.urdf")
    t = np.arange(0.0, 5.0, 0.01)
    phase, rate = np.outer(t, [2.0, 3.1]), np.array([2.0, 3.1])
    tau = tf.inverse_dynamics(robot, np.sin(phase), rate * np.cos(phase), -(rate**2) * np.sin(phase))
    table = np.column_stack([t, np.sin(phase), tau])
    np.savetxt(folder / "log.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")


def test_every_verb_is_here() -> None:
    assert {name.split()[0] for name in (*FOLDERS, *FILES)} | WRITES_NOTHING == set(VERBS)


@pytest.mark.parametrize("name", representatives(FOLDERS, "generate", "reduce", "fleet"))
def test_a_folder_of_others_is_left_alone_and_ours_is_replaced(
    name: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip(NEED.get(name, "tauform"))
    folder = place / "out"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    command = [*FOLDERS[name], "out"]
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "notes.txt" in err
    assert "--force" in err
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
    assert main([*command, "--force"]) == 0
    assert (folder / "notes.txt").read_text() == "mine"
    shutil.rmtree(folder)
    assert main(command) == main(command) == 0  # what we wrote ourselves is ours


@pytest.mark.parametrize("name", representatives(FILES, "show", "simulate --plot", "excite", "identify --save"))
def test_a_file_is_overwritten_only_when_asked(name: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(NEED.get(name, "tauform"))
    file = place / FILES[name][-1]
    file.write_text("mine")
    assert main(FILES[name]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert file.name in err
    assert "--force" in err
    assert file.read_text() == "mine"
    assert main([*FILES[name], "--force"]) == 0
    assert file.read_bytes() != b"mine"


# What the verbs do in their minutes; none of it may begin where the result could not be written.
WORK = ("generate", "derive", "reduce", "multirate", "identify", "excite", "simulate", "state_space", "read_recording")


@pytest.fixture
def idle(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same place, where nothing can be computed."""

    def work(*arguments: object, **options: object) -> None:
        raise AssertionError("this was to be refused before the work")

    for name in WORK:
        monkeypatch.setattr(tf, name, work)
    monkeypatch.setattr("tauform.pipeline.model_robot.model_robot", work)
    return place


def refusal(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    before = sorted(Path.cwd().rglob("*"))
    assert main(command) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert sorted(Path.cwd().rglob("*")) == before
    return err


# Each in place of the output, with the words of its refusal.
NO_FOLDERS = {
    "log.csv": "is a file; give a folder",
    "log.csv/below": "log.csv is a file",
    "x" * 300: "File name too long",
    "loop": "cannot be written",
}
NO_FILES = {
    "log.csv/out": "does not exist",
    "absent/out": "does not exist; create it first",
    "x" * 300: "File name too long",
    "loop": "cannot be written",
    "folder": "is a folder",
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_cannot_be_is_refused_before_the_work(
    name: str, idle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("loop").symlink_to("loop")
    for folder, words in NO_FOLDERS.items():
        assert words in refusal([*FOLDERS[name], folder], capsys)
    with full_disk(1000):
        assert "out: cannot be written (File too large)" in refusal([*FOLDERS[name], "out"], capsys)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_is_refused_before_the_work(
    name: str, idle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    *command, usual = FILES[name]
    ending = Path(usual).suffix
    Path(f"loop{ending}").symlink_to(f"loop{ending}")
    Path(f"folder{ending}").mkdir()
    for file, words in NO_FILES.items():
        said = refusal([*command, file + ending, "--force"], capsys)
        assert words in said or (file == "folder" and "expected a file" in said)
    with full_disk(1000):
        assert "cannot be written (File too large)" in refusal([*command, f"new{ending}"], capsys)


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        (["--save", "a.npz", "--report", "./a.npz"], "two results cannot have one place"),
        (["--code", "out", "--save", "out/fit.npz"], "stands in out, which is written as a whole"),
        (["--save", "fit.txt"], "a fit is saved as .json"),
        (["--urdf", "log.csv", "out.urdf"], "log.csv"),
    ],
)
def test_outputs_that_do_not_go_together_are_refused_before_the_work(
    outputs: list[str], words: str, idle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "out" in outputs:
        Path("out").mkdir()
    assert words in refusal(["identify", "two_link", *LOG, *outputs], capsys)


def test_a_device_is_written_to(place: Path) -> None:
    assert main(["excite", "two_link", *EXCITE, "-o", "/dev/null"]) == 0
