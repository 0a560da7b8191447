"""Folders that write_c makes: complete or untouched, the same every time."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

import tauform as tf
from full_disk import full_disk
from tauform.codegen.backends.backend import Request
from tauform.codegen.backends.c.project import project_files
from tauform.codegen.program.program import About, Op, Program
from tauform.codegen.write import write_c
from tauform.errors import GenerationError
from tauform.files import checks
from tauform.files.manifest import MANIFEST
from traced_programs import every_kind, inverse_dynamics

PROGRAM = every_kind()
NAMES = {
    *("example.h", "example.c", "test_example.c", "Makefile", "CMakeLists.txt", "README.md", "library.json"),
    *("zephyr/CMakeLists.txt", "zephyr/module.yml"),
}


def _contents(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_files_and_their_paths(tmp_path: Path) -> None:
    paths = write_c([PROGRAM], tmp_path / "deep" / "build")
    assert {path.relative_to(tmp_path / "deep" / "build").as_posix() for path in paths} == NAMES
    assert all(path.is_file() for path in paths)
    assert os.listdir(tmp_path / "deep") == ["build"]


def test_output_is_deterministic(tmp_path: Path) -> None:
    write_c(PROGRAM, tmp_path / "a", batch=True)
    write_c(every_kind(), tmp_path / "b", batch=True)
    assert _contents(tmp_path / "a") == _contents(tmp_path / "b")


def test_numbers_are_printed_exactly() -> None:
    program = inverse_dynamics(tf.load("kr6_r700"))
    source = project_files(Request((program,), "arm"))["arm.c"]
    printed = {float(text) for text in re.findall(r"(?<![\w.])\d+\.?\d*(?:e[+-]?\d+)?(?![\w.])", source)}
    used = {program.instructions[k] for i in program.instructions for k in i.args}
    constants = {instruction.number for instruction in used if instruction.op is Op.CONSTANT}
    assert len(constants) > 20
    assert constants <= printed


def test_our_own_folder_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    write_c(PROGRAM, folder, name="first")
    (folder / "test_first").write_bytes(b"\x7fELF made by make check")
    write_c(PROGRAM, folder, name="second")
    assert set(_contents(folder)) == {n.replace("example", "second") for n in NAMES} | {MANIFEST}
    assert os.listdir(tmp_path) == ["build"]


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    write_c(PROGRAM, tmp_path)
    assert (tmp_path / "example.c").is_file()


def test_files_of_others_are_not_touched(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    write_c(PROGRAM, folder)
    before = _contents(folder)
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(GenerationError, match=r"did not write \(notes.txt\).*force"):
        write_c(PROGRAM, folder, real="float")
    assert _contents(folder) == {**before, "notes.txt": "mine"}

    (folder / "data").mkdir()
    (folder / "data" / "log.csv").write_text("1,2")
    write_c(PROGRAM, folder, real="float", force=True)
    assert (folder / "notes.txt").read_text() == "mine"
    assert (folder / "data" / "log.csv").read_text() == "1,2"
    assert "float" in (folder / "example.h").read_text()
    assert os.listdir(tmp_path) == ["build"]


def test_a_failure_leaves_everything_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "build"
    write_c(PROGRAM, folder)
    before = _contents(folder)
    monkeypatch.setattr(checks, "LEAST_SPACE", 1)
    # the first files fit, the source does not
    with full_disk(2000), pytest.raises(GenerationError, match=r"build: cannot be .*too large.*nothing was changed"):
        write_c(PROGRAM, folder, real="float")
    assert _contents(folder) == before
    assert os.listdir(tmp_path) == ["build"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(GenerationError, match="is a file"):
        write_c(PROGRAM, file)
    with pytest.raises(GenerationError, match="cannot be written"):
        write_c(PROGRAM, file / "below")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(GenerationError, match="Permission denied"):
        write_c(PROGRAM, tmp_path / "build")


@pytest.mark.parametrize(
    ("programs", "options", "message"),
    [
        ([], {}, "no programs"),
        ([PROGRAM, PROGRAM], {}, "same name"),
        ([PROGRAM], {"real": "half"}, "real: expected one of double, float"),
        (
            [PROGRAM, replace(PROGRAM, name="other", about=About(entries={"p": ("x", "y", "z")}))],
            {},
            "names its entries differently",
        ),
    ],
)
def test_bad_requests(tmp_path: Path, programs: list[Program], options: dict[str, str], message: str) -> None:
    with pytest.raises(GenerationError, match=message.replace("names", "name")):
        write_c(programs, tmp_path / "build", **options)
    assert not (tmp_path / "build").exists()


def test_any_robot_name_gives_valid_identifiers(tmp_path: Path) -> None:
    write_c(replace(PROGRAM, robot="7-DoF arm (ä)"), tmp_path / "build")
    assert "void r7_DoF_arm_____every_kind(" in (tmp_path / "build" / "r7_DoF_arm____.h").read_text()


def test_headers_say_which_joint_is_which(tmp_path: Path) -> None:
    robot = tf.load("sr6ia")
    nasty = replace(robot, name="arm*/\nx", joints=(replace(robot.joints[0], name="j*/1"), *robot.joints[1:]))
    write_c([tf.generate(nasty), tf.generate(tf.derive(nasty).bind(nasty), "gravity_torque")], tmp_path / "c")
    (header,) = (tmp_path / "c").glob("*.h")
    about = header.read_text().split("#ifndef")[0]
    for line in ("[0] j* /1 [rad]", "[2] joint3 [m]", "for no joint", "(0, 0, -9.81) m/s^2. Tool: tool."):
        assert line in about
    assert about.count("*/") == 1  # names do not end the comment


def test_headers_name_joints_that_follow_and_those_with_friction(tmp_path: Path) -> None:
    robot = tf.load("parallelogram")
    rubbing = replace(robot, joints=(replace(robot.joints[0], viscous=0.5), *robot.joints[1:]))
    write_c(tf.generate(rubbing, "gravity_torque"), tmp_path / "c")
    (header,) = (tmp_path / "c").glob("*.h")
    followers = [joint.name for joint in robot.joints if joint.name not in robot.joint_names]
    assert followers
    assert f"Joints that follow these: {', '.join(followers)}." in header.read_text()
    assert f"Friction is described for {robot.joints[0].name}." in header.read_text()
