"""Scans: a program that makes the next state of the last one, compiled with its loop over time."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import llvmlite.binding as llvm

from tauform.arrays import Array
from tauform.codegen.backends.llvm.module import compile_object, host, host_vector, load_object, print_scan_module
from tauform.codegen.program.iterated import IteratedStep
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.cache import cached
from tauform.codegen.runtime.content import package


@dataclass(frozen=True, eq=False)
class Strided:
    """An array of a port: (N, steps, entries), (N, 1, entries), (1, steps, entries) or (1, 1, entries), entries last.

    A dimension of one stays the same over states or steps.
    """

    array: Array

    @property
    def row(self) -> int:
        """Bytes from state to state."""
        # Step 0 repeats what stays the same; no copies are made.
        return 0 if self.array.shape[0] == 1 else self.array.strides[0]

    @property
    def time(self) -> int:
        """Bytes from step to step."""
        return 0 if self.array.shape[1] == 1 else self.array.strides[1]

    def address(self, state: int, step: int) -> int:
        """Offset of the entries of a state and step."""
        return int(self.array.ctypes.data) + state * self.row + step * self.time


def lanes() -> int:
    """States that this processor computes at once; batches of scans are multiples of it."""
    return host_vector().lanes


class Scan:
    """A compiled program with its loop over time.

    Attributes:
        program: one step, or one that iterates.
        lanes: states that are computed at once; batches are multiples of it.
    """

    def __init__(self, program: Program | IteratedStep) -> None:
        vector = host_vector()
        text = print_scan_module(program, vector)
        version = ".".join(map(str, llvm.llvm_version_info))
        # By our code too: the same text passes through other passes in another version of it.
        key = "\n".join(["scan", package(), version, *host(), text])
        self.program, self.lanes = program, vector.lanes
        self._engine = load_object(cached(key, lambda: compile_object(text)))  # owns the code that is called
        kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        self._call = ctypes.CFUNCTYPE(None, *kinds)(self._engine.get_function_address("scan"))

    def run(self, ports: Sequence[Strided], states: range, steps: range) -> None:
        """Run some steps of some states; arrays of ports in the order of inputs, then outputs, entries contiguous.

        An input that overlaps an output one step later is the state that steps hand on.
        """
        addresses = [port.address(states.start, steps.start) for port in ports]
        n = len(ports)
        args: Any = (ctypes.c_void_p * n)(*addresses)
        rows, times = (
            (ctypes.c_int64 * n)(*strides) for strides in zip(*((p.row, p.time) for p in ports), strict=True)
        )
        self._call(args, rows, times, len(states), len(steps))
