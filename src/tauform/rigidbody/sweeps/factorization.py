"""M = L^T D L of a mass matrix, tip first, so that the zeros of a tree's branches stay zero (Featherstone 2005)."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.rigidbody.sweeps.pivots import check_pivot


def factorize(M: AnyArray, parents: tuple[int, ...]) -> AnyArray:
    """D on the diagonal and the rows of L below it, in one (n, n, ...) array; arrays of any scalar.

    parents of a chain, (-1, 0, 1, ...), suit any symmetric matrix.
    """
    LD = np.array(M)
    # From the tip: eliminating row k changes only entries among its ancestors, so branches that never meet stay zero.
    for k in reversed(range(len(parents))):
        # The pivot is compared with the entry it started from: what elimination leaves of it may be rounding alone.
        check_pivot(LD[k, k], [M[k, k]], k)
        i = parents[k]
        while i >= 0:
            factor = LD[k, i] / LD[k, k]
            j = i
            # M_ij -= L_ki M_kj for j from i to the base: what body k shares with its ancestors
            while j >= 0:
                LD[i, j] = LD[i, j] - factor * LD[k, j]
                j = parents[j]
            LD[k, i] = factor
            i = parents[i]
    return LD


def solve(LD: AnyArray, parents: tuple[int, ...], b: AnyArray) -> AnyArray:
    """x with M x = b; b is (n, ...), further dimensions broadcast against those of M."""
    n = len(parents)
    x = list(b)
    for i in reversed(range(n)):  # L^T y = b
        j = parents[i]
        while j >= 0:
            x[j] = x[j] - LD[i, j] * x[i]
            j = parents[j]
    x = [x[i] / LD[i, i] for i in range(n)]
    for i in range(n):  # L x = D^-1 y
        j = parents[i]
        while j >= 0:
            x[i] = x[i] - LD[i, j] * x[j]
            j = parents[j]
    return np.stack(x)
