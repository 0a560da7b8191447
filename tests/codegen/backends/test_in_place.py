"""Outputs that are the same array as an input: compiled C, its self-test, and kernels with `out=`."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import in_turns, representatives
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import compile_program
from traced_programs import every_kind, inverse_dynamics

# Functions whose last results read inputs, on a robot with a slide: q itself is part of the torque there.
SLIDING = ("inverse_dynamics", "velocity_torque", "base_regressor", "slotine_li_regressor", "linearize_inverse")


def sliding_arm() -> tf.Robot:
    return tf.random_robot("RP", 3, branching=0.0)


def compiled(folder: Path, flags: str = "-O2") -> ctypes.CDLL:
    compiler = next((name for name in ("gcc", "clang", "cc") if shutil.which(name)), None)
    if compiler is None:
        pytest.skip("no C compiler is installed")
    sources = [path for path in folder.glob("*.c") if not path.name.startswith("test_")]
    command = [compiler, "-std=c99", "-shared", "-fPIC", *flags.split(), *map(str, sources)]
    subprocess.run([*command, "-lm", "-o", str(folder / "library.so")], check=True)
    return ctypes.CDLL(str(folder / "library.so"))


def make_check(folder: Path, flags: str = "-O1") -> subprocess.CompletedProcess[str]:
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    warnings = "-std=c99 -Wall -Wextra -Wpedantic -Werror -Wconversion"
    command = ["make", "-B", "check", f"CFLAGS={warnings} {flags}"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("flags", ["-O1", "-O3 -march=native"])
def test_c_in_place_is_the_textbook(tmp_path: Path, flags: str) -> None:
    """Every pair of an input and an output of a sliding arm, against NumPy; the larger of both holds the array."""
    robot = sliding_arm()
    programs = [tf.generate(robot, name) for name in SLIDING]
    tf.write_c(programs, tmp_path / "c", name="arm")
    library = compiled(tmp_path / "c", flags)
    for program in programs:
        states = np.random.default_rng(1).uniform(-2, 2, (len(program.inputs), robot.n_joints))
        expected = FUNCTIONS[program.name].reference(robot, *states)
        expected = expected if isinstance(expected, tuple) else (expected,)
        for source, target in product(range(len(states)), range(len(expected))):
            inputs, outputs = [state.copy() for state in states], [np.empty(e.size) for e in expected]
            both = np.concatenate([inputs[source], np.zeros(outputs[target].size)])
            inputs[source] = outputs[target] = both
            library[f"arm_{program.name}"](*(ctypes.c_void_p(a.ctypes.data) for a in (*inputs, *outputs)))
            for found, right in zip(outputs, expected, strict=True):
                error = np.abs(found[: right.size] - right.ravel()).max() / np.abs(right).max()
                assert error < 1e-12, (program.name, source, target)


@pytest.mark.parametrize("real", representatives(["double", "float"], "float"))
def test_the_self_test_calls_in_place(tmp_path: Path, real: str) -> None:
    """Run-time parameters too: a setup may write its block over the parameters, a batch over what its states share."""
    robot = sliding_arm()
    programs = [tf.generate(robot, name, parameters="runtime") for name in ("inverse_dynamics", "torque_breakdown")]
    tf.write_c([*programs, every_kind()], tmp_path / "c", real=real, batch=True)
    test = next((tmp_path / "c").glob("test_*.c")).read_text()
    assert "(const random2_3_theta *)(const void *)both, both)" in test
    done = make_check(tmp_path / "c")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_self_test_notices_results_that_are_written_early(tmp_path: Path) -> None:
    tf.write_c(inverse_dynamics(tf.load("two_link")), tmp_path / "c")
    source = tmp_path / "c" / "two_link.c"
    whole = source.read_text()
    early = re.sub(r"(two_link_inverse_dynamics\([^)]*\)\n\{\n)", r"\1    tau[1] = 0.0;\n", whole)
    source.write_text(early)
    done = make_check(tmp_path / "c", "-Wno-declaration-after-statement")
    assert done.returncode != 0
    assert "is wrong where an output is the same array as an input" in done.stdout, done.stdout + done.stderr


def test_the_self_test_notices_what_is_not_a_number(tmp_path: Path) -> None:
    """NaN is noticed in the first entry of the first state too, with good results after it."""
    tf.write_c(inverse_dynamics(tf.load("two_link")), tmp_path / "c")
    source = tmp_path / "c" / "two_link.c"
    bad = "tau[0] = (q[0] > 0.8217 && q[0] < 0.8218 ? NAN : 0.0) + "
    source.write_text(source.read_text().replace("tau[0] = ", bad))
    done = make_check(tmp_path / "c")
    assert done.returncode != 0
    assert "largest deviation nan" in done.stdout.replace("-nan", "nan"), done.stdout + done.stderr


def test_batches_in_place(tmp_path: Path) -> None:
    program = inverse_dynamics(tf.load("sr6ia"))
    tf.write_c(program, tmp_path / "c", batch=True)
    function = compiled(tmp_path / "c", "-O3")["sr6ia_inverse_dynamics_batch"]
    for source, count in product(range(3), (1, 16, 100)):
        states = np.random.default_rng(0).uniform(-3, 3, (3, count, 4))
        expected = program(*states)
        columns = [a.T.copy() for a in states]
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*columns, columns[source])]
        function(ctypes.c_size_t(count), *pointers)
        np.testing.assert_allclose(columns[source].T, expected, rtol=1e-12, atol=1e-10)


def test_no_function_that_users_call_is_told_that_arrays_are_apart(tmp_path: Path) -> None:
    """`restrict` stands on static functions only, which are given arrays of their callers' own."""
    tf.write_c([every_kind(), inverse_dynamics(tf.load("two_link"))], tmp_path / "c", batch=True, name="arm")
    for path in (tmp_path / "c").glob("arm.[ch]"):
        heads = re.findall(r"^[a-z][^;{=#]*\(.*?\)(?=\n\{|;$)", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        called = [head for head in heads if not head.startswith("static")]
        assert len(called) == 4
        assert not [head for head in called if "restrict" in head]


def _overlapping(
    n_states: int | None, size: int, shape: tuple[int, ...], result: tuple[int, ...], how: str
) -> tuple[np.ndarray, np.ndarray]:
    """An input and an output in one piece of memory: from the same place on, shifted, or the other way round."""
    leading = () if n_states is None else (n_states,)
    memory = np.zeros(2 * (n_states or 1) * size + 8)
    start = 3 if how == "shifted" else 0
    given = memory[start : start + int(np.prod(leading + shape))].reshape(leading + shape)
    taken = memory[: int(np.prod(leading + result))].reshape(leading + result)
    return given, taken[::-1] if how == "reversed" else taken


@pytest.mark.parametrize(("how", "n_states"), in_turns(["same", "shifted", "reversed"], [None, 1, 5, 8, 37]))
def test_kernels_with_overlapping_out(n_states: int | None, how: str) -> None:
    robot = sliding_arm()
    programs: list[Program] = [tf.generate(robot, name) for name in ("velocity_torque", "linearize_inverse")]
    for program in programs:
        kernel = compile_program(program)
        leading = () if n_states is None else (n_states,)
        rng = np.random.default_rng(0)
        states = [rng.uniform(-2, 2, (*leading, *port.shape)) for port in program.inputs]
        expected = program(*states) if len(program.outputs) > 1 else (program(*states),)
        for (i, source), target in product(enumerate(program.inputs), program.outputs):
            given, taken = _overlapping(n_states, max(source.size, target.size), source.shape, target.shape, how)
            given[...] = states[i]
            others = zip(program.outputs, expected, strict=True)
            outputs = tuple(taken if port is target else np.empty_like(e) for port, e in others)
            kernel(*states[:i], given, *states[i + 1 :], out=outputs)
            for found, right in zip(outputs, expected, strict=True):
                np.testing.assert_allclose(found, right, rtol=1e-11, atol=1e-11)
