"""Products of matrices whose sums are taken in a fixed order."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array

# Products of more numbers than this are summed one inner index at a time: all at once would not fit the cache.
_AT_ONCE = 1 << 14
_ROWS_AT_ONCE = 1024


def product(A: AnyArray, B: AnyArray) -> AnyArray:
    """A @ B of matrices, of stacks of them, or of a matrix and a vector."""
    if B.ndim == 1:
        return (A * B).sum(axis=-1)
    if A.ndim == 1:
        return (A[:, None] * B).sum(axis=-2)
    if A.size * B.shape[-1] <= _AT_ONCE:
        return (A[..., :, :, None] * B[..., None, :, :]).sum(axis=-2)
    # In the order of the inner index, as the short way sums: BLAS would block, fuse and thread as the processor likes.
    total: AnyArray = A[..., :, :1] * B[..., :1, :]
    for k in range(1, A.shape[-1]):
        total += A[..., :, k : k + 1] * B[..., k : k + 1, :]
    return total


def chain(*matrices: AnyArray) -> AnyArray:
    """A @ B @ C ..., from the left: world_from_link, link_from_tool and so on."""
    total = matrices[0]
    for matrix in matrices[1:]:
        total = product(total, matrix)
    return total


def norm(vector: Array) -> float:
    """Euclidean length of a vector."""
    return float(np.sqrt((vector * vector).sum()))


def sparse_product(matrix: Any, vector: Array) -> Array:
    """Product of a scipy.sparse matrix and a vector, each row summed in the order of its entries."""
    entries = matrix.tocoo()
    products = entries.data * vector[entries.col]
    return np.bincount(entries.row, weights=products, minlength=matrix.shape[0]).astype(np.float64)


def gram_matrix(A: Array) -> Array:
    """A^T A of a matrix with many rows, on BLAS, to the precision of doubles.  [Ozaki2012]

    A is cut into summands of so few bits that BLAS makes no rounding error in their products, whatever order it sums in
    and however it fuses; what is rounded is the sum of these products, here.
    """
    # Summands of so few bits that their products sum up without any rounding: then BLAS may take any order.
    bits = (53 - len(A).bit_length()) // 2
    _, exponents = np.frexp(np.maximum(A.max(axis=0, initial=0.0), -A.min(axis=0, initial=0.0)))
    # Powers of two, counted from the largest number of the column: dividing and rounding by them is exact.
    units = [np.ldexp(1.0, exponents - k * bits) for k in range(1, 4)]
    smaller, middle, larger, largest = np.zeros((4, A.shape[1], A.shape[1]))
    # Rows that stay in the cache with their summands; sums of exact products are exact, however they are parted.
    for start in range(0, len(A), _ROWS_AT_ONCE):
        first, second, third = _summands(A[start : start + _ROWS_AT_ONCE], units)
        smaller += first.T @ third
        middle += second.T @ second
        larger += first.T @ second
        largest += first.T @ first
    # the smallest first
    return (smaller + smaller.T + middle) + (larger + larger.T) + largest


def _summands(A: Array, units: list[Array]) -> list[Array]:
    """Summands of A, each a multiple of its unit."""
    summands, rest = [], np.array(A)
    for unit in units:
        own = rest / unit
        np.rint(own, out=own)
        own *= unit
        rest -= own
        summands.append(own)
    return summands
