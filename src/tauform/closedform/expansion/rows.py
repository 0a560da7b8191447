"""Rows of coefficients, each with the monomial it belongs to and the size of the products it was summed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array

Keys = NDArray[np.int64]

# A sum is zero when it is this far below the products that were summed: rounding, whatever the units.
ROUNDING = 2e-14
# Rows that are multiplied at once.
ROWS_AT_ONCE = 2048


@dataclass(frozen=True, eq=False)
class CoefficientRows:
    """Coefficients of one function per row.

    Attributes:
        keys: (m,) what the row belongs to, and its monomial.
        values: (m, w) coefficients.
        sizes: (m, w) sum of the absolute products behind each coefficient; rounding is judged against it.
    """

    keys: Keys
    values: Array
    sizes: Array

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def empty(cls, width: int) -> CoefficientRows:
        """No rows."""
        return cls(np.zeros(0, dtype=np.int64), np.zeros((0, width)), np.zeros((0, width)))

    @classmethod
    def one(cls, key: int, values: Any) -> CoefficientRows:
        """A single exact row."""
        row = np.asarray(values, dtype=float)[None]
        return cls(np.array([key], dtype=np.int64), row, np.abs(row))

    @classmethod
    def joined(cls, *parts: CoefficientRows) -> CoefficientRows:
        """All rows, one set after the other."""
        return cls(
            np.concatenate([part.keys for part in parts]),
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.sizes for part in parts]),
        )

    def where(self, chosen: Any) -> CoefficientRows:
        """A selection of rows (mask or indices)."""
        return CoefficientRows(self.keys[chosen], self.values[chosen], self.sizes[chosen])

    def with_keys(self, keys: Keys) -> CoefficientRows:
        """The same rows under other keys."""
        return CoefficientRows(keys, self.values, self.sizes)

    def times(self, matrices: Array, step: int) -> CoefficientRows:
        """Each row times each matrix; the key grows by step for each further matrix."""
        k, width, out = matrices.shape
        # One wide matrix for all functions: each row is visited once, and its products come out side by side.
        stacked = matrices.transpose(1, 0, 2).reshape(width, k * out)
        parts = []
        # In blocks that stay in the cache until they are cleaned: what is left of millions of rows is much less.
        for first in range(0, max(len(self), 1), ROWS_AT_ONCE):
            own = slice(first, first + ROWS_AT_ONCE)
            # Sizes travel along: |value| of what was summed, before anything cancelled.
            values, sizes = _products(self.values[own], self.sizes[own], stacked)
            keys = (self.keys[own, None] + step * np.arange(k)).reshape(-1)
            parts.append(CoefficientRows(keys, values.reshape(-1, out), sizes.reshape(-1, out)).cleaned())
        return parts[0] if len(parts) == 1 else CoefficientRows.joined(*parts)

    def cleaned(self) -> CoefficientRows:
        """Rounding set to zero, and rows without any coefficient left out."""
        # Relative to what was summed, not to the largest coefficient: a light wrist has terms as exact as an arm.
        keep = np.abs(self.values) > ROUNDING * self.sizes
        present = keep.any(axis=1)
        keep = keep[present]
        return CoefficientRows(self.keys[present], self.values[present] * keep, self.sizes[present] * keep)


def _products(values: Array, sizes: Array, matrix: Array) -> tuple[Array, Array]:
    """values @ matrix and sizes @ |matrix|; of each column only the entries that are not zero are visited."""
    of_values, of_sizes = np.zeros((2, len(values), matrix.shape[1]))
    depth = np.count_nonzero(matrix, axis=0)
    # the rows of each column's entries, in their order, then rows of zeros
    # Stable, so that sums are taken in the order of the rows on every machine.
    rows = np.argsort(matrix == 0, axis=0, kind="stable")
    for k in range(depth.max(initial=0)):
        columns = np.flatnonzero(depth > k)
        row = rows[k, columns]
        weights = matrix[row, columns]
        of_values[:, columns] += values[:, row] * weights
        of_sizes[:, columns] += sizes[:, row] * np.abs(weights)
    return of_values, of_sizes


def aligned(a: CoefficientRows, b: CoefficientRows) -> tuple[CoefficientRows, CoefficientRows]:
    """Both over the union of their keys, zero where one has no row."""
    keys, place = np.unique(np.concatenate([a.keys, b.keys]), return_inverse=True)
    result = []
    for rows, at in ((a, place[: len(a)]), (b, place[len(a) :])):
        values, sizes = np.zeros((len(keys), rows.values.shape[1])), np.zeros((len(keys), rows.values.shape[1]))
        values[at], sizes[at] = rows.values, rows.sizes
        result.append(CoefficientRows(keys, values, sizes))
    return result[0], result[1]
