"""Which columns of a scaled matrix are independent, and how the others follow from them.  [Gautier1991]

Three ways to the same answer: QR in the order of preference (Eqs. 13-17), QR with column pivoting (Eq. 14, which
chooses the columns itself, for the best condition), and SVD (Eqs. 21-27).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.errors import ModelError

Method = Literal["qr", "qr_pivoted", "svd"]
METHODS: tuple[Method, ...] = ("qr", "qr_pivoted", "svd")
# Residuals below the first part of a column are rounding, above the second never; between them the widest gap decides.
ROUNDING, CERTAIN = 1e-14, 1e-5
EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Split:
    """Columns kept, folded into them (W[:, folded] = W[:, kept] @ beta), and without effect.

    Attributes:
        weakest_kept: smallest size left of a unit column that was kept, after the others are taken out of it.
        strongest_folded: largest size left of one that was folded.
        condition: condition number of W[:, kept].
    """

    kept: list[int]
    folded: list[int]
    without_effect: list[int]
    beta: Array
    weakest_kept: float
    strongest_folded: float
    condition: float

    @property
    def gap(self) -> float:
        """How far the weakest independent column stands above the strongest dependent one."""
        return self.weakest_kept / max(self.strongest_folded, EPSILON)


def eliminate(matrix: Array, preferred: Sequence[int], method: Method = "qr") -> Split:
    """Keep or fold the unit columns of a matrix; earlier ones in `preferred` are kept first.

    Raises:
        ModelError: the method is unknown.
    """
    if method not in METHODS:
        raise ModelError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
    present = [k for k in preferred if matrix[:, k].any()]
    way = {"qr": _by_preference, "qr_pivoted": _by_pivoting, "svd": _by_null_space}[method]
    chosen, weakest, strongest = way(matrix[:, present]) if present else ([], 1.0, 0.0)
    kept = sorted(present[k] for k in chosen)
    folded = sorted(set(present) - set(kept))
    beta, condition = _fold(matrix[:, kept], matrix[:, folded])
    return Split(
        kept=kept,
        folded=folded,
        without_effect=sorted(set(preferred) - set(present)),
        beta=beta,
        weakest_kept=weakest,
        strongest_folded=strongest,
        condition=condition,
    )


def threshold_in_gap(sizes: Array) -> float:
    """Where rounding ends: the middle of the widest gap between sizes, each relative to one."""
    floor = ROUNDING * np.sqrt(len(sizes))
    levels = np.unique(np.clip(np.concatenate([sizes, [floor, CERTAIN]]), floor, CERTAIN))
    widest = int(np.argmax(levels[1:] / levels[:-1]))
    return float(np.sqrt(levels[widest] * levels[widest + 1]))


def _by_preference(matrix: Array) -> tuple[list[int], float, float]:
    # Pivoting shows the rank most clearly; the walk in the order of preference uses its threshold.
    R = scipy.linalg.qr(matrix, mode="r", pivoting=True)[0]
    return _independent(matrix, threshold_in_gap(np.abs(np.diag(R))))


def _by_pivoting(matrix: Array) -> tuple[list[int], float, float]:
    R, places = scipy.linalg.qr(matrix, mode="r", pivoting=True)
    sizes = np.abs(np.diag(R))
    rank = int(np.sum(sizes > threshold_in_gap(sizes)))
    return sorted(places[:rank].tolist()), float(sizes[rank - 1]), float(sizes[rank:].max(initial=0.0))


def _by_null_space(matrix: Array) -> tuple[list[int], float, float]:
    _, sizes, Vt = np.linalg.svd(matrix, full_matrices=True)
    sizes = np.concatenate([sizes, np.zeros(matrix.shape[1] - len(sizes))]) / sizes[0]
    rank = int(np.sum(sizes > threshold_in_gap(sizes)))
    V2 = Vt[rank:].T
    # From the last row of V2 upwards, the first rows that are independent belong to the columns to fold.
    for threshold in 10.0 ** -np.arange(3, 15):
        folded = _independent(V2[::-1].T, threshold)[0]
        if len(folded) == V2.shape[1]:
            break
    last = matrix.shape[1] - 1
    kept = sorted(set(range(last + 1)) - {last - k for k in folded})
    return kept, float(sizes[rank - 1]), float(sizes[rank:].max(initial=0.0))


def _independent(matrix: Array, threshold: float) -> tuple[list[int], float, float]:
    """Columns that stand out of the span of those before them, the weakest of these, and the strongest other."""
    basis = np.zeros((len(matrix), min(matrix.shape)))
    chosen: list[int] = []
    weakest, strongest = 1.0, 0.0
    for k, column in enumerate(matrix.T):
        known = basis[:, : len(chosen)]
        residual = column - known @ (known.T @ column)
        residual -= known @ (known.T @ residual)  # twice is enough (Kahan)
        size = float(np.sqrt(residual @ residual))
        if size > threshold and len(chosen) < basis.shape[1]:
            basis[:, len(chosen)] = residual / size
            chosen.append(k)
            weakest = min(weakest, size)
        else:
            strongest = max(strongest, size)
    return chosen, weakest, strongest


def _fold(W1: Array, W2: Array) -> tuple[Array, float]:
    """beta with W2 = W1 beta [Gautier1991, Eq. 17], and the condition number of W1."""
    if not W1.shape[1]:
        return np.zeros((0, W2.shape[1])), 1.0
    Q, R = np.linalg.qr(W1)
    beta = scipy.linalg.solve_triangular(R, Q.T @ W2)
    beta += scipy.linalg.solve_triangular(R, Q.T @ (W2 - W1 @ beta))
    condition = float(np.linalg.cond(R))
    # Entries at the level of rounding are zeros of the exact relation.
    beta[np.abs(beta) <= 8 * EPSILON * condition] = 0.0
    return beta, condition
