"""Jacobians on vectors of four lanes: the same numbers as column by column, in fewer operations, and as C."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from codegen.tracing_cases import listed, robot_named, states
from sampling import representatives
from tauform.codegen.backends.llvm.module import print_module
from tauform.codegen.backends.llvm.text import Vector
from tauform.codegen.differentiation.lanes import tangent_lanes
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.program.graph import Graph, Scalar
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import LANES, Program

ROBOTS = ("kr6_r700", "tree", "parallelogram", "lbr7")
DERIVATIVES = ("linearize_inverse", "linearize_forward")
VECTOR_FLAGS = "-O1 -mavx2 -mfma"


@cache
def program(robot: str, function: str) -> Program:
    return tf.generate(robot_named(robot), function, algorithm="tangent")


@pytest.mark.parametrize("function", DERIVATIVES)
@pytest.mark.parametrize("robot", representatives(ROBOTS, "tree"))
def test_vectors_carry_the_same_matrices(robot: str, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tauform.codegen.candidates.MAX_COST_OF_VECTORS", 10.0)  # also where they save nothing
    narrow = tf.generate(robot_named(robot), function, algorithm="tangent")
    assert narrow.wide is not None
    assert narrow.wide.certificate is not None
    arrays = states(FUNCTIONS[function], robot_named(robot), n_states=5)
    for found, expected in zip(listed(narrow.wide(*arrays)), listed(narrow(*arrays)), strict=True):
        # the two round in another order, and accelerations of light bodies are large
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_a_jacobian_of_seven_columns_by_hand() -> None:
    # f = (x0 x1 ... x6, sum of squares): lanes of two vectors, the second one not full
    graph = Graph()
    x = graph.input("x", LANES + 3)
    product: Scalar = x[0]
    for factor in x[1:]:
        product = product * factor
    jacobian = tangent_lanes([product, sum(value * value for value in x)], x, {})
    wide = lower(graph, "jacobian", {"J": jacobian})
    points = np.random.default_rng(0).uniform(1, 2, (2, 3, LANES + 3))
    by_hand = np.stack([points.prod(axis=-1, keepdims=True) / points, 2 * points], axis=-2)
    np.testing.assert_allclose(wide(points), by_hand, rtol=1e-14)
    np.testing.assert_allclose(wide(points[0, 0]), by_hand[0, 0], rtol=1e-14)


@pytest.mark.parametrize("function", representatives(DERIVATIVES, "linearize_inverse"))
def test_vectors_need_about_half_the_operations(function: str) -> None:
    narrow = program("lbr7", function)
    assert narrow.wide is not None
    assert narrow.wide.n_operations < 0.6 * narrow.n_operations


def test_short_programs_and_runtime_parameters_have_numbers_alone() -> None:
    assert program("sr6ia", "linearize_inverse").wide is None
    assert tf.generate(robot_named("two_link"), "linearize_inverse", parameters="runtime").wide is None
    assert tf.generate(robot_named("kr6_r700"), "inverse_dynamics").wide is None


@pytest.mark.parametrize("compiler", representatives(["gcc", "clang"], "gcc"))
@pytest.mark.parametrize(
    ("real", "flags"),
    [
        ("double", VECTOR_FLAGS),
        pytest.param("double", "-O2", marks=pytest.mark.nightly),
        pytest.param("float", VECTOR_FLAGS, marks=pytest.mark.nightly),
    ],
)
def test_c_with_and_without_vectors_passes_its_test(tmp_path: Path, compiler: str, real: str, flags: str) -> None:
    if not shutil.which(compiler) or not shutil.which("make"):
        pytest.skip(f"{compiler} and make are not both installed")
    if "avx2" in flags and " avx2 " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX2")
    folder = tmp_path / "c"
    tf.write_c([program("tree", function) for function in DERIVATIVES], folder, real=real)
    warnings = "-std=c99 -Wall -Wextra -Wpedantic -Werror -Wconversion"
    done = subprocess.run(
        ["make", "check", f"CC={compiler}", f"CFLAGS={warnings} {flags}"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_wrong_vectors_are_caught_where_they_are_compiled(tmp_path: Path) -> None:
    if not shutil.which("gcc") or " avx2 " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("gcc and AVX2 are not both there")
    right = program("tree", "linearize_inverse")
    assert right.wide is not None
    first, *others = right.wide.results
    turned = replace(right, wide=replace(right.wide, results=(first[::-1], *others)))
    tf.write_c([turned], tmp_path / "c")
    for flags, passes in (("-O1 -DTAUFORM_NO_DISPATCH", True), ("-O1", False), ("-O1 -mavx2 -mfma", False)):
        command = ["make", "-B", "check", "CC=gcc", f"CFLAGS=-std=c99 {flags}"]
        assert (subprocess.run(command, cwd=tmp_path / "c", capture_output=True).returncode == 0) is passes


@pytest.mark.parametrize("function", DERIVATIVES)
@pytest.mark.parametrize("robot", representatives(["lbr7", "tree"], "tree"))
def test_kernels_of_one_state_use_the_vectors(robot: str, function: str) -> None:
    kernel = tf.compile(program(robot, function))
    arrays = states(FUNCTIONS[function], robot_named(robot), n_states=8)
    turns = [joint.is_revolute for joint in robot_named(robot).joints]
    arrays[0][0, turns] *= 1e9  # beyond the reach of the inline sine
    together = kernel(*arrays)
    for k in range(8):
        for found, expected in zip(kernel(*(a[k] for a in arrays)), together, strict=True):
            np.testing.assert_allclose(found, expected[k], rtol=0, atol=1e-10 * np.abs(expected[k]).max())
    # what is not a number stays none, and other states are not touched by it
    broken = [a[1].copy() for a in arrays]
    broken[0][:] = np.nan
    assert all(np.isnan(matrix).any() for matrix in kernel(*broken))


def test_one_state_has_code_of_its_own() -> None:
    for lanes, kind in ((8, "<4 x double>"), (2, "<1 x double>")):  # where there are no such registers, with numbers
        text = print_module(program("lbr7", "linearize_inverse"), Vector(lanes, fuses=True))
        alone = text[text.index("define internal void @alone") : text.index("define ptr @single")]
        assert f"contract {kind}" in alone
        assert "call void @alone(" in text[text.index("define ptr @single") :]
