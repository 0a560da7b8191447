"""Kernels in single precision: what rounding costs, on every kind of call, and the certificate of the compiled code."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from sampling import in_turns
from tauform.codegen.backends.llvm import module
from tauform.codegen.backends.llvm.text import FLOAT
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import compile_program
from tauform.errors import GenerationError, ShapeError, VerificationError
from traced_programs import every_kind, sines

# Of the largest value of each output; eps is 6e-8.
ROUNDING = 3e-6


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


def listed(results: Any) -> tuple[np.ndarray, ...]:
    return results if isinstance(results, tuple) else (results,)


def states(program: Program, *leading: int) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    shapes = [port.shape if port.shared else (*leading, *port.shape) for port in program.inputs]
    return [rng.uniform(-3, 3, shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize(
    ("name", "processor"),
    in_turns(
        ["inverse_dynamics", "mass_matrix", "linearize_inverse", "base_regressor"], ["this one", "x86-64", "haswell"]
    ),
)
def test_single_precision_is_the_textbook_to_rounding(
    name: str, processor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks, what remains of them, and single states; also as on processors with narrower vectors."""
    if processor != "this one":
        if "x86_64" not in module.llvm.get_default_triple():
            pytest.skip("a processor of x86")
        features = "+avx,+avx2,+fma" if processor == "haswell" else ""
        if not set(features.split(",")) <= {"", *module.host()[1].split(",")}:
            pytest.skip("this processor has less")
        monkeypatch.setattr(module, "host", lambda: (processor, features))
        monkeypatch.setattr("tauform.codegen.runtime.kernel.host", module.host)
    robot = tf.random_robot("RPRR", 3, branching=0.0)
    kernel = tf.compile(robot, name, real="float")
    assert kernel.real == "float"
    for n in (1, 3, 37):
        given = states(kernel.program, n)
        expected = listed(FUNCTIONS[name].reference(robot, *(a.astype(float) for a in given)))
        for found, right in zip(listed(kernel(*given)), expected, strict=True):
            assert found.dtype == np.float32
            assert np.abs(found - right).max() < ROUNDING * np.abs(right).max()
    one = listed(kernel(*(a[5] for a in given)))
    for found, right in zip(one, expected, strict=True):
        assert found.dtype == np.float32
        assert found.shape == right[5].shape
        assert np.abs(found - right[5]).max() < ROUNDING * np.abs(right).max()


def test_every_operation_in_single_precision() -> None:
    program = every_kind()
    kernel = compile_program(program, "float")
    given = [np.abs(a) + np.float32(0.1) for a in states(program, 21)]
    expected = listed(program(*(a.astype(float) for a in given)))
    for found, right in zip(listed(kernel(*given)), expected, strict=True):
        assert np.abs(found - right).max() <= 1e-5 * np.abs(right).max()


def test_sines_of_any_angle_in_single_precision() -> None:
    kernel = compile_program(sines(1), "float")
    rng = np.random.default_rng(0)
    far = [0.0, -0.0, 1e4, -1.00001e4, 1e5, 1e9, -1e15, 3e38]
    x = np.concatenate([rng.uniform(-10, 10, 3000), rng.uniform(-1e4, 1e4, 3000), far]).astype(np.float32)[:, None]
    sine, cosine = kernel(x)
    assert np.abs(sine - np.sin(x.astype(float))).max() < 1.5e-7
    assert np.abs(cosine - np.cos(x.astype(float))).max() < 1.5e-7
    with np.errstate(invalid="ignore"):
        assert np.isnan(kernel(np.full((1, 1), np.nan, np.float32))[0]).all()


def test_arrays_that_are_not_single_are_rounded() -> None:
    kernel = tf.compile(tf.load("two_link"), real="float")
    given = states(kernel.program, 7)
    expected = kernel(*given)
    np.testing.assert_array_equal(kernel(*(a.astype(float) for a in given)), expected)
    np.testing.assert_array_equal(kernel(*(a.astype(float)[3] for a in given)), expected[3])
    out = np.empty((7, 2), np.float32)
    assert kernel(*given, out=out) is out
    np.testing.assert_array_equal(out, expected)
    with pytest.raises(ShapeError):
        kernel(*(a.astype(complex) for a in given))


def test_threads_strides_and_overlap_in_single_precision() -> None:
    kernel = tf.compile(tf.load("two_link"), real="float")
    q, qd, qdd = states(kernel.program, 9001)
    expected = kernel(q, qd, qdd)
    np.testing.assert_array_equal(kernel(q, qd, qdd, threads=2), expected)
    np.testing.assert_array_equal(kernel(q[::-1], qd[::-1], qdd[::-1]), expected[::-1])
    np.testing.assert_array_equal(kernel(np.asfortranarray(q), qd, qdd), expected)
    kernel(q, qd, qdd, out=qdd)
    np.testing.assert_array_equal(qdd, expected)


def test_run_time_parameters_in_single_precision() -> None:
    robot = tf.load("two_link")
    kernel = tf.compile(robot, parameters="runtime", real="float")
    given = states(tf.generate(robot), 5)
    theta = kernel.program.theta_of(robot)
    expected = tf.textbook.inverse_dynamics(robot, *(a.astype(float) for a in given))
    assert np.abs(kernel(*given, theta) - expected).max() < ROUNDING * np.abs(expected).max()


def test_the_certificate_is_of_the_compiled_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tf.generate(tf.load("two_link"))
    certificate = compile_program(program, "float").certificate
    assert certificate is not None
    assert 1e-9 < certificate.error <= certificate.tolerance <= 2e-5
    assert "double precision" in certificate.reference
    # a polynomial that is off by 1e-4: noticed where the code runs, not in the program
    monkeypatch.setenv("TAUFORM_CACHE", str(tmp_path))
    right = FLOAT.sincos.sine
    wrong = (*right[:-1], right[-1] + 1e-2)
    object.__setattr__(FLOAT.sincos, "sine", wrong)
    try:
        with pytest.raises(VerificationError, match="in single precision failed verification"):
            compile_program(program, "float")
    finally:
        object.__setattr__(FLOAT.sincos, "sine", right)


def test_kernels_pickle_in_their_precision() -> None:
    kernel = tf.compile(tf.load("two_link"), real="float")
    again = pickle.loads(pickle.dumps(kernel))
    assert again.real == "float"
    assert "float" in repr(again)


def test_other_types_are_refused() -> None:
    with pytest.raises(GenerationError, match="real: expected one of double, float, got 'half'"):
        tf.compile(tf.load("two_link"), real="half")
