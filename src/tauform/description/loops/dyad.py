"""Dyads: planar loops of two unknown joints, solved in closed form on any scalar.

Both unknowns enter the gap linearly through (cos u, sin u) or a slide v. Eliminating one leaves either

    A cos u + B sin u = m    or    v^2 |d|^2 + 2 v c.d + |c|^2 = |K|^2,

whose two roots are the two ways to assemble the loop. The start posture chooses one for good.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import scalars
from tauform.portable.correct import sin_cos

# Axes that differ by less are parallel.
PARALLEL = 1e-12

Plane = tuple[Any, Any]
Gap = Callable[[Mapping[str, Any]], Plane]


class Turn(NamedTuple):
    """An angle by its sine and cosine, which need not lie on the circle."""

    sine: Any
    cosine: Any


NONE, COSINE, SINE = Turn(0.0, 0.0), Turn(0.0, 1.0), Turn(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Dyad:
    """Two unknown joints of a planar loop.

    Attributes:
        gap: (known and unknown coordinates, angles as numbers or turns) -> gap in the plane.
        first, second: the unknowns; where both are on one side, the second is farther out.
        turns: whether each turns (else it slides).
        same_side: whether both are on one path.
        start: coordinates of the two about which angles are unwrapped.
        sign: of the root, chosen by the start posture.
    """

    gap: Gap
    first: str
    second: str
    turns: tuple[bool, bool]
    same_side: bool
    start: tuple[float, float]
    sign: float = 1.0

    def solve(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Both unknowns."""
        # The unknowns enter separate terms, unless the first turns what the second moves.
        if not self.same_side or not self.turns[0]:
            return self._apart(known)
        return self._in_line(known)

    def _at(self, known: Mapping[str, Any], first: Any, second: Any) -> Plane:
        return self.gap({**known, self.first: first, self.second: second})

    def _apart(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """K + a(u) + b(v) = 0, each unknown in a term of its own; u turns."""
        u, v = (0, 1) if self.turns[0] else (1, 0)
        # A turn of (0, 0) takes the unknown's term out of the gap: what is left is K.
        none = [NONE if turning else 0.0 for turning in self.turns]

        def at(**changed: Any) -> Plane:
            both = [changed.get("u" if k == u else "v", none[k]) for k in (0, 1)]
            return self._at(known, *both)

        K = at()
        # The gap is linear in (cos u, sin u): two evaluations give its coefficients.
        ac, as_ = _minus(at(u=COSINE), K), _minus(at(u=SINE), K)
        if self.turns[v]:
            bc, bs = _minus(at(v=COSINE), K), _minus(at(v=SINE), K)
            square = _dot(bc, bc)
            # |K + a(u)|^2 = |b|^2 eliminates v.
            turn = self._root(2.0 * _dot(K, ac), 2.0 * _dot(K, as_), square - _dot(K, K) - _dot(ac, ac))
            w = _plus(K, turn, ac, as_)
            # b(v) = -(K + a(u)), projected on b's two directions.
            other = self._angle(v, Turn(-_dot(w, bs) / square, -_dot(w, bc) / square))
        else:
            n = _minus(at(v=1.0), K)
            # Across the slide nothing moves with v: one equation for u.
            across = (-n[1], n[0])
            turn = self._root(_dot(across, ac), _dot(across, as_), -_dot(across, K))
            other = -_dot(n, _plus(K, turn, ac, as_)) / _dot(n, n)
        found = {u: self._angle(u, turn), v: other}
        return {self.first: found[0], self.second: found[1]}

    def _in_line(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """K + R(u) h(v) = 0 with h on the link that u turns: |h| = |K| gives v, the direction u."""
        K = self._at(known, NONE, NONE if self.turns[1] else 0.0)
        if self.turns[1]:
            c = _minus(self._at(known, COSINE, NONE), K)
            dc, ds = (_minus(_minus(self._at(known, COSINE, x), K), c) for x in (COSINE, SINE))
            # |h(v)|^2 = |K|^2 eliminates u.
            turn = self._root(2.0 * _dot(c, dc), 2.0 * _dot(c, ds), _dot(K, K) - _dot(c, c) - _dot(dc, dc))
            position, second = turn, self._angle(1, turn)
        else:
            c = _minus(self._at(known, COSINE, 0.0), K)
            d = _minus(_minus(self._at(known, COSINE, 1.0), K), c)
            along, square = _dot(c, d), _dot(d, d)
            root = _sqrt(along * along - square * (_dot(c, c) - _dot(K, K)))
            # The root of v^2 |d|^2 + 2 v c.d + |c|^2 = |K|^2 that the sign chooses.
            position = second = (self.sign * root - along) / square
        h, turned = (_minus(self._at(known, x, position), K) for x in (COSINE, SINE))
        square = _dot(h, h)
        # R(u) h = -K: sine and cosine by projection on h and on h turned by a right angle.
        first = self._angle(0, Turn(-_dot(K, turned) / square, -_dot(K, h) / square))
        return {self.first: first, self.second: second}

    def _root(self, A: Any, B: Any, m: Any) -> Turn:
        """The turn with A cos u + B sin u = m; the nearest to it where there is none."""
        square = A * A + B * B
        root = self.sign * _sqrt(square - m * m)
        # Both on the circle: sin^2 + cos^2 = 1 follows from root^2 = A^2 + B^2 - m^2.
        return Turn((B * m + A * root) / square, (A * m - B * root) / square)

    def _angle(self, place: int, turn: Turn) -> Any:
        """The angle within half a turn of the start."""
        start = self.start[place]
        s, c = sin_cos(float(start))
        # atan2 of the turn relative to the start: the jump lies half a turn away from it.
        return scalars.arctan2(turn.sine * c - turn.cosine * s, turn.cosine * c + turn.sine * s) + start


def _sqrt(x: Any) -> Any:
    """sqrt, and 0 of numbers below zero: the loop stays open there, which its gap tells."""
    if isinstance(x, np.ndarray | np.generic | float | complex):
        # Symbols are not asked: a program computes NaN where the loop is open.
        x = np.where(np.real(x) > 0, x, 0.0)
    return scalars.sqrt(x)


def _dot(a: Plane, b: Plane) -> Any:
    return a[0] * b[0] + a[1] * b[1]


def _minus(a: Plane, b: Plane) -> Plane:
    return a[0] - b[0], a[1] - b[1]


def _plus(K: Plane, turn: Turn, c: Plane, s: Plane) -> Plane:
    x, y = (K[i] + turn.cosine * c[i] + turn.sine * s[i] for i in (0, 1))
    return x, y


def plane_of(axes: list[tuple[Array, bool]]) -> tuple[Array, Array] | None:
    """Two directions that span the plane in which joints with these axes (turning or sliding) move, if there is one."""
    normal = next((axis for axis, turning in axes if turning), None)
    if normal is None:
        return None
    for axis, turning in axes:
        cross = np.array([normal[1] * axis[2] - normal[2] * axis[1], normal[2] * axis[0] - normal[0] * axis[2],
                          normal[0] * axis[1] - normal[1] * axis[0]])  # fmt: skip
        # Axes of turns are parallel to the normal, directions of slides across it.
        off = np.abs(cross).max() if turning else abs(float((normal * axis).sum()))
        if off > PARALLEL:
            return None
    # The axis that the normal has least of: the projection below is long.
    least = int(np.argmin(np.abs(normal)))
    e = np.eye(3)[least] - normal * normal[least]
    e = e / np.sqrt((e * e).sum())
    f = np.array([normal[1] * e[2] - normal[2] * e[1], normal[2] * e[0] - normal[0] * e[2],
                  normal[0] * e[1] - normal[1] * e[0]])  # fmt: skip
    return e, f
