"""Executed instructions of C functions, counted by valgrind: a figure that a busy machine does not change."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tools.measuring.c_timing import CFunction, linked, run

# valgrind knows no AVX-512, so -march=native may not be what it can run.
ARCHITECTURE = "-march=x86-64-v3"

# The first sweep is for what is done once; then each function is counted by itself.
MAIN = """
#include <stdio.h>
#include <valgrind/callgrind.h>
{prototypes}
typedef void (*function)(const double *in, double *out);
static const function functions[] = {{{names}}};
enum {{ FUNCTIONS = {n_functions}, STATES = {n_states}, INPUTS = {n_inputs}, OUTPUTS = {n_outputs} }};
static double in[STATES * INPUTS], out[OUTPUTS];

int main(void) {{
    if (fread(in, sizeof(double), STATES * INPUTS, stdin) != STATES * INPUTS) return 1;
    for (int f = 0; f < FUNCTIONS; ++f) {{
        for (int s = 0; s < STATES; ++s) functions[f](in + s * INPUTS, out);
        CALLGRIND_ZERO_STATS;
        for (int s = 0; s < STATES; ++s) functions[f](in + s * INPUTS, out);
        CALLGRIND_DUMP_STATS;
    }}
    return 0;
}}
"""


def missing() -> str:
    """Why nothing can be counted here; empty where it can."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed"
    question = b"#if __has_include(<valgrind/callgrind.h>)\nfound\n#endif\n"
    return (
        "" if b"found" in run(["gcc", "-E", "-x", "c", "-"], question) else "the headers of valgrind are not installed"
    )


def count_c(
    functions: Sequence[CFunction], inputs: np.ndarray, n_outputs: int, *, flags: Sequence[str]
) -> dict[str, float]:
    """Instructions per call, averaged over the states.

    Args:
        functions: the candidates.
        inputs: (n_states, n_inputs).
        n_outputs: doubles that each writes.
        flags: of the C compiler.
    """
    inputs = np.ascontiguousarray(inputs, dtype=np.float64)
    with TemporaryDirectory() as folder:
        program = linked(functions, inputs.shape, n_outputs, MAIN, Path(folder), flags=flags).program
        collected = ["--collect-atstart=no", "--toggle-collect=shim*"]
        command = ["valgrind", "--tool=callgrind", *collected, f"--callgrind-out-file={folder}/count", str(program)]
        run(command, inputs.tobytes())
        totals = [_total(Path(folder) / f"count.{k + 1}") for k in range(len(functions))]
    return {function.label: total / len(inputs) for function, total in zip(functions, totals, strict=True)}


def _total(dump: Path) -> int:
    found = re.search(r"^totals: (\d+)", dump.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"{dump.name}: callgrind wrote no total")
    return int(found[1])
