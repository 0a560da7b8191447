"""Arrays that do not fit the ports of a program, in one sentence that names the port."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tauform.errors import ShapeError

if TYPE_CHECKING:
    from tauform.codegen.program.program import Port


def misfit(title: str, ports: Sequence[Port], arrays: Sequence[Any]) -> ShapeError | None:
    """What is wrong with arrays of shape (..., *port.shape), None where each fits its port.

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
        if given.dtype.kind not in "biufcO":
            return ShapeError(f"{port.name}: expected numbers, got {array!r:.60}")
    return None
