"""The fastest of several programs by the clock of this machine, where operations alone shall not decide."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.codegen.program.program import Candidate, Program
from tauform.codegen.runtime.kernel import Kernel, compile_program

# A batch that stays in the cache; the least of the rounds is what the machine can do.
N_STATES, ROUNDS = 500, 40


def fastest(made: Sequence[Program]) -> Program:
    """The program whose kernel takes least per state; it lists all with their times as candidates."""
    seconds = _seconds([compile_program(program) for program in made])
    best = int(np.argmin(seconds))
    listed = (
        Candidate(p.algorithm, p.n_multiplications, p.n_additions, k == best, f"{1e9 * seconds[k]:.1f} ns per state")
        for k, p in enumerate(made)
    )
    return replace(made[best], candidates=tuple(listed))


def _seconds(kernels: Sequence[Kernel]) -> list[float]:
    """Least time of a state for each kernel, all in turns so that a busy moment strikes them alike."""
    rng = np.random.default_rng(0)
    states = [
        [rng.normal(size=port.shape if port.shared else (N_STATES, *port.shape)) for port in kernel.program.inputs]
        for kernel in kernels
    ]
    least = [np.inf] * len(kernels)
    with np.errstate(all="ignore"):  # random parameters may be no robot's
        for _ in range(ROUNDS):
            for k, (kernel, arrays) in enumerate(zip(kernels, states, strict=True)):
                start = time.perf_counter()
                # One thread: what is compared is the code, not how many cores are free.
                kernel(*arrays, threads=1)
                # The least: everything that disturbs a measurement makes it longer.
                least[k] = min(least[k], (time.perf_counter() - start) / N_STATES)
    return least
