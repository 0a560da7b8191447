"""Rank: the independent columns of a scaled matrix, and how the others follow from them.  [Gautier1991]

Three ways to the same answer: QR in the order of preference (Eqs. 13-17), QR with column pivoting (Eq. 14, which
chooses the columns itself, for the best condition), and SVD (Eqs. 21-27).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tauform.arrays import Array
from tauform.errors import ModelError
from tauform.portable.factorization import Triangle, by_size, condition, in_order, singular_values, solved

RankMethod = Literal["qr", "qr_pivoted", "svd"]
METHODS: tuple[RankMethod, ...] = ("qr", "qr_pivoted", "svd")
# Residuals below the first part of a column are rounding, above the second never; between them the widest gap decides.
# Below 1e-14 double precision cannot tell a column from rounding; 1e-5 no rounding reaches.
MAX_ROUNDING_RESIDUAL, MIN_CERTAIN_RESIDUAL = 1e-14, 1e-5
EPSILON = float(np.finfo(float).eps)
# Rows of the null space are told apart as clearly as they can be.
THRESHOLDS = tuple(10.0**-k for k in range(3, 15))


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
        """Ratio of the weakest independent column to the strongest dependent one."""
        # Machine epsilon in place of an exact zero keeps the ratio finite.
        return self.weakest_kept / max(self.strongest_folded, EPSILON)


def eliminate(matrix: Array, preferred: Sequence[int], method: RankMethod = "qr") -> Split:
    """Keep or fold the unit columns of a matrix; earlier ones in `preferred` are kept first.

    Raises:
        ModelError: the method is unknown.
    """
    if method not in METHODS:
        raise ModelError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
    # A column of exact zeros has no effect; scaling has made rounding into such zeros.
    present = [k for k in preferred if matrix[:, k].any()]
    # all that follows works on the triangle: its columns stand to one another as those of the matrix do
    whole = by_size(matrix[:, present], _floor(len(present)))
    way = {"qr": _by_preference, "qr_pivoted": _by_pivoting, "svd": _by_null_space}[method]
    chosen, weakest, strongest = way(whole) if present else ([], 1.0, 0.0)
    place = {column: k for k, column in enumerate(present)}
    # In the order of columns again: callers compare sets by place.
    kept = sorted(present[k] for k in chosen)
    folded = sorted(set(present) - set(kept))
    beta, condition = _fold(whole.R[:, [place[k] for k in kept]], whole.R[:, [place[k] for k in folded]])
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
    """Threshold of rounding: the middle of the widest gap between sizes, each relative to one."""
    # Sums of n products round by about sqrt(n) units.
    floor = _floor(len(sizes))
    # Sizes outside the doubtful range are clipped to its ends, so that gaps among them do not count.
    levels = np.unique(np.clip(np.concatenate([sizes, [floor, MIN_CERTAIN_RESIDUAL]]), floor, MIN_CERTAIN_RESIDUAL))
    widest = int(np.argmax(levels[1:] / levels[:-1]))
    # The geometric mean lies as far, in factors, above rounding as below what counts.
    return float(np.sqrt(levels[widest] * levels[widest + 1]))


def _floor(n_columns: int) -> float:
    """Size of what rounding leaves at most of a unit column that the others span."""
    return float(MAX_ROUNDING_RESIDUAL * np.sqrt(n_columns))


def _by_preference(whole: Triangle) -> tuple[list[int], float, float]:
    # Pivoting shows the rank most clearly; the walk in the order of preference uses its threshold.
    walk = in_order(whole.R, threshold_in_gap(whole.sizes))
    return walk.chosen, float(walk.sizes[walk.chosen].min()), float(walk.sizes[walk.others].max(initial=0.0))


def _by_pivoting(whole: Triangle) -> tuple[list[int], float, float]:
    kept = whole.sizes > threshold_in_gap(whole.sizes)
    return np.flatnonzero(kept).tolist(), float(whole.sizes[kept].min()), float(whole.sizes[~kept].max(initial=0.0))


def _by_null_space(whole: Triangle) -> tuple[list[int], float, float]:
    # Rank by singular values; which columns to fold is read from the null space, last columns first.
    # Those of the triangle are those of the matrix, for a fraction of the work.
    sizes = singular_values(whole.R)
    # Relative to the largest: thresholds are.
    sizes = sizes / sizes[0]
    rank = int(np.sum(sizes > threshold_in_gap(sizes)))
    V2 = whole.null_space(rank)
    # From the last row of V2 upwards, the first rows that are independent belong to the columns to fold.
    for threshold in THRESHOLDS:
        folded = in_order(V2[::-1].T, threshold).chosen
        # As many rows as the null space has dimensions: the choice is complete.
        if len(folded) == V2.shape[1]:
            break
    last = len(V2) - 1
    kept = sorted(set(range(last + 1)) - {last - k for k in folded})
    return kept, float(sizes[rank - 1]), float(sizes[rank:].max(initial=0.0))


def _fold(W1: Array, W2: Array) -> tuple[Array, float]:
    """beta with W2 = W1 beta [Gautier1991, Eq. 17], and the condition number of W1."""
    # Nothing is kept: no column has an effect.
    if not W1.shape[1]:
        return np.zeros((0, W2.shape[1])), 1.0
    # Errors of a solution grow with the condition number.
    beta, kappa = solved(W1, W2), condition(W1)
    # Entries at the level of rounding are zeros of the exact relation.
    beta[np.abs(beta) <= 8 * EPSILON * kappa] = 0.0
    return beta, kappa
