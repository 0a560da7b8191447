"""Evidence: what the rows say, condensed into small triangles by streaming QR.

For each block of time and each joint, R with R^T R = [A tau]^T [A tau]. Sums of squares of any selection of columns,
any weights of joints and any selection of blocks follow from these, without going back to the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.linalg

from tauform.arrays import AnyArray, Array
from tauform.closedform.threads import on_one_thread
from tauform.errors import IdentificationError
from tauform.identification.regression.blocks import JUDGING_FOLDS, N_FOLDS, Span, block_of, spans_of
from tauform.identification.regression.rows import Rows, RowSource

# Folds that have to be left to choose with.
FEWEST_CHOOSING = 4


@dataclass(frozen=True, eq=False)
class Evidence:
    """Triangles and peaks of p columns.

    Attributes:
        triangles: (blocks, n, p + 1, p + 1) upper triangular; the last column is the torque's.
        counted: the same of rows that count less the more they leave: values are estimated from these, and judged by
            `triangles`; None where all count alike. See `outliers.py`.
        counts: (blocks,) rows in each block.
        recordings: (blocks,) index of each block's recording.
        peaks: (n, p) largest size of each column at each joint.
        torque_peaks: (n,) largest measured torque.
        spans: where each block lies; empty where the rows are not at hand.
        heard: (blocks, n) how many of the rows each joint moved in; empty where all moved in all.
        factors: (p,) on the deviations of values, by errors that stand together; see `clusters.py`. Empty for ones.
        coloured: (n, p, p) triangles of the columns behind noise like the residuals', of unit size; see `colour.py`.
    """

    triangles: Array
    counts: Array
    recordings: tuple[int, ...]
    peaks: Array
    torque_peaks: Array
    spans: tuple[Span, ...] = ()
    coloured: Array | None = None
    counted: Array | None = None
    heard: Array = field(default_factory=lambda: np.zeros((0, 0)))
    factors: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def n_joints(self) -> int:
        """Joints."""
        return int(self.triangles.shape[1])

    @property
    def n_columns(self) -> int:
        """Columns, without the torque's."""
        return int(self.triangles.shape[-1]) - 1

    @property
    def n_rows(self) -> int:
        """Rows per joint."""
        return int(self.counts.sum())

    @cached_property
    def rows_heard(self) -> Array:
        """(n,) rows in which each joint moves: a residual's size is told from these."""
        if not len(self.heard):
            return np.full(self.n_joints, max(1.0, float(self.n_rows)))
        return np.asarray(np.maximum(1.0, self.heard.sum(axis=0)))

    @cached_property
    def products(self) -> Array:
        """(blocks, n, p + 1, p + 1) R^T R."""
        return np.swapaxes(self.triangles, -1, -2) @ self.triangles

    @cached_property
    def torque_squares(self) -> Array:
        """(n,) sum of squared torques."""
        return (self.triangles[..., -1] ** 2).sum(axis=(0, 2))

    @on_one_thread
    def chosen(self, columns: Sequence[int]) -> Evidence:
        """The same with fewer columns."""
        index = [*columns, self.n_columns]
        # Fewer columns of R are no triangle any more; a small QR makes them one, without the rows.
        triangles = _triangles(self.triangles[..., index])
        counted = None if self.counted is None else _triangles(self.counted[..., index])
        # What colour does to the columns is squared in a covariance: it need not be a triangle.
        coloured = None if self.coloured is None else self.coloured[..., list(columns)]
        kept = list(columns)
        factors = self.factors[kept] if len(self.factors) else self.factors
        return replace(
            self, triangles=triangles, counted=counted, peaks=self.peaks[:, kept], coloured=coloured, factors=factors
        )

    def blocks(self, index: Sequence[int]) -> Evidence:
        """Some of the blocks."""
        recordings = tuple(self.recordings[k] for k in index)
        spans = tuple(self.spans[k] for k in index) if self.spans else ()
        kept = list(index)
        heard = self.heard[kept] if len(self.heard) else self.heard
        return replace(
            self,
            triangles=self.triangles[kept],
            counted=None if self.counted is None else self.counted[kept],
            counts=self.counts[kept],
            recordings=recordings,
            spans=spans,
            heard=heard,
        )

    def folds(self, count: int) -> list[list[int]]:
        """The blocks in `count` groups of neighbours with about as many rows each."""
        # Neighbours together: rows close in time share their noise, and would not be unseen.
        # By rows, not by blocks: blocks differ in length.
        middle = (np.cumsum(self.counts) - self.counts / 2) / max(1, self.n_rows)
        label = np.minimum((middle * count).astype(int), count - 1)
        groups = [np.flatnonzero(label == k).tolist() for k in range(count)]
        return [group for group in groups if group]

    def judges(self) -> tuple[list[int], list[int]] | None:
        """Blocks to choose on, and blocks that judge what was chosen there; None where there are too few."""
        folds = [span.fold for span in self.spans]
        # By rows where times are not at hand (a fit that was loaded), or where those that judge were taken away.
        if not set(folds) & set(JUDGING_FOLDS):
            folds = [k for k, fold in enumerate(self.folds(N_FOLDS)) for _ in fold]
        judging = [block for block, fold in enumerate(folds) if fold in JUDGING_FOLDS]
        choosing = [block for block, fold in enumerate(folds) if fold not in JUDGING_FOLDS]
        is_enough = len({folds[k] for k in choosing}) >= FEWEST_CHOOSING and judging
        return (choosing, judging) if is_enough else None

    def novelty(self) -> float:
        """Novelty of the folds' motions: 1 where each repeats the others, more where each shows something new.

        The mean over folds of tr(P_others^-1 P_fold) / p, both per row: what values from the others are uncertain of,
        relative to what they would be if the fold were among them.
        """
        # Each joint in units of its own torque.
        weights = 1.0 / np.maximum(self.torque_squares, 1e-300)
        by_block = np.tensordot(self.products[..., :-1, :-1], weights, axes=([1], [0]))
        total = by_block.sum(axis=0)
        size = np.sqrt(np.maximum(np.diag(total), 1e-300))
        found = []
        for fold in self.folds(N_FOLDS):
            own = by_block[fold].sum(axis=0) / np.outer(size, size)
            others = total / np.outer(size, size) - own + 1e-9 * np.eye(len(size))
            # Mean leverage of the fold in the other folds' metric; 1 for a fold like the others, after scaling by the
            # rows.
            ratio = float(np.trace(np.linalg.solve(others, own))) / len(size)
            n_own = float(self.counts[fold].sum())
            found.append(ratio * (self.n_rows - n_own) / max(n_own, 1.0))
        return float(np.mean(found))

    def squares_of_refits(self, refit: Callable[[Sequence[int]], Array]) -> Array:
        """(n,) squares of the residuals of each fold, predicted with the values that `refit` finds in all others.

        Args:
            refit: values from the numbers of blocks; some estimators need more than the evidence.
        """
        return held_out_squares(
            self.folds(N_FOLDS), refit, lambda fold, values: self.blocks(fold).residual_squares(values).sum(axis=0)
        )

    def block_of(self, segment: int, t: Array) -> AnyArray:
        """(N,) number of the block that each time of a segment lies in; -1 for none."""
        return block_of(self.spans, segment, t)

    def stacked(self, weights: Array) -> Array:
        """(p + 1, p + 1) triangle of all rows as they count, each joint's multiplied by its weight."""
        # A triangle stands for its rows: QR of triangles is that of all rows.
        triangles = self.triangles if self.counted is None else self.counted
        weighted = triangles * weights[:, None, None]
        return _triangle(weighted.reshape(-1, self.n_columns + 1))

    def residual_squares(self, values: Array) -> Array:
        """(blocks, n) sums of squared residuals for these values of the columns."""
        # [A tau] (x, -1) = A x - tau, and R has the same squares.
        return ((self.triangles @ np.append(values, -1.0)) ** 2).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class RowsOfBlocks:
    """The rows that lie in the blocks of an evidence, as often as they are asked for."""

    rows: Iterable[Rows]
    evidence: Evidence

    def __iter__(self) -> Iterator[Rows]:
        for part in self.rows:
            inside = self.evidence.block_of(part.segment, part.t) >= 0
            if inside.all():
                yield part
            elif inside.any():
                yield replace(part, A=part.A[inside], tau=part.tau[inside], t=part.t[inside])


