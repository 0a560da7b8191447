"""Least squares of a few samples under one hypothesis, judged on stretches of time that were held out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.regression.evidence import held_out_squares

# Passes in which the weights of the joints settle; what keeps the equations solvable; squares that are none.
N_PASSES, RIDGE, NEGLIGIBLE = 4, 1e-6, 1e-6


class NormalProducts:
    """Products of the columns A (N, n, p) of each joint with each other and with its torque, fold by fold."""

    def __init__(self, A: Array, tau: Array, folds: AnyArray) -> None:
        places = [folds == k for k in np.unique(folds)]
        self.squares = np.array([_squares(A[k]) for k in places])  # (folds, n, p, p)
        self.sides = np.array([np.einsum("knp,kn->np", A[k], tau[k]) for k in places])
        self.whole = np.array([(tau[k] ** 2).sum(axis=0) for k in places])

    def values(self, kept: Sequence[int] | None = None) -> Array:
        """(p,) values that all folds, or some, ask for; each joint weighted by what it leaves."""
        own = slice(None) if kept is None else list(kept)
        S, b, whole = (x[own].sum(axis=0) for x in (self.squares, self.sides, self.whole))
        return weighted(S, b, whole)[0]

    def held_out(self) -> Array:
        """(n,) share of each joint's squares that is left in folds which the values do not come from."""
        left = held_out_squares([[k] for k in range(len(self.whole))], self.values, self._left)
        return left / np.maximum(self.whole.sum(axis=0), 1e-300)

    def _left(self, fold: Sequence[int], values: Array) -> Array:
        (k,) = fold
        return squares_left(self.squares[k], self.sides[k], self.whole[k], values)


def weighted(squares: Array, sides: Array, whole: Array) -> tuple[Array, Array]:
    """Values (p,) and what each joint leaves (n,), from products (n, p, p), (n, p) and squared torques (n,)."""
    left = np.maximum(whole, 1e-300)
    values = np.zeros(squares.shape[-1])
    for _ in range(N_PASSES):
        S, b = np.tensordot(1 / left, squares, axes=1), (1 / left) @ sides
        size = np.sqrt(np.maximum(np.diag(S), 1e-300))
        values = np.linalg.solve(S / np.outer(size, size) + RIDGE * np.eye(len(b)), b / size) / size
        left = squares_left(squares, sides, whole, values)
    return values, left


def squares_left(squares: Array, sides: Array, whole: Array, values: Array) -> Array:
    """(n,) squares that values leave, |tau - A x|^2 = x'A'A x - 2 x'A'tau + tau'tau, never quite none."""
    left = values @ squares @ values - 2 * sides @ values + whole
    return np.maximum(left, NEGLIGIBLE * np.maximum(whole, 1e-300))


def _squares(A: Array) -> Array:
    of_joints = np.moveaxis(A, 1, 0)
    return of_joints.swapaxes(1, 2) @ of_joints
