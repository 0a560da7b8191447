"""C in one header: its own check passes, and headers of two robots stand in one file beside code that is not ours."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import tauform as tf
from tauform.errors import GenerationError
from traced_programs import every_kind, inverse_dynamics

STRICT = "-std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion -Wshadow -Werror"


@pytest.mark.parametrize("batch", [False, True])
def test_its_own_check_passes(tmp_path: Path, batch: bool) -> None:
    tf.write_c(
        [inverse_dynamics(tf.load("two_link")), every_kind()],
        tmp_path,
        name="arm",
        real="float",
        batch=batch,
        single_header=True,
    )
    assert {path.name for path in tmp_path.iterdir()} - {".tauform.json"} == {
        "arm.h",
        "test_arm.c",
        "Makefile",
        "README.md",
    }
    done = subprocess.run(["make", "check", f"CFLAGS={STRICT}"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "arm: passed" in done.stdout


def test_two_robots_in_one_file(tmp_path: Path) -> None:
    for name, real in (("one", "float"), ("two", "double")):
        tf.write_c(every_kind(), tmp_path / name, name=name, real=real, single_header=True)
    text = "#define ONE_IMPLEMENTATION\n#define TWO_IMPLEMENTATION\n"
    text += '#include "one/one.h"\n#include "two/two.h"\n#include "one/one.h"\n'
    # names and macros of ours do not reach what follows
    text += "static int LANES, RUN, sign_of, four;\nint main(void) { return LANES + RUN + sign_of + four; }\n"
    (tmp_path / "main.c").write_text(text)
    command = ["gcc", *STRICT.split(), "main.c", "-lm", "-o", "main"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert subprocess.run([tmp_path / "main"]).returncode == 0


def test_other_targets_refuse_it(tmp_path: Path) -> None:
    with pytest.raises(GenerationError, match="single_header: C\\+\\+17 has no such form"):
        tf.write(every_kind(), tmp_path / "out", target="cpp", single_header=True)
    assert not list(tmp_path.iterdir())
