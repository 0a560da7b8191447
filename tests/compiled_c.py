"""A function of a written C folder, compiled with all warnings as errors and called state by state."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tauform.codegen.program.program import Program


def compiled(folder: Path, program: Program) -> ctypes._CFuncPtr:
    """The function of a written folder."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    warnings = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wconversion")
    command = ("gcc", *warnings, "-O0", "-shared", "-fPIC", "arm.c", "-lm", "-o", "arm.so")
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "arm.so"))[f"arm_{program.name}"]


def run(function: ctypes._CFuncPtr, program: Program, arrays: list[np.ndarray], real: type = np.float64) -> np.ndarray:
    """Results of the C function, state by state."""
    given = [np.ascontiguousarray(array, dtype=real) for array in arrays]
    (port,) = program.outputs
    results = np.empty((len(given[0]), *port.shape), dtype=real)
    for k in range(len(results)):
        function(*(ctypes.c_void_p(array[k].ctypes.data) for array in (*given, results)))
    return results
