"""Kernels whose results are many: mass matrices and regressors beside LLVM's own code and beside plain writing."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

import tauform as tf
from tauform.codegen.backends.llvm.planned import block
from tauform.codegen.candidates import searched_program
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.fast.functions import function_of
from tools.arms import arm
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "Mass matrix and regressors of the LBR7 on one thread into given arrays, with planned registers and stores, beside "
    "the same program compiled by LLVM alone, in the same run. The share of the write bandwidth is that of np.full "
    "into the same array. The full regressor has 98 columns, rotors and friction among them."
)
FUNCTIONS = ("mass_matrix", "base_regressor", "slotine_li_regressor", "regressor")
LARGE, SMALL = 20_000, 256


def rows() -> Iterator[Row]:
    """Batches beyond the cache and within it."""
    robot = arm("lbr7")
    for name in FUNCTIONS:
        program = searched_program(robot, function_of(name, {})) if name == "regressor" else tf.generate(robot, name)
        with TemporaryDirectory() as cache, patch.dict(os.environ, TAUFORM_CACHE=cache):
            ours = compile_program(program)
        with (
            TemporaryDirectory() as cache,
            patch.dict(os.environ, TAUFORM_CACHE=cache),
            patch.object(block, "LEAST_OPERATIONS", 10**9),
            patch.object(block, "LEAST_RESULTS", 10**9),
        ):
            by_llvm = compile_program(program)
        for n in (LARGE, SMALL):
            yield _compared(name, n, ours, by_llvm)


def _compared(name: str, n: int, ours: Kernel, by_llvm: Kernel) -> Row:
    rng = np.random.default_rng(0)
    states = [rng.uniform(-np.pi, np.pi, (n, *port.shape)) for port in ours.program.inputs]
    out = ours(*states)
    apart = float(np.abs(out - by_llvm(*states)).max() / np.abs(out).max())
    calls = {
        "ours": lambda: ours(*states, out=out),
        "llvm": lambda: by_llvm(*states, out=out),
        "full": lambda: out.fill(1.0),
    }
    seconds = side_by_side(calls, repeats=40, clock=time.process_time)
    share = f"writes at {100 * seconds['full'] / seconds['ours']:.0f}% of what np.full does"
    note = f"{n / seconds['ours'] / 1e6:.1f} M states/s, {share}, agree to {apart:.0e}"
    return Row(f"{name}, {n:,} states", seconds["ours"], seconds["llvm"], "LLVM alone", note=note)
