"""Instrumental variables: columns at the commanded positions, which share the motion and not the encoders' noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.errors import IdentificationError
from tauform.identification.regression.estimate import Estimate, of_values
from tauform.identification.regression.evidence import updated
from tauform.identification.regression.rows import Rows, RowSource
from tauform.identification.regression.tuning import Tuning

NO_REFERENCE = (
    "method instrumental needs the commanded positions (Recording.reference), which carry no sensor noise; "
    "record them, or use another method"
)
# Diagonals below this share of the largest leave values open.
MIN_SHARE_OF_PIVOT = 1e-12


def instrumental(plain: Estimate, tuning: Tuning, rows: Iterable[Rows], source: RowSource) -> Estimate:
    """Columns at the commanded positions as instruments: free of the noise of the measured ones.

    Raises:
        IdentificationError: the recordings hold no commanded positions, or these leave values open.
    """
    if any(segment.reference is None for segment in source.segments):
        raise IdentificationError(NO_REFERENCE)
    p, evidence = source.design.n_columns, tuning.evidence
    # Joints apart: their weights are other ones without some of the blocks.
    triangles = np.zeros((len(evidence.counts), evidence.n_joints, 2 * p + 1, 2 * p + 1))
    for part, instruments in _with_instruments(rows, source):
        table = np.concatenate([instruments, part.A, part.tau[:, :, None]], axis=2)
        label = evidence.block_of(part.segment, part.t)
        for block, joint in product(np.unique(label), range(evidence.n_joints)):
            triangles[block, joint] = updated(triangles[block, joint], table[label == block, joint])

    def refit(blocks: Sequence[int]) -> Array:
        return _solved(triangles[list(blocks)] / tuning.residuals(blocks)[:, None, None])

    return of_values(replace(plain, refit=refit), _solved(triangles / plain.sigma[:, None, None]), evidence)


def _with_instruments(rows: Iterable[Rows], source: RowSource) -> Iterator[tuple[Rows, Array]]:
    """Each part of the rows, and (N, n, p) columns at the commanded positions of the same instants."""
    commanded = [replace(s, q=s.reference, qd=None, qdd=None) for s in source.segments if s.reference is not None]
    # Whether a joint stands is judged by what was measured: the command stands at other instants.
    clean = iter(replace(source, segments=tuple(commanded), rest=None))
    for part in rows:
        # Both come in the same pieces; those of a pause have no measured rows.
        own = next(clean)
        while own.segment != part.segment or own.t[-1] < part.t[0]:
            own = next(clean)
        yield part, own.A[np.searchsorted(own.t, part.t)]


def _solved(triangles: Array) -> Array:
    """Values x with Z'A x = Z'tau, of blocks' triangles [Z A tau]."""
    width = triangles.shape[-1]
    p = (width - 1) // 2
    triangle = updated(np.zeros((width, width)), triangles.reshape(-1, width))
    # Z = Q1 R11, A = Q1 R12 + ...: Z'A x = Z'tau is R12 x = R13.
    R12, R13 = triangle[:p, p : 2 * p], triangle[:p, 2 * p]
    scale = np.linalg.norm(R12, axis=0)
    if not (scale > 0).all() or np.linalg.cond(R12 / scale) > 1 / MIN_SHARE_OF_PIVOT:
        raise IdentificationError("the commanded motion leaves parameters open; let it move further, or more often")
    return np.asarray(scipy.linalg.solve(R12 / scale, R13) / scale)
