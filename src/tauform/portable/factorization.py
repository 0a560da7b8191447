"""Factorizations of small matrices by Householder's reflections, written as operations on whole rows.

Matrices are held transposed inside, so that a column is contiguous.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.portable.products import gram_matrix, norm, product

# Of columns whose sizes differ by less than this part, the first is taken: rounding must not choose between equals.
MAX_TIE_DIFFERENCE = 1e-9
N_REFINEMENTS = 2


@dataclass(frozen=True, eq=False)
class Triangle:
    """matrix = Q R with orthonormal Q, which is not kept.

    Attributes:
        R: (k, n); its columns `chosen`, in their order, form an upper triangle.
        chosen: columns that the others are told by.
        sizes: (n,) what was left of each column, outside the span of those chosen before it, when it was looked at.
    """

    R: Array
    chosen: list[int]
    sizes: Array

    @property
    def others(self) -> list[int]:
        """Columns that were not chosen."""
        return sorted(set(range(len(self.sizes))) - set(self.chosen))

    def weights(self, rank: int | None = None) -> Array:
        """(rank, others) by which the first chosen columns sum up to each of the others."""
        first, others = self.chosen[:rank], self._beside(rank)
        return back_substituted(self.R[: len(first), first], self.R[: len(first), others])

    def null_space(self, rank: int | None = None) -> Array:
        """(n, n - rank) orthonormal basis of what the matrix takes to zero, were it of this rank."""
        first, others = self.chosen[:rank], self._beside(rank)
        vectors = np.zeros((len(self.sizes), len(others)))
        vectors[first] = -self.weights(rank)
        vectors[others, np.arange(len(others))] = 1.0
        # X = Q R, so Q = X R^-1
        return product(vectors, inverse(in_order(vectors, 0.0).R)) if others else vectors

    def _beside(self, rank: int | None) -> list[int]:
        return sorted(set(range(len(self.sizes))) - set(self.chosen[:rank]))


def first_largest(sizes: Array) -> int:
    """The first of the largest sizes, those within rounding counted as equal."""
    return _largest(sizes)[0]


def _largest(sizes: Array) -> list[int]:
    return np.flatnonzero(sizes >= (1 - MAX_TIE_DIFFERENCE) * sizes.max()).tolist()


def in_order(matrix: Array, threshold: float) -> Triangle:
    """Walk through the columns and choose each that stands out of the span of those before by more than a threshold."""
    columns, chosen = np.array(matrix.T, order="C"), list[int]()
    n, height = columns.shape
    sizes = np.zeros(n)
    for k in range(n):
        rank = len(chosen)
        # What is left of the column below the rows that the chosen ones fill: its distance from their span.
        sizes[k] = norm(columns[k, rank:])
        if sizes[k] > threshold and rank < height:
            _reflect(columns[k:, rank:])
            chosen.append(k)
    return Triangle(columns.T[: len(chosen)], chosen, sizes)


def by_size(matrix: Array, threshold: float = 0.0) -> Triangle:
    """Choose the largest column first, then always the largest of what is left, down to a threshold."""
    columns = np.array(matrix.T, order="C")
    n, height = columns.shape
    order, sizes = np.arange(n), np.zeros(n)
    rank = 0
    while rank < n:
        rest = columns[rank:, rank:]
        # Computed anew each time: updating them loses digits where columns almost depend on each other.
        lengths = np.sqrt((rest * rest).sum(axis=1))
        sizes[order[rank:]] = lengths
        # of equals the one that stands first in the matrix
        best = rank + min(_largest(lengths), key=lambda k: order[rank + k])
        if rank == height or lengths[best - rank] <= threshold:
            break
        columns[[rank, best]], order[[rank, best]] = columns[[best, rank]], order[[best, rank]]
        _reflect(rest)
        rank += 1
    R = np.empty((min(n, height), n))
    R[:, order] = columns.T[: len(R)]
    return Triangle(R, order[:rank].tolist(), sizes)


def _reflect(columns: Array) -> None:
    """Turn the first of some columns into the first axis, and the others with it; in place."""
    v = columns[0].copy()
    size = norm(v)
    # The sign that adds: subtracting would cancel where v is almost the axis already.
    v[0] += np.copysign(size, v[0])
    square = (v * v).sum()
    if square > 0:
        # A Householder reflection of all further columns: x - 2 v (v.x) / (v.v).
        rest = columns[1:]
        rest -= ((rest * v).sum(axis=1) * (2.0 / square))[:, None] * v
        columns[0, 0], columns[0, 1:] = np.copysign(size, -v[0]), 0.0


def back_substituted(R: Array, right: Array) -> Array:
    """X with R X = right (n, k), R an upper triangle."""
    X, rest = np.zeros_like(right), np.array(right)
    for k in reversed(range(len(R))):
        X[k] = rest[k] / R[k, k]
        rest[:k] -= R[:k, k, None] * X[k]
    return X


def solved(A: Array, right: Array) -> Array:
    """X with A X = right (m, k), or nearest to it; A has independent columns."""
    n = A.shape[1]
    columns = np.concatenate([A.T, right.T])
    for k in range(n):
        _reflect(columns[k:, k:])
    return back_substituted(columns[:n, :n].T, columns[n:, :n].T)


def inverse(A: Array) -> Array:
    """Inverse of a regular matrix."""
    return solved(A, np.eye(len(A)))


def least_squares(A: Array, b: Array, smallest: float) -> Array:
    """x that minimises |A x - b| of a tall matrix; columns that the others explain but for this part stay at zero.

    The normal equations lose half of the digits; residuals of the solution itself give them back.
    """
    # Squares: a part of a column is the square root of that part of its pivot.
    chosen, R = _definite_triangle(gram_matrix(A), smallest * smallest)
    x = np.zeros(A.shape[1])
    for _ in range(1 + N_REFINEMENTS):
        # The residual of the present x, in full precision, corrects what the normal equations lost.
        slope = product((b - product(A, x)), A)[chosen, None]
        # R^T R dx = A^T (b - A x), the lower triangle turned round into an upper one
        half = back_substituted(R.T[::-1, ::-1], slope[::-1])[::-1]
        x[chosen] += back_substituted(R, half)[:, 0]
    return x


def _definite_triangle(G: Array, threshold: float) -> tuple[list[int], Array]:
    """Rows and columns of G taken by size, down to a part of the largest, and R with R^T R = G there (Cholesky)."""
    rest, chosen, rows = np.array(G), list[int](), []
    floor = threshold * np.diag(G).max(initial=0.0)
    while len(chosen) < len(G):
        pivots = np.diag(rest).copy()
        # Rounding leaves a little where a row was taken out; it must not be chosen again.
        pivots[chosen] = 0.0
        k = first_largest(pivots)
        if pivots[k] <= floor:
            break
        rows.append(rest[k] / np.sqrt(pivots[k]))
        rest -= np.outer(rows[-1], rows[-1])
        chosen.append(k)
    return chosen, np.triu(np.array(rows).reshape(-1, len(G))[:, chosen])


def singular_values(A: Array) -> Array:
    """(n,) singular values of a matrix with n columns, the largest first.  [Golub1965]"""
    beside = _beside_diagonal(A)
    return np.array([_singular_value(beside, k) for k in range(A.shape[1])])


def condition(A: Array) -> float:
    """Largest over smallest singular value."""
    beside = _beside_diagonal(A)
    return _singular_value(beside, 0) / _singular_value(beside, A.shape[1] - 1)


def _beside_diagonal(A: Array) -> list[float]:
    """Squares of what stands beside the zero diagonal of a matrix whose eigenvalues are +- the singular values of A."""
    # A wide matrix gets rows of zeros: it has as many singular values as columns.
    missing = np.zeros((max(A.shape[1] - len(A), 0), A.shape[1]))
    diagonal, above = _bidiagonal(np.concatenate([A, missing]))
    entries = np.zeros(2 * len(diagonal))
    # Golub and Kahan: the bidiagonal's entries alternate beside a zero diagonal, whose eigenvalues are +- sigma.
    entries[1::2], entries[2::2] = diagonal, above
    return (entries * entries).tolist()


def _singular_value(beside: list[float], k: int) -> float:
    """The k-th largest, by halving an interval: the signs of a Sturm sequence count the eigenvalues below."""
    # Gershgorin: no eigenvalue lies beyond twice the largest entry beside the diagonal.
    low, high = 0.0, 2.0 * math.sqrt(max(beside))
    tiny = sys.float_info.min
    # One bit per halving, and two more for the ends.
    for _ in range(sys.float_info.mant_dig + 2):
        middle = 0.5 * (low + high)
        pivot, n_below = math.inf, 0
        for square in beside:
            # A pivot of zero would divide the next one: it counts as barely negative.
            pivot = -middle - square / pivot or -tiny
            n_below += pivot < 0.0
        low, high = (low, middle) if n_below >= len(beside) - k else (middle, high)
    return high


def _bidiagonal(A: Array) -> tuple[Array, Array]:
    """Diagonal and the one above it of U^T A V."""
    columns = np.array(A.T, order="C")
    n = len(columns)
    for k in range(n):
        _reflect(columns[k:, k:])
        if k + 2 < n:
            _reflect(columns[k + 1 :, k:].T)
    return np.diag(columns).copy(), np.diag(columns, -1).copy()


def are_positive_definite(matrices: Array) -> bool:
    """Whether all symmetric matrices (..., n, n) have positive pivots."""
    rest = np.array(matrices)
    while rest.shape[-1]:
        pivot = rest[..., :1, :1]
        if not (pivot > 0).all():
            return False
        # Schur complement: what is left of the matrix after its first row and column.
        rest = rest[..., 1:, 1:] - rest[..., 1:, :1] * rest[..., :1, 1:] / pivot
    return True


def definite_solved(matrices: Array, right: Array) -> Array:
    """X with M X = right (..., n, k) for symmetric positive definite matrices (..., n, n), by elimination."""
    M, X = np.array(matrices), np.array(right)
    n = M.shape[-1]
    # No exchange of rows: definite matrices need none, and all of a stack go the same way.
    for k in range(n):
        factors = M[..., k + 1 :, k, None] / M[..., k, k, None, None]
        M[..., k + 1 :, k + 1 :] -= factors * M[..., k, None, k + 1 :]
        X[..., k + 1 :, :] -= factors * X[..., k, None, :]
    for k in reversed(range(n)):
        X[..., k, :] /= M[..., k, k, None]
        X[..., :k, :] -= M[..., :k, k, None] * X[..., k, None, :]
    return X
