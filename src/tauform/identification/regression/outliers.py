"""Robust estimation: rows with large residuals count less.  [Huber1964]"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.identification.regression.estimate import Estimate, least_squares
from tauform.identification.regression.evidence import Evidence, updated
from tauform.identification.regression.rows import Rows

# Huber's constant: 95 % efficient where the noise is normal.
HUBER = 1.345
N_ROBUST_PASSES = 30
# Changes of the values that settle them, in standard deviations.
MAX_SETTLED_SHARE_OF_DEVIATION = 1e-4


def robust(plain: Estimate, evidence: Evidence, rows: Iterable[Rows]) -> Estimate:
    """Huber's estimator: rows with large residuals count less, found by iterating."""
    found = _settled(plain, rows)

    def refit(blocks: Sequence[int]) -> Array:
        # From the values of all rows: where the passes end does not depend on where they begin.
        return _settled(found, RowsOfBlocks(rows, evidence, frozenset(blocks))).values

    return replace(found, refit=refit)


@dataclass(frozen=True, eq=False)
class RowsOfBlocks:
    """The rows of some blocks, as often as they are asked for."""

    rows: Iterable[Rows]
    evidence: Evidence
    blocks: frozenset[int]

    def __iter__(self) -> Iterator[Rows]:
        for part in self.rows:
            inside = np.isin(self.evidence.block_of(part.segment, part.t), list(self.blocks))
            if inside.all():
                yield part
            elif inside.any():
                yield replace(part, A=part.A[inside], tau=part.tau[inside], t=part.t[inside])


def _settled(start: Estimate, rows: Iterable[Rows]) -> Estimate:
    current = start
    deviations = np.sqrt(np.diag(start.bread))
    for _ in range(N_ROBUST_PASSES):
        spread = _median_spread(current, rows)
        evidence = _huber_evidence(current.values, spread, rows)
        following = least_squares(evidence, sigma=spread)
        change = np.abs(following.values - current.values)
        current = replace(following, sigma=spread)
        if (change <= MAX_SETTLED_SHARE_OF_DEVIATION * deviations + 1e-15 * np.abs(start.values)).all():
            break
    return current


def _median_spread(current: Estimate, rows: Iterable[Rows]) -> Array:
    errors = np.concatenate([np.abs(part.tau - part.A @ current.values) for part in rows])
    size = np.sqrt(np.mean([(part.tau**2).mean(axis=0) for part in rows], axis=0))
    # 1.4826 times the median of absolute residuals is the deviation of normal noise, and outliers do not move it.
    return np.maximum(1.4826 * np.median(errors, axis=0), 1e-12 * size)


def _huber_evidence(values: Array, spread: Array, rows: Iterable[Rows]) -> Evidence:
    triangles, count = None, 0
    for part in rows:
        excess = np.abs(part.tau - part.A @ values) / spread
        # w r^2 grows like |r| beyond Huber's constant; rows are multiplied by the root of w.
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(excess, 1e-300)))
        tables = np.concatenate([part.A, part.tau[:, :, None]], axis=2) * weights[:, :, None]
        n, p = tables.shape[1], tables.shape[2]
        triangles = np.zeros((n, p, p)) if triangles is None else triangles
        triangles = np.array([updated(triangles[j], tables[:, j]) for j in range(n)])
        count += len(part.t)
    assert triangles is not None
    n, p = triangles.shape[:2]
    return Evidence(triangles[None], np.array([count]), (0,), np.ones((n, p - 1)), np.ones(n))
