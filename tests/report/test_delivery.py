"""The folder that is delivered: complete, tested, ours alone, never half-written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.errors import GenerationError
from tauform.files.manifest import MANIFEST, Manifest, digest
from tauform.pipeline import model_robot as pipeline
from tauform.pipeline import program_stages
from tauform.pipeline.robot_model import RobotModel
from tauform.report import code_folder
from tauform.report import delivery as module
from tauform.report.code_folder import self_test
from tauform.report.delivery import Delivery

needs_compiler = pytest.mark.skipif(
    shutil.which("make") is None or shutil.which("cc") is None, reason="no make or C compiler installed"
)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_folder_holds_code_models_and_report(delivery: Delivery) -> None:
    names = {str(path.relative_to(delivery.folder)) for path in delivery.files}
    assert {"report.html", "summary.json", "robot.toml", "closed_form.npz", "c/two_link.c", "c/Makefile"} <= names
    assert all(path.is_file() for path in delivery.files)
    assert set(contents(delivery.folder)) == names | {MANIFEST}


def test_what_was_written_reads_back(delivery: Delivery, two_link: RobotModel) -> None:
    robot = tf.load(delivery.folder / "robot.toml")
    assert robot.parameters.tolist() == two_link.robot.parameters.tolist()
    model = tf.load_model(delivery.folder / "closed_form.npz")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    np.testing.assert_allclose(
        model.bind(robot).inverse_dynamics(q, qd, qdd), tf.inverse_dynamics(robot, q, qd, qdd), atol=1e-12
    )
    summary = json.loads((delivery.folder / "summary.json").read_text())
    assert [stage["name"] for stage in summary["stages"]] == [stage.name for stage in delivery.stages]


@needs_compiler
def test_the_c_passed_its_self_test(delivery: Delivery) -> None:
    stage = next(stage for stage in delivery.stages if stage.name == "C")
    assert stage.status == "verified"
    assert stage.figure is not None
    assert stage.allowed is not None
    assert 0 <= stage.figure <= stage.allowed
    assert not (delivery.folder / "c" / "test_two_link").exists()  # the test ran elsewhere


@needs_compiler
def test_what_make_check_builds_is_ours(two_link: RobotModel, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    two_link.write(folder)
    subprocess.run(["make", "check"], cwd=folder / "c", check=True, capture_output=True)
    two_link.write(folder)
    assert not (folder / "c" / "test_two_link").exists()


@needs_compiler
def test_c_that_fails_is_not_delivered(two_link: RobotModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = code_folder.write_c

    def damaged(programs: object, folder: Path, name: str | None, real: str) -> object:
        files = write(programs, folder, name=name, real=real)  # type: ignore[arg-type]
        source = folder / "two_link.c"
        source.write_text(source.read_text().replace(" + ", " - "))
        return files

    monkeypatch.setattr(code_folder, "write_c", damaged)
    with pytest.raises(GenerationError, match=r"failed its self-test.*was not written; everything else is in .*out"):
        two_link.write(tmp_path / "out")
    assert not (tmp_path / "out" / "c").exists()
    assert "failed its self-test" in (tmp_path / "out" / "report.html").read_text()
    stages = json.loads((tmp_path / "out" / "summary.json").read_text())["stages"]
    assert [stage["name"] for stage in stages if stage["status"] == "failed"] == ["C"]


def test_without_a_compiler_the_summary_says_so(
    two_link: RobotModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    assert self_test(tmp_path) is None
    written = two_link.write(tmp_path / "out")
    stage = next(stage for stage in written.stages if stage.name == "C")
    assert stage.status == "skipped"
    assert "no C compiler" in stage.outcome


def test_a_folder_of_somebody_else_is_left_alone(two_link: RobotModel, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (folder / "c").mkdir(parents=True)
    (folder / "c" / "notes.txt").write_text("mine")
    with pytest.raises(GenerationError, match=r"did not write \(c/notes.txt\)"):
        two_link.write(folder)
    assert contents(folder) == {"c/notes.txt": b"mine"}

    written = two_link.write(folder, force=True)
    assert (folder / "c" / "notes.txt").read_text() == "mine"
    assert all(path.is_file() for path in written.files)
    assert os.listdir(tmp_path) == ["out"]
    # what we wrote there before and write no longer goes; what is not ours stays
    (folder / "old.txt").write_text("ours, from before")
    (folder / MANIFEST).write_text(Manifest({"old.txt": digest(folder / "old.txt")}).text())
    two_link.write(folder, force=True)
    assert not (folder / "old.txt").exists()
    assert (folder / "c" / "notes.txt").exists()


def test_a_file_added_to_our_folder_is_noticed(two_link: RobotModel, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    two_link.write(folder)
    two_link.write(folder)  # ours alone: replaced
    before = contents(folder)
    (folder / "c" / "main.c").write_text("int main(void) { return 0; }")
    with pytest.raises(GenerationError, match=r"c/main\.c"):
        two_link.write(folder)
    assert contents(folder) == {**before, "c/main.c": b"int main(void) { return 0; }"}


def test_an_empty_subfolder_counts_as_somebody_elses(two_link: RobotModel, tmp_path: Path) -> None:
    (tmp_path / "plans").mkdir()
    with pytest.raises(GenerationError, match="plans"):
        two_link.write(tmp_path)


def test_a_failure_leaves_what_was_there(two_link: RobotModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    two_link.write(folder)
    before = contents(folder)

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "model_page", full)
    with pytest.raises(GenerationError, match="No space left on device"):
        two_link.write(folder)
    assert contents(folder) == before
    assert os.listdir(tmp_path) == ["out"]


def test_the_folder_somebody_stands_in_stays_the_same_folder(
    two_link: RobotModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    inode = tmp_path.stat().st_ino
    two_link.write(".")
    two_link.write(".")
    assert tmp_path.stat().st_ino == inode
    assert Path("report.html").is_file()


def test_a_robot_too_large_for_programs_still_gets_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_long(*_: object, **__: object) -> None:
        raise GenerationError("takes 30000 operations, more than 20000 for one straight line")

    monkeypatch.setattr(program_stages, "generate", too_long)
    model = pipeline.model_robot(tf.load("two_link"), functions=("inverse_dynamics",), tolerance=None)
    assert model.delivered == ()
    written = model.write(tmp_path / "out")
    stages = {stage.name: stage for stage in written.stages}
    assert stages["inverse_dynamics"].status == "skipped"
    assert "30000 operations" in stages["inverse_dynamics"].outcome
    assert stages["C"].status == "skipped"
    assert written.report.is_file()


def test_the_reduced_program_has_a_name_of_its_own(tmp_path: Path) -> None:
    robot = tf.load("sr6ia")
    options = {"functions": ("inverse_dynamics",), "tolerance": 0.1, "confidence": 0.9, "routes": ("parameters",)}
    model = pipeline.model_robot(robot, **options)  # type: ignore[arg-type]
    assert [program.name for program in model.delivered] == ["inverse_dynamics", "inverse_dynamics_reduced"]
    model.write(tmp_path / "out")
    header = (tmp_path / "out" / "c" / "sr6ia.h").read_text()
    assert "sr6ia_inverse_dynamics_reduced(" in header
