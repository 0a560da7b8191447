"""Exponential and tanh: constants against exact arithmetic, kernels and compiled C against extended precision."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from math import factorial
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.backends.llvm.module import compile_object, host_vector, load_object, print_module
from tauform.codegen.backends.llvm.text import Vector
from tauform.codegen.differentiation.tangent import tangents
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel
from tauform.portable.exponential import DOUBLE, FLOAT, Exponential

LOG_2 = Fraction("0.693147180559945309417232121458176568075500134360254996119")
EXTENDED = pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="no extended precision to compare with")
LARGEST_ULPS = 3.0


def functions() -> Program:
    """e^x, tanh x and |x|."""
    graph = Graph()
    x = graph.input("x")[()]
    outputs = {"e": np.array(x.exp()), "t": np.array(x.tanh()), "a": np.array(x.abs())}
    return lower(graph, "functions", outputs, robot="example")


def kernel(fuses: bool) -> Kernel:
    best = host_vector()
    if fuses and not best.fuses:
        pytest.skip("this processor has no fused multiply-add")
    vector = Vector(best.lanes, fuses)
    text = print_module(functions(), vector)
    return Kernel(functions(), load_object(compile_object(text if fuses else text.replace(" contract", ""))), vector)


def ulps(computed: np.ndarray, exact: np.ndarray) -> float:
    """Largest error in units of the last place."""
    unit = np.spacing(np.abs(exact.astype(computed.dtype)))
    return float((np.abs(computed.astype(np.longdouble) - exact) / unit).max())


@pytest.mark.parametrize(("scheme", "mantissa", "bits", "most"), [(DOUBLE, 53, 42, 1024), (FLOAT, 24, 16, 128)])
def test_products_of_the_reduction_are_exact(scheme: Exponential, mantissa: int, bits: int, most: int) -> None:
    assert max(-scheme.lowest, scheme.highest) / float(LOG_2) < most <= 2 ** (mantissa - bits)
    assert Fraction(scheme.log_2[0]).numerator.bit_length() <= bits
    assert abs(sum(map(Fraction, scheme.log_2)) - LOG_2) * most < Fraction(1, 2 ** (mantissa + 10))


@pytest.mark.parametrize(("scheme", "tolerance"), [(DOUBLE, 1e-18), (FLOAT, 3e-9)])
def test_polynomial_against_the_series_in_rationals(scheme: Exponential, tolerance: float) -> None:
    for r in [Fraction(k, 60) for k in range(-20, 21) if k]:
        found = r + r * r * sum(Fraction(c) * r**k for k, c in enumerate(scheme.coefficients))
        exact = sum(r**k / Fraction(factorial(k)) for k in range(1, 30))
        assert abs(found / exact - 1) < tolerance


@EXTENDED
@pytest.mark.parametrize("fuses", [True, False])
def test_kernels_err_by_a_few_units_of_the_last_place(fuses: bool) -> None:
    run, rng = kernel(fuses), np.random.default_rng(0)
    for scale in (1e-9, 0.3, 3.0, 30.0, 700.0):
        x = rng.uniform(-scale, scale, 20_000)
        e, t, a = run(x)
        wide = x.astype(np.longdouble)
        assert ulps(e, np.exp(wide)) < LARGEST_ULPS
        assert ulps(t, np.tanh(wide)) < LARGEST_ULPS
        np.testing.assert_array_equal(a, np.abs(x))


@pytest.mark.parametrize("fuses", [True, False])
@pytest.mark.filterwarnings("ignore:invalid value", "ignore:overflow")
def test_ends_of_the_range(fuses: bool) -> None:
    x = np.array([-np.inf, -1e4, -709.0, -0.0, 0.0, 709.5, 1e4, np.inf, np.nan])
    e, t, _ = kernel(fuses)(x)
    np.testing.assert_array_equal(e, [0, 0, 0, 1, 1, np.inf, np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(t, [-1, -1, -1, -0.0, 0, 1, 1, 1, np.nan])
    assert np.signbit(t[3])


@EXTENDED
@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("flags", ["-O2", "-O3 -march=native -ffp-contract=fast", "-O3 -ffast-math"])
def test_compiled_c_errs_by_a_few_units_of_the_last_place(tmp_path: Path, real: str, flags: str) -> None:
    tf.write_c([functions()], tmp_path / "c", real=real)
    dtype = np.float64 if real == "double" else np.float32
    top = 700.0 if real == "double" else 85.0
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-s, s, 2000) for s in (1e-6, 0.3, 3.0, 30.0, top)]).astype(dtype)
    x.tofile(tmp_path / "x.bin")
    (tmp_path / "main.c").write_text(
        f"""#include <stdio.h>
#include "example.h"
int main(void)
{{
    {real} x, y[3];
    FILE *in = fopen("x.bin", "rb"), *out = fopen("y.bin", "wb");
    while (fread(&x, sizeof x, 1, in) == 1) {{
        example_functions(&x, y, y + 1, y + 2);
        fwrite(y, sizeof x, 3, out);
    }}
    return fclose(out);
}}
"""
    )
    command = ["gcc", *flags.split(), "-Ic", "main.c", "c/example.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    subprocess.run(["./main"], cwd=tmp_path, check=True)
    e, t, a = np.fromfile(tmp_path / "y.bin", dtype=dtype).reshape(-1, 3).T
    wide = x.astype(np.longdouble)
    assert ulps(e, np.exp(wide)) < LARGEST_ULPS
    assert ulps(t, np.tanh(wide)) < LARGEST_ULPS
    np.testing.assert_array_equal(a, np.abs(x))


@pytest.mark.parametrize("name", ["exp", "tanh", "abs"])
def test_tangents_are_complex_steps(name: str) -> None:
    graph = Graph()
    x = graph.input("x")[()]
    value = getattr(-x * 0.7, name)()
    slope = tangents([value], {x.reference: graph.constant(1.0)})[0]
    program = lower(graph, "slope", {"y": np.array(slope)})
    points = np.linspace(-2.0, 2.0, 41) + 0.01
    stepped = -0.7 * points + -0.7e-30j
    exact = {"exp": np.exp, "tanh": np.tanh, "abs": lambda z: z * np.sign(z.real)}[name](stepped).imag / 1e-30
    np.testing.assert_allclose(program(points), exact, rtol=1e-13)
