"""What Deliver offers can be generated, and its zip passes the self-test on another machine."""

from __future__ import annotations

import io
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.backends.registry import TARGETS, backend
from tauform.files.manifest import BINARIES, read_manifest
from tauform.studio import work
from tauform.studio.tabs.deliver import FUNCTIONS, zipped


def robot_with_friction() -> tf.Robot:
    robot = tf.load("two_link")
    values = np.array(robot.parameters)
    robot.layout.by_joint(values)[:, 1:3] = 2.0, 1.2
    return robot.with_parameters(values)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function_that_is_offered_can_be_generated(function: str) -> None:
    assert tf.generate(robot_with_friction(), function).name == function


@pytest.mark.parametrize("target", TARGETS)
def test_functions_that_a_target_calls_are_offered(target: str) -> None:
    assert set(backend(target).functions) <= set(FUNCTIONS)


def test_the_zip_holds_what_was_written_and_nothing_that_was_compiled_here(tmp_path: Path) -> None:
    """make takes a program that is there for up to date, also one of another processor."""
    folder = tmp_path / "arm_c_double"
    said = work.deliver(robot_with_friction(), ["inverse_dynamics"], "c", "double", folder, lambda words: None)
    assert "passed" in said["said"]
    written = read_manifest(folder)
    assert written is not None
    assert any((folder / name).is_file() for name in written.products)
    archive = zipfile.ZipFile(io.BytesIO(zipped(folder)))
    assert set(archive.namelist()) == {f"arm_c_double/{name}" for name in written.files}
    assert not [name for name in archive.namelist() if archive.read(name).startswith(BINARIES)]
    archive.extractall(tmp_path / "got")
    check = subprocess.run(
        ["make", "check"], cwd=tmp_path / "got" / "arm_c_double", capture_output=True, text=True, check=True
    )
    assert "passed" in check.stdout


def test_a_self_test_that_fails_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    folder = tmp_path / "session" / "arm_c_double"
    work.deliver(tf.load("two_link"), ["inverse_dynamics"], "c", "double", folder, lambda words: None)
    for name in ("test_two_link", "two_link.c"):
        (folder / name).unlink()
    makefile = folder / "Makefile"
    # Build tools with folders of their own name the whole path.
    makefile.write_text(makefile.read_text() + "\n$(info in $(CURDIR)/two_link.c)\n$(error stop)\n")
    with pytest.raises(tf.errors.GenerationError, match="the self-test failed") as refused:
        work.self_test(folder, "c", "two_link")
    assert str(tmp_path) not in str(refused.value)
    assert "in arm_c_double/two_link.c" in str(refused.value)
