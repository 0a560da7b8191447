"""Colour of the residuals: noise that is correlated in time makes values less sure than its size says.

Each joint's residuals are taken for an autoregressive process of low order behind the torque's filter, whose colour is
known: e = L w with white w. The values of weighted least squares, x = C A' W tau with C = (A' W A)^-1, then have the
covariance

    V = C M C,   M = sum over joints of w^4 (L' A)' (L' A).

L' filters the columns backwards in time. A fit takes on part of the noise, mostly what changes as slowly as the motion,
and its residuals show less of it: with P = A C A' W and Omega = L L', they have the autocovariance of

    (I - P) Omega (I - P)' = Omega - P Omega - Omega P' + A V A'.

What is missing is added to the one that is seen, the process is found again, and so on until both agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.identification.regression.clusters import with_clusters
from tauform.identification.regression.estimate import Estimate
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.rows import Rows

# Highest orders of the process and of the filters' colour; passes in which process and residuals agree.
MOST_LAGS, FILTER_LAGS, N_PASSES = 8, 20, 4
# White noise that is added to the colour of the filters, which may hold nothing at high frequencies.
WHITE_FLOOR = 0.02
# Rows that are enough to know the process, and its effect on the columns.
MOST_ROWS = 4000
# Rows that a gap counts for at most: no process remembers longer.
LONGEST_GAP = 200
# Partial correlations stay below this, so that the process has an end.
LARGEST_REFLECTION = 0.999


Process = tuple[Array, float]


@on_one_thread
def coloured(evidence: Evidence, estimate: Estimate, rows: Iterable[Rows], of_filters: Array) -> Evidence:
    """The evidence with triangles of the columns behind noise like the residuals of an estimate.

    Args:
        rows: all that the evidence condenses, or stretches of it.
        of_filters: correlations that the filters alone bring, at 0, 1, 2 ... rows.
    """
    from scipy import signal

    A, error, count = _on_a_grid(evidence, rows, estimate.values)
    share, felt = count / max(1, evidence.n_rows), [np.flatnonzero(own) for own in evidence.peaks]
    # Residuals at rest are none: they would make the noise look smaller.
    counts = share * evidence.rows_heard[:, None]
    half, whitener = root_of(estimate.bread), _whitener(of_filters)

    def white(x: Array) -> Array:
        return np.asarray(signal.lfilter(whitener, 1.0, x, axis=0))

    # In coordinates of the values in which C is the identity.
    columns = [A[:, j, own] @ half[own] for j, own in enumerate(felt)]
    whitened = [white(x) for x in columns]
    lags = seen = np.array([_covariances(own, own) for own in white(error).T]) / counts
    squares = estimate.weights**2
    for _ in range(N_PASSES):
        processes = [process(own, count) for own in lags]
        behind = [_backwards(own, whitener, x) for own, x in zip(processes, columns, strict=True)]
        M = sum(w**2 * x.T @ x for w, x in zip(squares, behind, strict=True)) / share
        taken = [
            w * _both_ways(_coloured(own, np.ones(1), L), x) - _covariances(x @ M, x)
            for own, L, x, w in zip(processes, behind, whitened, squares, strict=True)
        ]
        lags = seen + np.array(taken) / counts
    triangles = np.zeros((len(felt), evidence.n_columns, evidence.n_columns))
    for j, (own, kept) in enumerate(zip(lags, felt, strict=True)):
        size = max(float(estimate.sigma[j]), 1e-300) * np.sqrt(share)
        filtered = _backwards(process(own, count), whitener, A[:, j, kept]) / size
        R = scipy.linalg.qr(filtered, mode="r", check_finite=False)[0][: len(kept)]
        triangles[j, : len(R), kept] = R.T
    return with_clusters(replace(evidence, coloured=triangles), estimate, rows)


def _whitener(of_filters: Array) -> Array:
    """The filter that makes white noise of what the torque's filter leaves of it, as far as that is not lost."""
    # Rows may be much closer than the filter's cut-off asks for: nothing is amplified beyond the floor.
    floor = np.zeros(min(len(of_filters), FILTER_LAGS + 1))
    floor[0] = WHITE_FLOOR
    return process(of_filters[: len(floor)] + floor)[0]


def root_of(matrix: Array) -> Array:
    """H with H H' = matrix, also where rounding has made it indefinite."""
    size = np.sqrt(np.diag(matrix))
    values, vectors = np.linalg.eigh(matrix / np.outer(size, size))
    return size[:, None] * vectors * np.sqrt(np.maximum(values, 0.0))


def process(autocovariance: Array, n_rows: float = np.inf) -> Process:
    """(1, a_1 ... a_k) and the variance of w in e_t + a_1 e_t-1 + ... = w_t, of the order by Akaike's criterion.

    Levinson's recursion; it ends where the autocovariances are those of no process any more.
    """
    a, variance = np.ones(1), max(float(autocovariance[0]), 1e-300)
    best, least = (a, variance), np.log(variance)
    for order in range(1, len(autocovariance)):
        reflection = -float(a @ autocovariance[order:0:-1]) / variance
        if not abs(reflection) < LARGEST_REFLECTION:
            break
        a = np.append(a, 0.0)
        a, variance = a + reflection * a[::-1], variance * (1 - reflection**2)
        criterion = np.log(variance) + 2 * order / n_rows
        if criterion < least:
            best, least = (a, variance), criterion
    return best


def _coloured(own: Process, whitener: Array, x: Array) -> Array:
    """White noise x as it comes out of the process, and of the filters."""
    from scipy import signal

    return np.asarray(signal.lfilter([np.sqrt(own[1])], np.convolve(own[0], whitener), x, axis=0))


def _backwards(own: Process, whitener: Array, x: Array) -> Array:
    """The transpose of that."""
    return _coloured(own, whitener, x[::-1])[::-1]


def _covariances(x: Array, y: Array) -> Array:
    """(lags + 1,) sum over the rows t of x_t . y_t+k."""
    return np.array([np.vdot(x[: len(x) - k], y[k:]) for k in range(MOST_LAGS + 1)])


def _both_ways(x: Array, y: Array) -> Array:
    """The same of x with y and of y with x."""
    return _covariances(x, y) + _covariances(y, x)


def _on_a_grid(evidence: Evidence, rows: Iterable[Rows], values: Array) -> tuple[Array, Array, int]:
    """(N, n, p) columns and (N, n) residuals at equal steps of time, zero where there is no row; number of rows."""
    parts = list(_beginnings(rows, min(1.0, MOST_ROWS / max(1, evidence.n_rows))))
    steps = np.concatenate([np.diff(part.t) for part in parts])
    step = float(np.median(steps)) if len(steps) else 1.0
    A, error = [], []
    for part in parts:
        gaps = np.clip(np.round(np.diff(part.t) / step), 1, LONGEST_GAP).astype(int)
        places = np.concatenate([[0], np.cumsum(gaps)])
        # Parts need not follow each other: they stand apart.
        own = np.zeros((places[-1] + 1 + MOST_LAGS, *part.A.shape[1:]))
        left = np.zeros(own.shape[:2])
        own[places], left[places] = part.A, part.tau - part.A @ values
        A.append(own)
        error.append(left)
    return np.concatenate(A), np.concatenate(error), sum(len(part.t) for part in parts)


def _beginnings(rows: Iterable[Rows], share: float) -> Iterator[Rows]:
    """The first share of each part."""
    for part in rows:
        kept = slice(0, max(2, round(share * len(part.t))))
        yield replace(part, A=part.A[kept], tau=part.tau[kept], t=part.t[kept])
