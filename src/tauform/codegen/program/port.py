"""Port: a named array that goes into or comes out of a program, and whether given arrays fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.errors import ShapeError


@dataclass(frozen=True)
class Port:
    """A named input or output array of one state; flat indices are in C order.

    An input that is `shared` is the same for all states of a batch (a block of parameters). One with `ranges`, a pair
    per entry, is tried at states within them only: loops may not close elsewhere.
    """

    name: str
    shape: tuple[int, ...]
    shared: bool = False
    ranges: tuple[tuple[float, float], ...] = ()

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=int))

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """(rows, columns) where arrays are matrices: a vector is a column, of three dimensions the last two are one."""
        return (self.shape[0] if self.shape else 1), int(np.prod(self.shape[1:], dtype=int))


def misfit(title: str, ports: Sequence[Port], arrays: Sequence[Any]) -> ShapeError | None:
    """Fault of arrays of shape (..., *port.shape), None where each fits its port.

    Args:
        title: of the program.
    """
    if len(arrays) != len(ports):
        names = ", ".join(port.name for port in ports)
        return ShapeError(f"{title}: expected {len(ports)} arrays ({names}), got {len(arrays)}")
    for array, port in zip(arrays, ports, strict=True):
        try:
            given = np.asarray(array)
        except ValueError:  # lists of different lengths
            return ShapeError(f"{port.name}: expected numbers, got {array!r:.60}")
        inner = given.ndim - len(port.shape)
        if inner < 0 or given.shape[inner:] != port.shape:
            wanted = ", ".join(["...", *map(str, port.shape)])
            return ShapeError(f"{port.name}: expected shape ({wanted}), got {given.shape}")
        if given.dtype.kind not in "biufcO" or np.ma.is_masked(array):
            return ShapeError(f"{port.name}: expected numbers, got {array!r:.60}")
    return None
