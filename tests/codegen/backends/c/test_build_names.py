"""Robots whose names C, its library, make, CMake or a file system use themselves: their C is built all the same."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import tauform as tf
from tauform.codegen.names import c_prefix
from tauform.errors import GenerationError
from tauform.escaping.c import LONGEST_NAME, TAKEN, build_name
from traced_programs import inverse_dynamics

# One of each kind: a target, a header, a library, a keyword, a macro, a device, a digit, nothing, any letters.
NAMES = ("test", "TEST", "math", "m", "double", "NAN", "aux", "7 axes", "", "机器人")
MORE = {"install", "sin", "linux", "_arm", "x" * 300}
# What make itself, its targets and its shell could trip over.
TRIP_MAKE = ("test", "7 axes")
FLAGS = "-std=c99 -O0 -Wall -Wextra -Wpedantic -Werror"


def written(folder: Path, names: Sequence[str]) -> list[Path]:
    """A folder for each robot."""
    program = inverse_dynamics(tf.load("two_link"))
    folders = [folder / f"robot_{number}" for number in range(len(names))]
    for name, place in zip(names, folders, strict=True):
        tf.write_c(replace(program, robot=name), place, batch=True)
    return folders


def built_with_make(folders: Sequence[Path]) -> None:
    for folder in folders:
        for command in (["make", "check", f"CFLAGS={FLAGS}"], ["make", "clean"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert done.returncode == 0, f"{[path.name for path in folder.glob('*.h')]}: {done.stderr}"


def built_with_cmake(project: Path, folders: Sequence[Path]) -> None:
    """All in one project, whose program includes every header: they stand in each other's way, or in the system's."""
    headers = [next(folder.glob("*.h")) for folder in folders]
    lines = ["cmake_minimum_required(VERSION 3.10...3.31)", "project(robots C)", "enable_testing()"]
    for folder, header in zip(folders, headers, strict=True):
        lines += [f"set({header.stem}_TEST ON)", f"add_subdirectory({folder.name})"]
    lines += ["add_executable(every main.c)", f"target_link_libraries(every {' '.join(h.stem for h in headers)})"]
    (project / "CMakeLists.txt").write_text("\n".join(lines))
    system = ("math.h", "stdint.h", "stdio.h", "string.h", "stdlib.h", "errno.h", "time.h", "limits.h")
    includes = [*(f"#include <{name}>" for name in system), *(f"#include <{header.name}>" for header in headers)]
    calls = [f"    {h.stem}_inverse_dynamics(x, x, x, y);" for h in headers]
    main = [
        *includes,
        "int main(void)",
        "{",
        "    double x[2] = {0.1, 0.2}, y[2];",
        *calls,
        "    return isnan(y[0]);",
        "}",
        "",
    ]
    (project / "main.c").write_text("\n".join(main))
    for command in (
        ["cmake", "-S", ".", "-B", "build", f"-DCMAKE_C_FLAGS={FLAGS}"],
        ["cmake", "--build", "build"],
        ["ctest", "--test-dir", "build", "--output-on-failure"],
        ["build/every"],
    ):
        done = subprocess.run(command, cwd=project, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert command[0] != "ctest" or f"out of {len(folders)}" in done.stdout


def test_robots_of_any_name_are_built(tmp_path: Path) -> None:
    if not all(map(shutil.which, ("make", "cmake", "cc"))):
        pytest.skip("make, cmake or a C compiler is not installed")
    folders = written(tmp_path, NAMES)
    assert len({next(folder.glob("*.h")).name.lower() for folder in folders}) == len(NAMES) - 1  # test and TEST
    built_with_make([folder for folder, name in zip(folders, NAMES, strict=True) if name in TRIP_MAKE])
    built_with_cmake(tmp_path, [folder for folder, name in zip(folders, NAMES, strict=True) if name != "TEST"])


@pytest.mark.nightly
def test_robots_of_every_name_that_is_taken_are_built(tmp_path: Path) -> None:
    """Taken names, those of every header that this system has, and further ones of each kind."""
    if not all(map(shutil.which, ("make", "cmake", "cc"))):
        pytest.skip("make, cmake or a C compiler is not installed")
    headers = {path.stem for path in Path("/usr/include").glob("*.h") if path.stem.isidentifier()}
    folders = written(tmp_path, sorted(TAKEN | headers | MORE))
    built_with_make(folders)
    built_with_cmake(tmp_path, folders)


@pytest.mark.parametrize("name", [*sorted(TAKEN), "Stdint", "ALL", "x" * (LONGEST_NAME + 1), "a-b", "", "_x", "9"])
def test_a_name_that_was_asked_for_is_refused_with_one_that_works(name: str) -> None:
    with pytest.raises(GenerationError, match=r"name: .* cannot begin the names .* such as") as refusal:
        c_prefix(name, "arm")
    better = str(refusal.value).rsplit("'", 2)[1]
    assert c_prefix(better, "arm") == better


def test_long_names_stay_different() -> None:
    first, second = (build_name("arm" * 100 + end) for end in ("left", "right"))
    assert first != second
    assert len(first) <= LONGEST_NAME


def test_a_name_is_refused_before_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from tauform.cli import main

    for verb in ("generate", "model", "multirate", "reduce"):
        assert main([verb, "two_link", "-o", str(tmp_path / "out"), "--name", "stdint"]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "'stdint' cannot begin the names" in " ".join(err.split())
        assert "'stdint_robot'" in err
        assert not (tmp_path / "out").exists()
