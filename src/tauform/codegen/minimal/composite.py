"""Mass matrix and gravity torque from composite bodies, with few operations, traced on scalars.

Composite i is all that joint i carries: its mass m, first moments h and second moments K in frame i. To accelerate
joint i alone takes the moment (-Kxz, -Kyz, Kxx + Kyy) and the force z x h (revolute); carried down the tree it
gives a row of the mass matrix. Gravity acts on the same h: tau_i = z . (h x V), V the upward acceleration.

Kxx + Kyy may be had from the trace, which no rotation changes (`by_trace`): cheaper where little else of K is needed.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from tauform.arrays import AnyArray
from tauform.codegen.minimal.bodies import HX, IA, KXX, KZZ, Bodies, M
from tauform.codegen.minimal.steps import Steps, content
from tauform.codegen.minimal.vectors import (
    UPPER,
    Matrix,
    Triple,
    back,
    cos,
    cross,
    dot,
    forth,
    moved_symmetric,
    plus,
    sin,
    turned,
    turned_symmetric,
    unturned,
)


class Moments(NamedTuple):
    """Mass, first and second moments of some bodies, and the trace of the second."""

    m: Any
    h: Triple
    K: Triple
    trace: Any

    @classmethod
    def of(cls, row: Triple) -> Moments:
        """Moments of one body, by its parameters."""
        K = row[KXX : KZZ + 1]
        # Kept beside K: what nobody reads is dead code, and costs nothing.
        return cls(row[M], row[HX : HX + 3], K, K[0] + K[2] + K[5])


def composites(bodies: Bodies, q: AnyArray) -> list[Moments]:
    """Moments of what each joint carries, each in its own frame; summed up from tip to base."""
    sums = [Moments.of(row) for row in bodies.parameters.tolist()]
    for i in reversed(range(bodies.n)):
        parent = bodies.parents[i]
        if parent >= 0:
            sums[parent] = _handed_down(bodies, i, q, sums[i], sums[parent])
    return sums


def _handed_down(bodies: Bodies, i: int, q: AnyArray, own: Moments, parent: Moments) -> Moments:
    """Moments of the parent of body i with what joint i carries added."""
    X, P = bodies.X[i].tolist(), lever(bodies, i, q)
    first, second = own.h, own.K
    if bodies.turns(i):
        s, c = turn(bodies, i, q)
        # Two steps, about z by the joint and by the constant rotation: each has zeros that a product of both would
        # fill.
        first, second = turned(s, c, first), turned_symmetric(s, c, second)
    first, second = forth(X, first), moved_symmetric(X, second)
    # K + h P^T + P h^T + m P P^T = K + g P^T + P g^T  with  g = h + m P / 2
    # One vector for both mixed products, in place of three sums.
    g = [first[k] + own.m * P[k] * 0.5 for k in range(3)]
    second = [second[k] + (P[a] * g[b] + P[b] * g[a]) for k, (a, b) in enumerate(UPPER)]
    m, h = parent.m + own.m, plus(parent.h, [first[k] + own.m * P[k] for k in range(3)])
    K = plus(parent.K, second)
    # tr(h P^T + P h^T + m P P^T) = 2 P . g; no rotation changes the trace.
    return Moments(m, h, K, parent.trace + (own.trace + 2.0 * dot(P, g)))


def mass_matrix(bodies: Bodies, q: AnyArray, carried: list[Moments], by_trace: bool = False) -> Matrix:
    """(n, n) mass matrix, rotor inertia included."""
    return _filled([_row(bodies, q, i, own, by_trace) for i, own in enumerate(carried)])


def counted_mass_matrix(bodies: Bodies, q: AnyArray, by_trace: bool, steps: Steps) -> Matrix:
    """The same in steps that candidates of a search share; only its operations are counted.

    Regrouping moves parameters towards the base: tip first, rows and composites up to the first change are shared.
    """
    parameters, geometry = bodies.parameters.tolist(), (bodies.X.tobytes(), bodies.P.tobytes(), bodies.unit)
    # All that rows on the way to the base read beside moments.
    steps.take((geometry, content(bodies.offsets.tolist())), lambda: None)
    rows: list[list[tuple[int, Any]]] = [[] for _ in parameters]
    sums: dict[int, Moments] = {}
    for i in reversed(range(bodies.n)):
        parent = bodies.parents[i]
        for k in (i, parent):
            if k >= 0 and k not in sums:
                sums[k] = steps.take(content(parameters[k]), partial(Moments.of, parameters[k]))
        rows[i] = steps.take((), partial(_row, bodies, q, i, sums[i], by_trace))
        if parent >= 0:
            sums[parent] = steps.take((), partial(_handed_down, bodies, i, q, sums[i], sums[parent]))
    return _filled(rows)


def _filled(rows: list[list[tuple[int, Any]]]) -> Matrix:
    """The symmetric matrix of some entries of its rows."""
    # Zeros between branches are numbers, which programs store without computing them.
    D: Matrix = [[0.0] * len(rows) for _ in rows]
    for i, row in enumerate(rows):
        for j, entry in row:
            D[i][j] = D[j][i] = entry
    return D


def _row(bodies: Bodies, q: AnyArray, i: int, carried: Moments, by_trace: bool) -> list[tuple[int, Any]]:
    """Entries of row i at joint i and at those between it and the base."""
    moment, force, scale = accelerating(bodies, i, carried, by_trace)
    row = [(i, bodies.felt(i, moment, force) * scale + bodies.parameters[i, IA])]
    # Down the tree, the wrench that accelerates joint i is felt by every joint on the way to the base.
    j = i
    while bodies.parents[j] >= 0:
        if bodies.turns(j):
            s, c = turn(bodies, j, q)
            moment, force = turned(s, c, moment), turned(s, c, force)
        X = bodies.X[j].tolist()
        force = forth(X, force)
        moment = plus(forth(X, moment), cross(lever(bodies, j, q), force))
        j = bodies.parents[j]
        row.append((j, bodies.felt(j, moment, force) * scale))
    return row


def accelerating(bodies: Bodies, i: int, carried: Moments, by_trace: bool = False) -> tuple[Triple, Triple, float]:
    """Moment and force that accelerate joint i alone, to be scaled by the last number."""
    h, K, along = carried.h, carried.K, bodies.shift(i)
    # A slide by one unit along z: force m z, moment h x z.
    shifting = [h[1], -h[0], 0.0], [0.0, 0.0, carried.m]
    if not bodies.turns(i):
        return *shifting, along
    # Izz = Kxx + Kyy = tr K - Kzz.
    about_z = carried.trace - K[5] if by_trace else K[0] + K[2]
    moment, force = [-K[3], -K[4], about_z], [-h[1], h[0], 0.0]
    if along:
        # A screw turns and shifts at once: both parts add, the shift scaled by its lead.
        moment, force = (plus(a, [along * x for x in b]) for a, b in zip((moment, force), shifting, strict=True))
    return moment, force, 1.0


def gravity_torque(bodies: Bodies, q: AnyArray, carried: list[Moments]) -> Triple:
    """(n,) torque that holds the composites against gravity."""
    upward: Matrix = []
    torque = []
    for i, parent in enumerate(bodies.parents):
        # Base to tip in link frames: gravity turned once per body serves every joint.
        # Upward acceleration in place of gravity: the base accelerates by -g, nothing else is needed.
        V = back(bodies.X[i].tolist(), upward[parent] if parent >= 0 else [-g for g in bodies.gravity.tolist()])
        if bodies.turns(i):
            V = unturned(*turn(bodies, i, q), V)
        upward.append(V)
        torque.append(bodies.felt(i, cross(carried[i].h, V), [carried[i].m * x for x in V]))
    return torque


def turn(bodies: Bodies, i: int, q: AnyArray) -> tuple[Any, Any]:
    """Sine and cosine of joint i's angle."""
    angle = q[i] + bodies.offsets[i]
    return sin(angle), cos(angle)


def lever(bodies: Bodies, i: int, q: AnyArray) -> Triple:
    """Origin of body i's frame in its parent's, at q."""
    P = bodies.P[i].tolist()
    if not bodies.shift(i):
        return P
    z = bodies.X[i][:, 2].tolist()
    # The slide's axis in the parent, z of X, times the way it has gone.
    return [P[k] + z[k] * (q[i] * bodies.shift(i)) for k in range(3)]
