"""Kernels of Jacobians on batches: one function for the whole program beside parts that pass values through memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

import tauform as tf
from tauform.arrays import AnyArray
from tauform.codegen.backends.llvm import printer, transpose
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tools.arms import arm
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "Jacobians of the LBR7 from Python on one thread, 98 numbers a state: the kernel beside one in parts of 1500 "
    "operations whose results are stored in a loop, in the same run; 20,000 states fill 16 MB, 256 states stay in the "
    "cache. GRiD's figure, an iiwa on an RTX 3080, is from the literature and not measured here."
)
FUNCTIONS = ("linearize_inverse", "linearize_forward")
LARGE, SMALL = 20_000, 256
# States a second of GRiD's gradients, about, without transfer between processors and with it.
GRID_COMPUTING, GRID_WITH_TRANSFER = 11e6, 5e6


def rows() -> Iterator[Row]:
    """Into given arrays, into fresh ones, and within the cache."""
    for function in FUNCTIONS:
        program = tf.generate(arm("lbr7"), function)
        whole = compile_program(program)
        cut = _in_parts(program)
        for n, given in ((LARGE, True), (LARGE, False), (SMALL, True)):
            yield _compared(function, n, given, whole, cut)
        yield _beside_grid(function, whole)


def _in_parts(program: tf.Program) -> Kernel:
    """The kernel as it would be with shorter functions; what is kept on disk does not know of that."""
    with (
        TemporaryDirectory() as cache,
        patch.dict(os.environ, TAUFORM_CACHE=cache),
        patch.object(printer, "LONGEST_FUNCTION", 4000),
        patch.object(transpose, "LONGEST_UNROLLED", 48),
    ):
        return compile_program(program)


def _compared(function: str, n: int, given: bool, whole: Kernel, cut: Kernel) -> Row:
    states = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, n, 7))
    out: tuple[AnyArray, ...] = whole(*states)
    expected: tuple[AnyArray, ...] = cut(*states)
    apart = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(out, expected, strict=True))

    def into(kernel: Kernel) -> Callable[[], object]:
        return (lambda: kernel(*states, out=out)) if given else (lambda: kernel(*states))

    seconds = side_by_side({"ours": into(whole), "parts": into(cut)}, repeats=40 if n == LARGE else 1000)
    note = f"{n / seconds['ours'] / 1e6:.1f} M states/s, agree to {apart:.0e}"
    place = "into out=" if given else "fresh output"
    return Row(f"{function}, {n:,} states, {place}", seconds["ours"], seconds["parts"], "in parts", note=note)


def _beside_grid(function: str, kernel: Kernel) -> Row:
    states = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, LARGE, 7))
    out = kernel(*states)
    seconds = side_by_side({"ours": lambda: kernel(*states, out=out)}, repeats=30)["ours"] / LARGE
    note = f"literature; {GRID_WITH_TRANSFER / 1e6:.0f} M states/s with transfer"
    return Row(f"{function}, a state of a batch", seconds, 1 / GRID_COMPUTING, "GRiD, RTX 3080", note=note)
