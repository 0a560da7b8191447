"""Kernels and batched C in single precision beside double precision: states a second, and what rounding costs."""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import AnyArray
from tauform.codegen.runtime.kernel import compile_program
from tools.arms import ARMS, arm
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "20,000 states in single precision (ours) beside double precision (peer), one thread, into given arrays: kernels, "
    "and functions for batches in C, gcc -O3 without -march. Errors are those of the kernel's certificate, or "
    "over these states, relative to the largest value of each entry."
)
N_STATES = 20_000
FUNCTIONS = ("inverse_dynamics", "forward_dynamics")
# Long programs, whose registers and stores are planned.
PLANNED = ("linearize_inverse", "linearize_forward", "base_regressor")
FLAGS = ("-O3", "-std=c99", "-shared", "-fPIC")


def rows() -> Iterator[Row]:
    """Every arm as a kernel; one of them with long functions, and in C."""
    for name in ARMS:
        robot = arm(name)
        for function in FUNCTIONS:
            yield _kernels(name, tf.generate(robot, function))
    for function in PLANNED:
        yield _kernels("lbr7", tf.generate(arm("lbr7"), function))
    yield _in_c("lbr7", tf.generate(arm("lbr7"), "inverse_dynamics"))


def _states(program: tf.Program) -> list[AnyArray]:
    shape = (len(program.inputs), N_STATES, program.inputs[0].size)
    return list(np.random.default_rng(0).uniform(-np.pi, np.pi, shape))


def _kernels(name: str, program: tf.Program) -> Row:
    double, single = compile_program(program), compile_program(program, "float")
    states = _states(program)
    rounded = [array.astype(np.float32) for array in states]
    outs = double(*states), single(*rounded)
    calls = {"single": lambda: single(*rounded, out=outs[1]), "double": lambda: double(*states, out=outs[0])}
    # by the processor's own clock: other work on the machine does not count
    seconds = side_by_side(calls, repeats=100, clock=time.process_time)
    error = 0.0 if single.certificate is None else single.certificate.error
    return _row(f"{name}, {program.name}, kernel", seconds, error)


def _in_c(name: str, program: tf.Program) -> Row:
    with TemporaryDirectory() as folder:
        calls = {"single": _batch(program, Path(folder), "float"), "double": _batch(program, Path(folder), "double")}
        single, double = calls["single"](), calls["double"]()
        seconds = side_by_side(calls, repeats=100, clock=time.process_time)
    error = (np.abs(single - double).max(axis=1) / np.abs(double).max(axis=1)).max()
    return _row(f"{name}, {program.name}, C for batches", seconds, float(error))


def _batch(program: tf.Program, folder: Path, real: str) -> Callable[[], AnyArray]:
    """The compiled function for batches, on structures of arrays."""
    tf.write_c(program, folder / real, name="arm", real=real, batch=True)
    library = folder / f"{real}.so"
    subprocess.run(["gcc", *FLAGS, str(folder / real / "arm.c"), "-lm", "-o", str(library)], check=True)
    function: Any = ctypes.CDLL(str(library))[f"arm_{program.name}_batch"]
    dtype = np.float32 if real == "float" else np.float64
    columns = [np.ascontiguousarray(array.T, dtype=dtype) for array in _states(program)]
    out = np.empty((program.outputs[0].size, N_STATES), dtype)
    arrays = (*columns, out)

    def call() -> AnyArray:
        # the addresses are taken here, so that the arrays live as long as the function
        function(ctypes.c_size_t(N_STATES), *(ctypes.c_void_p(array.ctypes.data) for array in arrays))
        return out

    return call


def _row(what: str, seconds: dict[str, float], error: float) -> Row:
    note = f"{N_STATES / seconds['single'] / 1e6:.0f} M states/s, error {error:.0e}"
    return Row(what, ours=seconds["single"], peer=seconds["double"], peer_name="double precision", note=note)
