"""Peers of C++ built before anything is measured: several compilers at once, and outside the budget of a section."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Sections that need them; the others start at once.
NEEDED_BY = frozenset({"speed", "instructions", "programs", "kernels", "python_peers"})


def build_peers(sections: Iterable[str]) -> list[str]:
    """Build what these sections need and is not kept from before; returns what failed, in words.

    A section that needs what failed fails by itself, and says why.
    """
    if not NEEDED_BY & set(sections):
        return []
    try:
        from benchmarks.instruction_counts import ARCHITECTURE
        from benchmarks.peers.build import NATIVE, PORTABLE, casadi_writer, pinocchio_library
    except ImportError as error:
        return [f"{error.name} is not installed"]
    tasks: list[Callable[[], Path]] = [
        casadi_writer,
        *(lambda flags=flags: pinocchio_library(flags) for flags in (NATIVE, PORTABLE, ("-O3", ARCHITECTURE))),
    ]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [running.exception() for running in [pool.submit(task) for task in tasks]]
    return [str(error) for error in errors if error is not None]
