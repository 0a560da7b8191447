"""Value: descriptions are equal where everything in them is, arrays included."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from tauform.arrays import Array


class Value:
    """Base of frozen dataclasses that hold arrays: == compares, and hash() follows, what the fields hold."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(map(_same, _held(self), _held(other)))

    def __hash__(self) -> int:
        return hash(tuple(_hashable(value) for value in _held(self)))

    def __getstate__(self) -> dict[str, Any]:
        # What was computed from the fields is computed again elsewhere, and kernels stay in their process.
        return {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]


def _held(value: Any) -> list[Any]:
    return [getattr(value, field.name) for field in fields(value) if field.compare]


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return isinstance(other, np.ndarray) and np.array_equal(one, other)
    return bool(one == other)


def _hashable(value: Any) -> Any:
    return (value.shape, (value + 0.0).tobytes()) if isinstance(value, np.ndarray) else value  # -0.0 equals 0.0


def listed(values: Array) -> str:
    """A few numbers for a line of text."""
    return f"({', '.join(f'{value:.4g}' for value in values + 0.0)})"
