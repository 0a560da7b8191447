"""Variants of a function that are chosen when it runs: right on newer and older processors, and absent where told."""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import in_turns, representatives
from tauform.codegen.functions import FUNCTIONS
from traced_programs import every_kind

X86_LINUX = platform.machine() == "x86_64" and platform.system() == "Linux"
WARNINGS = "-std=c99 -Wall -Wextra -Wpedantic -Werror -Wconversion -Wundef"
# What asks the processor: libgcc's table.
QUESTION = "__cpu_model"
# A processor that answers no: what the compiler would ask becomes a constant.
OLDER = "-D__builtin_cpu_supports(feature)=0"
WAYS = {"newer": "", "older": OLDER, "off": "-DTAUFORM_NO_DISPATCH"}


COMPILERS = ("gcc", "clang")


@pytest.fixture(autouse=True)
def installed(request: pytest.FixtureRequest) -> None:
    """Skip where the compiler is not there."""
    name = request.getfixturevalue("compiler")
    if not X86_LINUX or not shutil.which(name):
        pytest.skip(f"needs {name} on x86-64 Linux")


def run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def symbols(folder: Path, compiler: str, *flags: str) -> str:
    """Names in the object file."""
    run(compiler, *WARNINGS.split(), *flags, "-c", "arm.c", "-o", "arm.o", folder=folder)
    return run("nm", "arm.o", folder=folder)


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> tuple[tf.Robot, Path]:
    """Plain functions, one with vectors among its values, a batch."""
    robot = tf.random_robot("RPR", 3, branching=0.0)
    programs = [tf.generate(robot, name) for name in ("inverse_dynamics", "linearize_inverse", "mass_matrix")]
    folder = tmp_path_factory.mktemp("arm") / "c"
    tf.write_c(programs, folder, name="arm", batch=True)
    return robot, folder


@pytest.mark.parametrize(("way", "compiler"), in_turns(WAYS, COMPILERS))
def test_every_variant_is_the_textbook(arm: tuple[tf.Robot, Path], compiler: str, way: str) -> None:
    robot, folder = arm
    flags = [*WARNINGS.split(), "-O1", "-shared", "-fPIC", *filter(None, [WAYS[way]])]
    run(compiler, *flags, "arm.c", "-lm", "-o", f"{compiler}_{way}.so", folder=folder)
    library = ctypes.CDLL(str(folder / f"{compiler}_{way}.so"))
    for name in ("inverse_dynamics", "linearize_inverse", "mass_matrix"):
        states = np.random.default_rng(0).uniform(-3, 3, (3 if name != "mass_matrix" else 1, 20, robot.n_joints))
        expected = FUNCTIONS[name].reference(robot, *states)
        expected = expected if isinstance(expected, tuple) else (expected,)
        single, batch = library[f"arm_{name}"], library[f"arm_{name}_batch"]
        found = [np.empty_like(e) for e in expected]
        for k in range(20):
            single(*(ctypes.c_void_p(a[k].ctypes.data) for a in (*states, *found)))
        columns = [np.empty((e[0].size, 20)) for e in expected]
        given = [a.T.copy() for a in states]
        batch(ctypes.c_size_t(20), *(ctypes.c_void_p(a.ctypes.data) for a in (*given, *columns)))
        for one, many, right in zip(found, columns, expected, strict=True):
            assert np.abs(one - right).max() < 1e-13 * np.abs(right).max()
            assert np.abs(many.T.reshape(right.shape) - right).max() < 1e-13 * np.abs(right).max()


@pytest.mark.parametrize("compiler", representatives(COMPILERS, "gcc"))
def test_fused_operations_are_in_the_newer_variant_alone(arm: tuple[tf.Robot, Path], compiler: str) -> None:
    """The older variant, compiled with plain -O2, runs on any x86-64."""
    if not shutil.which("objdump"):
        pytest.skip("objdump is not installed")
    _, folder = arm
    symbols(folder, compiler, "-O2")
    code = run("objdump", "-d", "--no-show-raw-insn", "arm.o", folder=folder).split("\n\n")
    for name in ("inverse_dynamics", "linearize_inverse", "mass_matrix"):
        (newer,) = [text for text in code if f"<arm_{name}_avx2>:" in text]
        assert re.search("vfn?m(add|sub)", newer), name
    older = [text for text in code if "_avx2>:" not in text]
    assert not [text for text in older if re.search("%ymm|vfn?m(add|sub)|vmulsd", text)]


@pytest.mark.parametrize("compiler", representatives(COMPILERS, "clang"))
def test_nothing_asks_the_processor_where_told(arm: tuple[tf.Robot, Path], compiler: str) -> None:
    """Off switch, code without a system under it, and compilers that know the processor."""
    _, folder = arm
    assert QUESTION in symbols(folder, compiler)
    for flags in (["-DTAUFORM_NO_DISPATCH"], ["-ffreestanding"], ["-mavx2", "-mfma"]):
        assert QUESTION not in symbols(folder, compiler, *flags), flags


@pytest.mark.parametrize(("real", "compiler"), in_turns(["double", "float"], COMPILERS))
def test_self_test_of_each_way(tmp_path: Path, compiler: str, real: str) -> None:
    """Linked statically too, where no loader could choose."""
    folder = tmp_path / "c"
    tf.write_c(every_kind(), folder, name="arm", real=real, batch=True)
    for flags in (["-O1", "-static"], ["-O0", OLDER], ["-O1", "-DTAUFORM_NO_DISPATCH", "-ffp-contract=off"]):
        run(compiler, *WARNINGS.split(), *flags, "test_arm.c", "arm.c", "-lm", "-o", "test_arm", folder=folder)
        assert run("./test_arm", folder=folder).count("largest deviation") == 1
