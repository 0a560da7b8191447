"""Generated C, compiled with all warnings as errors: its own test, the kernel's results, one state and batches."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import in_turns, representatives
from tauform.codegen.backends.c import batch
from tauform.codegen.backends.c import source as source_file
from tauform.codegen.backends.c.config import LONGEST_FUNCTION, PART_SIZE
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import compile_program
from tauform.codegen.write import write_c
from traced_programs import every_kind, inverse_dynamics, long_sum, sines

WARNINGS = "-std=c99 -Wall -Wextra -Wpedantic -Werror -Wconversion"
COMPILERS = ("gcc", "clang")


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


def _installed(*names: str) -> str:
    for name in names:
        if shutil.which(name):
            return name
    pytest.skip(f"{' and '.join(names)} not installed")


def _check(folder: Path, compiler: str, flags: str) -> str:
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    command = ["make", "-B", "check", f"CC={compiler}", f"CFLAGS={WARNINGS} {flags}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _library(folder: Path, flags: str = "-O2") -> ctypes.CDLL:
    sources = [path for path in folder.glob("*.c") if not path.name.startswith("test_")]
    target = folder / "library.so"
    command = [_installed(*COMPILERS), "-shared", "-fPIC", *flags.split(), *sources, "-lm", "-o", target]
    subprocess.run(list(map(str, command)), check=True)
    return ctypes.CDLL(str(target))


def _run(function: object, program: Program, arrays: list[np.ndarray], real: type = np.float64) -> list[np.ndarray]:
    """Call the C function state by state."""
    arrays = [np.ascontiguousarray(a, dtype=real) for a in arrays]
    n_states = max(len(a) for a, port in zip(arrays, program.inputs, strict=True) if not port.shared)
    outputs = [np.empty((n_states, *port.shape), dtype=real) for port in program.outputs]
    for k in range(n_states):
        inputs = [a if port.shared else a[k] for a, port in zip(arrays, program.inputs, strict=True)]
        function(*(ctypes.c_void_p(a.ctypes.data) for a in (*inputs, *(out[k : k + 1] for out in outputs))))  # type: ignore[operator]
    return outputs


FLAGS = ("-O2", "-O1 -ffp-contract=off", "-O1 -ffast-math")


@pytest.mark.parametrize(("compiler", "real", "flags"), in_turns(COMPILERS, ["double", "float"], FLAGS))
def test_self_test_passes_without_warnings(tmp_path: Path, compiler: str, real: str, flags: str) -> None:
    _installed(compiler)
    folder = tmp_path / "build"
    write_c(
        [every_kind(), inverse_dynamics(tf.load("two_link")), sines(3)], folder, real=real, batch=True, name="every"
    )
    assert _check(folder, compiler, flags).count("largest deviation") == 3


def test_self_test_fails_on_wrong_code(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    write_c(inverse_dynamics(tf.load("two_link")), folder)
    source = folder / "two_link.c"
    source.write_text(source.read_text().replace("tau[0] = ", "tau[0] = 1e-10 + "))
    compiler = _installed(*COMPILERS)
    done = subprocess.run(["make", "-B", "check", f"CC={compiler}"], cwd=folder, capture_output=True, text=True)
    assert done.returncode != 0


@pytest.mark.parametrize(("robot", "contract"), in_turns(["kr6_r700", "lbr7"], ["off", "fast"]))
def test_c_equals_the_kernel(tmp_path: Path, robot: str, contract: str) -> None:
    program = inverse_dynamics(tf.load(robot))
    write_c(program, tmp_path / "build")
    library = _library(tmp_path / "build", f"-O1 -march=native -ffp-contract={contract}")
    states = np.random.default_rng(0).uniform(-3, 3, (3, 500, program.inputs[0].size))
    states[0, ::50] *= 1e8
    (found,) = _run(library[f"{robot}_inverse_dynamics"], program, list(states))
    expected = compile_program(program)(*states)
    assert (np.abs(found - expected).max(axis=0) <= 1e-14 * np.abs(expected).max(axis=0)).all()


def test_generated_c_is_small(tmp_path: Path) -> None:
    write_c(inverse_dynamics(tf.load("lbr7")), tmp_path / "build")
    assert (tmp_path / "build" / "lbr7.c").stat().st_size < 60_000


def test_float_is_as_good_as_single_precision_allows(tmp_path: Path) -> None:
    program = inverse_dynamics(tf.load("kr6_r700"))
    write_c(program, tmp_path / "build", real="float")
    states = np.random.default_rng(0).uniform(-3, 3, (3, 500, 6)).astype(np.float32)
    (found,) = _run(_library(tmp_path / "build")["kr6_r700_inverse_dynamics"], program, list(states), np.float32)
    expected = program(*states.astype(np.float64))
    error = (np.abs(found - expected).max(axis=0) / np.abs(expected).max(axis=0)).max()
    assert 1e-9 < error < 3e-6


@pytest.mark.parametrize(("real", "tolerance"), [(np.float64, 2.3e-16), (np.float32, 1.3e-7)])
def test_sines_of_any_angle(tmp_path: Path, real: type, tolerance: float) -> None:
    program = sines(1)
    write_c(program, tmp_path / "build", real="double" if real is np.float64 else "float")
    rng = np.random.default_rng(0)
    far = [0.0, -0.0, 1e4, 1.00001e4, -1e5, 1.0001e5, 1e9, -1e15, 3e38]
    x = np.concatenate([rng.uniform(-10, 10, 3000), rng.uniform(-1e5, 1e5, 3000), far])[:, None].astype(real)
    for flags in ("-O2 -ffp-contract=off", "-O2 -march=native -ffp-contract=fast"):
        library = _library(tmp_path / "build", flags)
        sine, cosine = _run(library["model_sines"], program, [x], real)
        assert np.abs(sine - np.sin(x.astype(np.float64))).max() <= tolerance
        assert np.abs(cosine - np.cos(x.astype(np.float64))).max() <= tolerance
    sine, _ = _run(library["model_sines"], program, [np.array([[np.nan], [np.inf], [-np.inf]])], real)
    assert np.isnan(sine).all()


def test_results_may_overwrite_inputs(tmp_path: Path) -> None:
    program = inverse_dynamics(tf.load("kr6_r700"))
    write_c(program, tmp_path / "build")
    function = _library(tmp_path / "build")["kr6_r700_inverse_dynamics"]
    q, qd, qdd = np.random.default_rng(0).uniform(-3, 3, (3, 6))
    expected = program(q, qd, qdd)
    function(*(ctypes.c_void_p(a.ctypes.data) for a in (q, qd, qdd, qdd)))
    np.testing.assert_allclose(qdd, expected, rtol=1e-12)


@pytest.fixture(scope="module")
def batched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, ctypes.CDLL]:
    """A function of one state, and of many."""
    program, folder = inverse_dynamics(tf.load("sr6ia")), tmp_path_factory.mktemp("batched") / "build"
    write_c(program, folder, batch=True)
    return program, _library(folder, "-O3")


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 100])
def test_batches_equal_single_states(batched: tuple[Program, ctypes.CDLL], n: int) -> None:
    program, library = batched
    states = np.random.default_rng(0).uniform(-3, 3, (3, n, 4))
    columns = [np.ascontiguousarray(a.T) for a in states]
    tau = np.full((4, n + 1), np.nan)[:, :n].copy()
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*columns, tau)]
    library["sr6ia_inverse_dynamics_batch"](ctypes.c_size_t(n), *pointers)
    if n:
        (expected,) = _run(library["sr6ia_inverse_dynamics"], program, list(states))
        np.testing.assert_allclose(tau.T, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("scale", representatives([1, 4], 4))
def test_long_programs_are_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scale: int) -> None:
    """Programs are split also where a quarter of the length is long."""
    for module in (source_file, batch):
        monkeypatch.setattr(module, "LONGEST_FUNCTION", LONGEST_FUNCTION // scale)
    monkeypatch.setattr(source_file, "PART_SIZE", PART_SIZE // scale)
    program = long_sum(10_000 // scale)
    assert program.n_operations > LONGEST_FUNCTION // scale
    write_c(program, tmp_path / "build", batch=True)
    source = (tmp_path / "build" / "model.c").read_text()
    assert source.count("static INLINE void model_long_sum_part_") > 3
    _check(tmp_path / "build", _installed(*COMPILERS), "-O0")


@pytest.mark.parametrize("real", ["double", "float"])
def test_signs_are_right_at_the_edges(tmp_path: Path, real: str) -> None:
    robot = tf.load("two_link")
    rubbing = replace(robot, joints=tuple(replace(joint, coulomb=2.0) for joint in robot.joints))
    program = tf.generate(rubbing, "friction")
    write_c(program, tmp_path / "build", real=real)
    dtype = np.dtype(real if real == "double" else np.float32).type
    smallest = np.nextafter(dtype(0), dtype(1))
    speeds = np.array([0.0, -0.0, smallest, -smallest, np.inf, -np.inf, np.nan, 3.0], dtype=dtype)
    function = _library(tmp_path / "build", "-O3")["two_link_friction"]
    (found,) = _run(function, program, [np.stack([speeds, -speeds], axis=1)], dtype)
    np.testing.assert_array_equal(found, 2.0 * np.sign(np.stack([speeds, -speeds], axis=1)))
