"""Least squares of a few samples under one hypothesis, judged on stretches of time that were held out."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tauform.arrays import AnyArray, Array

# Passes in which the weights of the joints settle; what keeps the equations solvable; squares that are none.
N_PASSES, RIDGE, NEGLIGIBLE = 4, 1e-6, 1e-6


@dataclass(frozen=True, eq=False)
class NormalProducts:
    """Products of the columns of each joint with each other and with its torque, fold by fold.

    Attributes:
        squares, sides, whole: (folds, n, p, p), (folds, n, p) and (folds, n).
    """

    squares: Array
    sides: Array
    whole: Array

    @classmethod
    def of(cls, A: Array, tau: Array, folds: AnyArray) -> NormalProducts:
        """Of columns (N, n, p), torques (N, n) and the fold (N,) of each sample, in order."""
        squares = _products(A, A, folds)
        return cls(squares, _products(A, tau[..., None], folds)[..., 0], _products(tau, tau, folds))

    def beside(self, A: Array, further: Array, tau: Array, folds: AnyArray) -> NormalProducts:
        """Of these columns A and further ones (N, n, k): few, and the products of the others are known."""
        across, sides = _products(A, further, folds), _products(further, tau[..., None], folds)[..., 0]
        below = np.concatenate([across.swapaxes(-1, -2), _products(further, further, folds)], axis=-1)
        squares = np.concatenate([np.concatenate([self.squares, across], axis=-1), below], axis=-2)
        return NormalProducts(squares, np.concatenate([self.sides, sides], axis=-1), self.whole)

    def first(self, p: int) -> NormalProducts:
        """Of the first columns alone."""
        return NormalProducts(self.squares[..., :p, :p], self.sides[..., :p], self.whole)

    @cached_property
    def values(self) -> Array:
        """(p,) values that all folds ask for; each joint weighted by what it leaves."""
        return weighted(self.squares.sum(axis=0), self.sides.sum(axis=0), self.whole.sum(axis=0))[0]

    @cached_property
    def left_out(self) -> Array:
        """(folds, p) values that all folds but one ask for."""
        # All at once: as many small equations cost mostly their calls. Sums and no differences from the whole, which
        # would leave a rounding error of a column that is zero in all the others.
        kept = 1.0 - np.eye(len(self.whole))
        return weighted(*(np.tensordot(kept, x, axes=1) for x in (self.squares, self.sides, self.whole)))[0]

    @cached_property
    def held_out(self) -> Array:
        """(n,) share of each joint's squares that is left in folds which the values do not come from."""
        left = squares_left(self.squares, self.sides, self.whole, self.left_out).sum(axis=0)
        return np.asarray(left / np.maximum(self.whole.sum(axis=0), 1e-300))


def weighted(squares: Array, sides: Array, whole: Array) -> tuple[Array, Array]:
    """Values (..., p) and what each joint leaves (..., n), for a batch of regressions.

    Args:
        squares, sides, whole: products (..., n, p, p), (..., n, p) and squared torques (..., n).
    """
    left, p = np.maximum(whole, 1e-300), squares.shape[-1]
    flat = squares.reshape(*squares.shape[:-2], p * p)
    for _ in range(N_PASSES):
        weights = (1 / left)[..., None, :]
        S, b = (weights @ flat).reshape(*squares.shape[:-3], p, p), (weights @ sides)[..., 0, :]
        size = np.sqrt(np.maximum(np.diagonal(S, axis1=-2, axis2=-1), 1e-300))
        S = S / (size[..., :, None] * size[..., None, :]) + RIDGE * np.eye(p)
        values = np.linalg.solve(S, (b / size)[..., None])[..., 0] / size
        left = squares_left(squares, sides, whole, values)
    return values, left


def squares_left(squares: Array, sides: Array, whole: Array, values: Array) -> Array:
    """(..., n) squares that values leave, |tau - A x|^2 = x'A'A x - 2 x'A'tau + tau'tau, never quite none."""
    x = values[..., None, :]
    # x as a column of products, and as a row.
    left = ((squares @ x[..., None])[..., 0] * x).sum(axis=-1) - 2 * (sides * x).sum(axis=-1) + whole
    return np.asarray(np.maximum(left, NEGLIGIBLE * np.maximum(whole, 1e-300)))


def _products(a: Array, b: Array, folds: AnyArray) -> Array:
    """(folds, n, p, k) products of columns (N, n, p) and (N, n, k); (folds, n) of torques."""
    # Slices: a choice of samples would copy the columns each time.
    ends = [0, *(np.flatnonzero(np.diff(folds)) + 1).tolist(), len(folds)]
    pairs = [(a[first:last], b[first:last]) for first, last in itertools.pairwise(ends)]
    if a.ndim == 2:
        return np.array([(x * y).sum(axis=0) for x, y in pairs])
    return np.array([x.transpose(1, 2, 0) @ np.moveaxis(y, 1, 0) for x, y in pairs])
