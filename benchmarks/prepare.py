"""Peers of C++ built before anything is measured: several compilers at once, and outside the budget of a section."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

Build = Callable[[], Path]


def build_peers(sections: Iterable[str]) -> list[str]:
    """Build what these sections need and is not kept from before; returns what failed, in words.

    A section that needs what failed fails by itself, and says why.
    """
    try:
        needed = _needed()
    except ImportError as error:
        return [f"{error.name} is not installed"]
    tasks = dict.fromkeys(task for name in sections for task in needed.get(name, ()))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [running.exception() for running in [pool.submit(task) for task in tasks]]
    return [str(error) for error in errors if error is not None]


def _needed() -> Mapping[str, tuple[Build, ...]]:
    """Section -> what it needs; sections that are not named need nothing."""
    from tools.measuring.instruction_counts import ARCHITECTURE
    from tools.peers.build import NATIVE, casadi_writer, pinocchio_library

    def native() -> Path:
        return pinocchio_library(NATIVE)

    def counted() -> Path:
        return pinocchio_library(("-O3", ARCHITECTURE))

    return {
        "speed": (native, casadi_writer),
        "portable_c": (casadi_writer,),
        "instructions": (counted, casadi_writer),
        "kernels": (native, casadi_writer),
        "papers": (native,),
        "programs": (casadi_writer,),
        "python_peers": (casadi_writer,),
        "nlpsol": (casadi_writer,),
    }
