"""Kernels of Jacobians on batches, beside the way they were first made, on the widest vectors and on those of AVX2."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np

import tauform as tf
from tauform.arrays import AnyArray
from tauform.codegen.backends.llvm import module, printer, transpose
from tauform.codegen.backends.llvm.planned import block
from tauform.codegen.runtime import kernel as kernels
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tools.arms import arm
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "Jacobians of the LBR7 from Python on one thread, 147 numbers per state: composite bodies in their own frames, "
    "with planned registers and stores, beside the kernel of before in the same run: matrices in the axes of the base "
    "(algorithms 2 and 4), compiled by LLVM in parts of 1500 operations. 20,000 states fill 24 MB, 256 states stay in "
    "the cache; AVX2 is code for vectors of 256 bits and 16 registers on the same processor. GRiD's figure, an iiwa on "
    "an RTX 3080, is from the literature and not measured here."
)
BEFORE = {"linearize_inverse": "algorithm_2", "linearize_forward": "algorithm_4"}
LARGE, SMALL = 20_000, 256
# Seconds that compiling may take.
ALLOWED = 3.0
# States a second of GRiD's gradients, about, without transfer between processors and with it.
GRID_COMPUTING, GRID_WITH_TRANSFER = 11e6, 5e6
AVX2 = ("haswell", "+avx,+avx2,+fma,+bmi,+bmi2")


def rows() -> Iterator[Row]:
    """Into given arrays, into fresh ones, and within the cache; then what compiling takes."""
    for function, algorithm in BEFORE.items():
        before = tf.generate(arm("lbr7"), function, algorithm=algorithm)
        program = tf.generate(arm("lbr7"), function)
        for processor in ("", "AVX2") if "+avx512f" in module.host()[1] else ("",):
            with _fresh(processor), _by_llvm_in_parts():
                old = compile_program(before)
            with _fresh(processor):
                start = time.process_time()
                ours = compile_program(program)
                compiling = time.process_time() - start
            tag = f"{function}, {processor}".rstrip(", ")
            for n, given in ((LARGE, True), (LARGE, False), (SMALL, True)):
                yield _compared(tag, n, given, ours, old)
            yield Row(f"{tag}, compiled", compiling, ALLOWED, "allowed")
            yield _beside_grid(tag, ours)


@contextmanager
def _fresh(processor: str) -> Iterator[None]:
    """Compilation without what is kept on disk, which knows nothing of these changes; for a processor where named."""
    with ExitStack() as stack:
        stack.enter_context(patch.dict(os.environ, TAUFORM_CACHE=stack.enter_context(TemporaryDirectory())))
        if processor:
            for place in (module, kernels):
                stack.enter_context(patch.object(place, "host", lambda: AVX2))
        yield


@contextmanager
def _by_llvm_in_parts() -> Iterator[None]:
    with (
        patch.object(printer, "LONGEST_FUNCTION", 4000),
        patch.object(transpose, "LONGEST_UNROLLED", 48),
        patch.object(block, "LEAST_OPERATIONS", 10**9),
        patch.object(block, "LEAST_RESULTS", 10**9),
    ):
        yield


def _compared(tag: str, n: int, given: bool, ours: Kernel, old: Kernel) -> Row:
    states = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, n, 7))
    out: tuple[AnyArray, ...] = ours(*states)
    expected: tuple[AnyArray, ...] = old(*states)
    apart = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(out, expected, strict=True))

    def into(kernel: Kernel) -> Callable[[], object]:
        return (lambda: kernel(*states, out=out)) if given else (lambda: kernel(*states))

    # by the processor's own clock: other work on the machine does not count
    seconds = side_by_side({"ours": into(ours), "old": into(old)}, repeats=60, clock=time.process_time)
    note = f"{n / seconds['ours'] / 1e6:.1f} M states/s, agree to {apart:.0e}"
    place = "into out=" if given else "fresh output"
    return Row(f"{tag}, {n:,} states, {place}", seconds["ours"], seconds["old"], "before", note=note)


def _beside_grid(tag: str, kernel: Kernel) -> Row:
    states = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, LARGE, 7))
    out = kernel(*states)
    calls = {"ours": lambda: kernel(*states, out=out)}
    seconds = side_by_side(calls, repeats=30, clock=time.process_time)["ours"] / LARGE
    note = f"literature; {GRID_WITH_TRANSFER / 1e6:.0f} M states/s with transfer"
    return Row(f"{tag}, a state of a batch", seconds, 1 / GRID_COMPUTING, "GRiD, RTX 3080", note=note)