def held_out_squares(
    folds: Sequence[Sequence[int]],
    refit: Callable[[Sequence[int]], Array],
    squares_left: Callable[[Sequence[int], Array], Array],
) -> Array:
    """(n,) squares of all folds, each predicted with values that were fitted to all the others.

    Args:
        folds: numbers of the blocks of each fold.
        refit: values from the numbers of the blocks that are kept.
        squares_left: (n,) squares that such values leave in the blocks of a fold.
    """
    blocks = sorted(block for fold in folds for block in fold)
    return np.sum([squares_left(fold, refit([k for k in blocks if k not in fold])) for fold in folds], axis=0)


@on_one_thread
def gather(source: Iterable[Rows], layout: RowSource, delay_column: bool = False) -> Evidence:
    """Condense all rows; with `delay_column`, the torque's time derivative is one more column."""
    design = layout.design
    n, p = design.robot.n_joints, design.n_columns + delay_column
    blocks = spans_of(layout)
    triangles = np.zeros((len(blocks), n, p + 1, p + 1))
    counts, peaks, torque_peaks = np.zeros(len(blocks), dtype=int), np.zeros((n, p)), np.zeros(n)
    heard = np.zeros((len(blocks), n))
    for rows in source:
        peaks[:, : design.n_columns] = np.maximum(peaks[:, : design.n_columns], np.abs(rows.A).max(axis=0))
        torque_peaks = np.maximum(torque_peaks, np.abs(rows.tau).max(axis=0))
        for block, span in enumerate(blocks):
            if rows.segment != span.segment:
                continue
            inside = (rows.t >= span.start) & (rows.t < span.end)
            if not inside.any():
                continue
            counts[block] += inside.sum()
            heard[block] += inside.sum() if rows.heard is None else rows.heard[inside].sum(axis=0)
            for j in range(n):
                # A x = tau(t + d) = tau + d taudot: as a column, -taudot has the delay as its coefficient.
                extra = [-rows.rate_of_tau[inside, j]] if delay_column else []
                table = np.column_stack([rows.A[inside, j], *extra, rows.tau[inside, j]])
                triangles[block, j] = updated(triangles[block, j], table)
    used = np.flatnonzero(counts)
    if not len(used):
        raise IdentificationError("the recordings are too short for the filters to settle; record for longer")
    recordings = tuple(layout.segments[blocks[k].segment].recording for k in used)
    spans = tuple(blocks[k] for k in used)
    found = Evidence(triangles[used], counts[used], recordings, peaks, torque_peaks, spans)
    return found if (heard == counts[:, None]).all() else replace(found, heard=heard[used])


def updated(triangle: Array, table: Array) -> Array:
    """The triangle after more rows; columns without any entry are left out of the work."""
    # A joint feels few of the columns, and QR costs the square of their number.
    active = np.flatnonzero(table.any(axis=0) | triangle.any(axis=0))
    stack = np.concatenate([triangle[np.ix_(active, active)], table[:, active]])
    out = np.zeros_like(triangle)
    out[np.ix_(active, active)] = _triangle(stack)
    return out


def _triangle(stack: Array) -> Array:
    R: Array = scipy.linalg.qr(stack, mode="r", check_finite=False)[0][: stack.shape[1]]
    return _square(R)


def _triangles(tables: Array) -> Array:
    """R of each of many tables."""
    R: Array = np.asarray(np.linalg.qr(tables, mode="r"))
    return _square(R)


def _square(R: Array) -> Array:
    missing = R.shape[-1] - R.shape[-2]
    return np.concatenate([R, np.zeros((*R.shape[:-2], missing, R.shape[-1]))], axis=-2) if missing > 0 else R
