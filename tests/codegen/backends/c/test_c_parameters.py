"""C with run-time parameters: the struct, the setup function, and another robot's numbers in the same code."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.generate import generate
from tauform.codegen.program.program import Program
from tauform.codegen.write import write_c

COMPILER = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)


@pytest.fixture(scope="module")
def program() -> Program:
    return generate(tf.load("two_link"), "inverse_dynamics", parameters="runtime", payload="runtime")


@pytest.fixture(scope="module")
def folder(program: Program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    if COMPILER is None:
        pytest.skip("no C compiler is installed")
    target = tmp_path_factory.mktemp("parameters") / "build"
    write_c(program, target, batch=True)
    return target


def test_struct_members_have_the_names_and_order_of_the_parameters(program: Program, folder: Path) -> None:
    header = (folder / "two_link.h").read_text()
    for port in program.setup.inputs:  # type: ignore[union-attr]
        (body,) = re.findall(r"typedef struct \{([^}]*)\} two_link_" + port.name + ";", header)
        assert re.findall(r"double (\w+);", body) == list(program.about.entries[port.name])


def test_other_numbers_in_the_same_code(program: Program, folder: Path) -> None:
    source, library = folder / "two_link.c", folder / "library.so"
    flags = ["-shared", "-fPIC", "-O1", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion"]
    subprocess.run([str(COMPILER), *flags, str(source), "-lm", "-o", str(library)], check=True)
    functions = ctypes.CDLL(str(library))
    setup = program.setup
    assert setup is not None
    rng = np.random.default_rng(0)
    parameters = [rng.uniform(0.5, 2.0, port.size) for port in setup.inputs]
    block = np.empty(setup.outputs[0].size)
    q, qd, qdd = rng.uniform(-2, 2, (3, 2))
    tau = np.empty(2)
    functions["two_link_inverse_dynamics_setup"](*(ctypes.c_void_p(a.ctypes.data) for a in (*parameters, block)))
    functions["two_link_inverse_dynamics"](*(ctypes.c_void_p(a.ctypes.data) for a in (q, qd, qdd, block, tau)))
    np.testing.assert_allclose(tau, program(q, qd, qdd, setup(*parameters)), rtol=1e-12)


def test_self_test(folder: Path) -> None:
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    done = subprocess.run(["make", "check", f"CC={COMPILER}"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("largest deviation") == 2
