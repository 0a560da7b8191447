"""Vectors and matrices as plain lists of scalars: what tracing runs on. Exact zeros cost nothing.

X is a constant rotation as a list of rows; (s, c) are the sine and cosine of a turn about z.
"""

from __future__ import annotations

from typing import Any

from tauform.portable.correct import sin_cos

Triple = list[Any]
Matrix = list[list[Any]]
UPPER = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))  # entries of a symmetric matrix, in their order


def sin(x: Any) -> Any:
    """Sine of a scalar, or of the number that a fixed joint's position is."""
    return sin_cos(x)[0] if isinstance(x, float) else x.sin()


def cos(x: Any) -> Any:
    """Cosine likewise."""
    return sin_cos(x)[1] if isinstance(x, float) else x.cos()


def dot(a: Triple, b: Triple) -> Any:
    """a . b; entries of a that are the number zero are left out."""
    total: Any = None
    for x, y in zip(a, b, strict=True):
        if type(x) is not float:
            term = x * y
        elif x:
            term = y * x  # a scalar first: a number would only hand the product over to it
        else:
            continue
        total = term if total is None else total + term
    return 0.0 if total is None else total


def plus(a: Triple, b: Triple) -> Triple:
    """a + b."""
    return [x + y for x, y in zip(a, b, strict=True)]


def cross(a: Triple, b: Triple) -> Triple:
    """a x b; entries of a that are the number zero are left out."""
    return [
        dot([a[1], -a[2]], [b[2], b[1]]),
        dot([a[2], -a[0]], [b[0], b[2]]),
        dot([a[0], -a[1]], [b[1], b[0]]),
    ]


def times(rows: Matrix, v: Triple) -> Triple:
    """Matrix times constant vector."""
    return [dot(v, row) for row in rows]


def column(X: Matrix, k: int) -> Triple:
    """Column k of a matrix."""
    return [row[k] for row in X]


def back(X: Matrix, v: Triple) -> Triple:
    """X^T v."""
    return [dot(column(X, k), v) for k in range(3)]


def forth(X: Matrix, v: Triple) -> Triple:
    """X v."""
    return [dot(row, v) for row in X]


def unturned(s: Any, c: Any, v: Triple) -> Triple:
    """Rz^T v."""
    return [c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]]


def turned(s: Any, c: Any, v: Triple) -> Triple:
    """Rz v."""
    return [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]]


def turned_symmetric(s: Any, c: Any, K: Triple) -> Triple:
    """Rz K Rz^T of a symmetric matrix (xx, xy, yy, xz, yz, zz).

    With a = c (xx - yy) - 2 s xy:  xx' = yy + c a,  yy' = xx - c a,  xy' = xy + s a.
    """
    xx, xy, yy, xz, yz, zz = K
    # One a for three entries: eight products in all.
    a = c * (xx - yy) - s * (xy + xy)
    return [yy + c * a, xy + s * a, xx - c * a, c * xz - s * yz, s * xz + c * yz, zz]


def turned_matrix(s: Any, c: Any, G: Matrix) -> Matrix:
    """Rz G Rz^T of any matrix; with a = c (xx - yy) - s (xy + yx), its symmetric part as in `turned_symmetric`."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = G
    a = c * (xx - yy) - s * (xy + yx)
    ca, sa = c * a, s * a
    return [
        [yy + ca, xy + sa, c * xz - s * yz],
        [yx + sa, xx - ca, s * xz + c * yz],
        [c * zx - s * zy, s * zx + c * zy, zz],
    ]


def moved_symmetric(X: Matrix, K: Triple) -> Triple:
    """X K X^T of a symmetric matrix (xx, xy, yy, xz, yz, zz)."""
    xx, xy, yy, xz, yz, zz = K
    full = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    half = [[dot(X[a], column(full, b)) for b in range(3)] for a in range(3)]
    return [dot(X[b], half[a]) for a, b in UPPER]
