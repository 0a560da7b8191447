"""Criterion of excitation: one number for how well rows show their parameters, and its derivative by every entry.

The condition number is that of the columns as they are, in SI units, neither scaled nor weighted: the largest singular
value over the smallest, of all rows of a motion.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.errors import IdentificationError
from tauform.wording import argument

Criterion = Literal["condition", "d_optimal", "deviation"]
CRITERIA: tuple[Criterion, ...] = ("condition", "d_optimal", "deviation")
# Squares of singular values below this part of the largest are rounding.
ROUNDING = 1e-14


def checked_criterion(name: Criterion | None, is_sequential: bool) -> Criterion:
    """The criterion of that name; by default that of a first motion, or of a further one.

    Raises:
        IdentificationError: there is none of that name, or it does not speak of a first or further motion.
    """
    if name is None:
        return "deviation" if is_sequential else "condition"
    if name not in CRITERIA:
        raise IdentificationError(f"criterion: expected {', '.join(CRITERIA[:-1])} or {CRITERIA[-1]}, got {name!r}")
    if name == "deviation" and not is_sequential:
        raise IdentificationError(
            "criterion: deviations are those of a fit", remedy=f"give what is recorded with {argument('given', ...)}"
        )
    if name == "condition" and is_sequential:
        raise IdentificationError(
            "criterion: condition speaks of one motion alone; expected deviation or d_optimal beside what is recorded"
        )
    return name


def condition(W: Array) -> float:
    """Largest over smallest singular value of (..., p) columns."""
    return float(np.linalg.cond(W.reshape(-1, W.shape[-1])))


def quality(W: Array, criterion: Criterion) -> float:
    """log condition, or minus the log determinant of the information: the smaller, the better."""
    squares = _squares(W.reshape(-1, W.shape[-1]))[0]
    return float(np.log(squares[-1] / squares[0]) / 2 if criterion == "condition" else -np.log(squares).sum())


def smooth_quality(W: Array, criterion: Criterion, softness: float) -> tuple[float, Array]:
    """A smooth stand-in for `quality` and its derivative by each entry of (..., p) columns.

    With the singular values s and k = softness, (sum s^2k)^(1/2k) stands for the largest and its inverse for the
    smallest: where singular values cross, the true ones have a kink that stops a quasi-Newton method.
    """
    flat = W.reshape(-1, W.shape[-1])
    squares, V = _squares(flat)
    if criterion == "condition":
        # Relative to the largest: powers of the softness would overflow else.
        ratio = squares / squares[-1]
        high, low = ratio**softness, (ratio[0] / ratio) ** softness
        share = high / high.sum() - low / low.sum()
        value = (np.log(high.sum()) + np.log(low.sum())) / (2 * softness) - np.log(ratio[0]) / 2
    else:
        # -log det(W^T W) = -sum log s^2: each singular value has the same share, -2.
        share, value = np.full(len(squares), -2.0), -np.log(squares).sum()
    # d log s / dW = u v^T / s; summed over all singular values with their shares, W V diag(share / s^2) V^T.
    return float(value), (flat @ ((V * (share / squares)) @ V.T)).reshape(W.shape)


def _squares(flat: Array) -> tuple[Array, Array]:
    """Squares of the singular values, and their directions."""
    # Squares cost half the digits, of which a plan needs few, and a tenth of the time of singular values.
    squares, V = scipy.linalg.eigh(flat.T @ flat, check_finite=False)
    # Never zero: a column that is not excited gives a large criterion with a slope, not an infinite one.
    return np.maximum(squares, max(ROUNDING * squares[-1], np.finfo(float).tiny)), V
