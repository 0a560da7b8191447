"""Small matrices of any scalar, as lists: products leave out the zeros and ones that planar loops are full of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tauform.arrays import Array
from tauform.description.drives.dual import Dual


def moved(R: list[list[Any]], p: list[Any], T: Array) -> tuple[list[list[Any]], list[Any]]:
    """The placement times a constant one."""
    turn, offset = T[:3, :3].tolist(), T[:3, 3].tolist()
    origin = [
        plus(a, sum_of(times(x, y) for x, y in zip(row, offset, strict=True))) for a, row in zip(p, R, strict=True)
    ]
    return [[sum_of(times(row[k], turn[k][j]) for k in range(3)) for j in range(3)] for row in R], origin


def times(a: Any, b: Any) -> Any:
    """a b, without the work of zeros and ones."""
    for one, other in ((a, b), (b, a)):
        # Only plain floats are known to be constant; symbols and arrays are multiplied.
        if isinstance(one, float) and one in (0.0, 1.0, -1.0):
            return 0.0 if one == 0 else other if one == 1 else -other
    return a * b


def plus(a: Any, b: Any) -> Any:
    """a + b, without the work of zeros."""
    if isinstance(a, float) and a == 0:
        return b
    return a if isinstance(b, float) and b == 0 else b + a if isinstance(b, Dual) else a + b


def sum_of(parts: Iterable[Any]) -> Any:
    """Sum that leaves out zeros."""
    total: Any = 0.0
    for part in parts:
        total = plus(total, part)
    return total


def factorized(A: list[list[Any]]) -> tuple[list[Any], list[list[Any]]]:
    """D and L of a positive definite matrix, A = L D L^T."""
    n = len(A)
    D: list[Any] = []
    L: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        # D_i = A_ii - sum_k L_ik^2 D_k.
        D.append(plus(A[i][i], -sum_of(times(times(L[i][k], L[i][k]), D[k]) for k in range(i))))
        for j in range(i + 1, n):
            # L_ji = (A_ji - sum_k L_jk L_ik D_k) / D_i.
            L[j][i] = plus(A[j][i], -sum_of(times(times(L[j][k], L[i][k]), D[k]) for k in range(i))) / D[i]
    return D, L


def solved(factors: tuple[list[Any], list[list[Any]]], right: list[Any]) -> list[Any]:
    """x with L D L^T x = right."""
    D, L = factors
    n = len(D)
    y: list[Any] = []
    # Forward through L, then D, then back through L^T.
    for i in range(n):
        y.append(plus(right[i], -sum_of(times(L[i][k], y[k]) for k in range(i))))
    x = [b / d for b, d in zip(y, D, strict=True)]
    for i in reversed(range(n)):
        x[i] = plus(x[i], -sum_of(times(L[k][i], x[k]) for k in range(i + 1, n)))
    return x
