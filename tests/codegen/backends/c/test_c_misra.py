"""Rules of MISRA C:2012 that written C breaks are those that its README lists, each with its reason."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import tauform as tf
from tauform.codegen.program.program import Program
from traced_programs import every_kind, inverse_dynamics

STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Werror")


def broken_rules(folder: Path, file: str) -> set[str]:
    """Rules that cppcheck's addon names."""
    command = ["cppcheck", "--std=c99", "--addon=misra", "--quiet", "--template={id}", file]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    assert "syntaxError" not in done.stderr
    return set(re.findall(r"misra-c2012-([\d.]+)", done.stderr))


def listed_rules(folder: Path) -> set[str]:
    """Rules in the table of the README."""
    return set(re.findall(r"^\| ([\d.]+) \| \w+", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE))


def programs(wide: bool) -> list[Program]:
    if not wide:
        return [inverse_dynamics(tf.load("two_link")), every_kind()]
    # the tool takes minutes for long functions
    robot = tf.load("two_link")
    names = ("inverse_dynamics", "linearize_inverse", "momentum_observer", "mass_factor", "base_regressor")
    return [*(tf.generate(robot, name) for name in names), tf.generate(robot, "gravity_torque", payload="runtime")]


@pytest.mark.skipif(shutil.which("cppcheck") is None, reason="cppcheck is not installed")
@pytest.mark.parametrize(
    "wide",
    [False, pytest.param(True, marks=pytest.mark.nightly)],
)
def test_every_deviation_is_listed(tmp_path: Path, wide: bool) -> None:
    tf.write_c(programs(wide), tmp_path, name="arm", real="float", batch=wide)
    assert broken_rules(tmp_path, "arm.c") == listed_rules(tmp_path)


@pytest.mark.parametrize("real", ["float", "double"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_number_changes_its_type_silently(tmp_path: Path, compiler: str, real: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    tf.write_c(programs(False), tmp_path, name="arm", real=real, batch=True)
    subprocess.run([compiler, *STRICT, "-c", "arm.c", "-o", "arm.o"], cwd=tmp_path, check=True)
