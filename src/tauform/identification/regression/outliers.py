"""Robust estimation: rows with large residuals count less.  [Huber1964]

Which rows count less is kept with the evidence, so that fewer values, physical links and refits are robust too:

    minimise sum w(r) r^2,   w(r) = min(1, c s / |r|),   s = median |r| / 0.6745.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.errors import IdentificationError
from tauform.identification.regression.estimate import Estimate, least_squares
from tauform.identification.regression.evidence import Evidence, updated
from tauform.identification.regression.residuals import Residuals
from tauform.identification.regression.rows import Rows, RowSource
from tauform.wording import argument

# Huber's constant: 95 % efficient where the noise is normal.
HUBER = 1.345
N_ROBUST_PASSES = 30
# Changes of the values that settle them, in standard deviations.
MAX_SETTLED_SHARE_OF_DEVIATION = 1e-4
# The median of absolute residuals is this part of the deviation of normal noise, and outliers do not move it.
MEDIAN_OF_NORMAL = 0.6745
# Residuals whose deviation is so many times what their median says have heavy tails: 1 of normal noise, 1.4 of noise
# that decays exponentially.
HEAVY_TAILS = 1.5
# Less than this share of the torques is what filters and differences leave of exact data: no measurement is so good.
LEAST_RESIDUAL = 1e-4


def has_heavy_tails(residuals: Residuals) -> bool:
    """Whether a few rows of a joint leave far more than the others."""
    if residuals.total < LEAST_RESIDUAL:
        return False
    middle = np.median(np.abs(residuals.error), axis=0) / MEDIAN_OF_NORMAL
    return bool((residuals.error.std(axis=0) > HEAVY_TAILS * np.maximum(middle, 1e-300)).any())


def robust(plain: Estimate, evidence: Evidence, rows: Iterable[Rows]) -> Estimate:
    """Huber's estimator: rows with large residuals count less, found by iterating."""
    found, before = _settled(plain, evidence, rows)

    def refit(blocks: Sequence[int]) -> Array:
        # From the values of all rows: where the passes end does not depend on where they begin.
        return _settled(found, evidence.blocks(blocks), rows)[0].values

    return replace(found, counted=_counted(before, found.sigma, evidence, rows), refit=refit)


def repeatable(rows: Sequence[Rows] | RowSource) -> Sequence[Rows]:
    """The rows where many passes over them are cheap.

    Raises:
        IdentificationError: they do not fit into memory.
    """
    if isinstance(rows, RowSource):
        raise IdentificationError(
            "the recordings are too long to try robust values", remedy=f"ask for {argument('method', 'robust')}"
        )
    return rows


def _settled(start: Estimate, evidence: Evidence, rows: Iterable[Rows]) -> tuple[Estimate, Array]:
    """Values that settled, and those that rows were weighted by for them."""
    current, before = start, start.values
    deviations = np.sqrt(np.diag(start.bread))
    for _ in range(N_ROBUST_PASSES):
        before = current.values
        spread = _median_spread(before, evidence, rows)
        together = _counted(before, spread, evidence, rows, apart=False)
        current = replace(least_squares(replace(evidence, counted=together), sigma=spread), sigma=spread)
        change = np.abs(current.values - before)
        if (change <= MAX_SETTLED_SHARE_OF_DEVIATION * deviations + 1e-15 * np.abs(start.values)).all():
            break
    return current, before


def _median_spread(values: Array, evidence: Evidence, rows: Iterable[Rows]) -> Array:
    errors = [np.abs(part.tau - part.A @ values)[evidence.block_of(part.segment, part.t) >= 0] for part in rows]
    size = np.sqrt(evidence.torque_squares / max(1, evidence.n_rows))
    return np.maximum(np.median(np.concatenate(errors), axis=0) / MEDIAN_OF_NORMAL, 1e-12 * size)


def _counted(values: Array, spread: Array, evidence: Evidence, rows: Iterable[Rows], apart: bool = True) -> Array:
    """(blocks, n, p + 1, p + 1) triangles of the rows by their weights, or of all blocks together where not `apart`."""
    triangles = np.zeros_like(evidence.triangles if apart else evidence.triangles[:1])
    for part in rows:
        excess = np.abs(part.tau - part.A @ values) / spread
        # w r^2 grows like |r| beyond Huber's constant; rows are multiplied by the root of w.
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(excess, 1e-300)))
        tables = np.concatenate([part.A, part.tau[:, :, None]], axis=2) * weights[:, :, None]
        label = evidence.block_of(part.segment, part.t)
        label = label if apart else np.minimum(label, 0)
        for block in np.unique(label[label >= 0]).tolist():
            for j in range(evidence.n_joints):
                triangles[block, j] = updated(triangles[block, j], tables[label == block, j])
    return triangles
