"""Mass matrix and gravity torque from composite bodies, with few operations, traced on scalars.

Composite i is all that joint i carries: its mass m, first moments h and second moments K in frame i. To accelerate
joint i alone takes the moment (-Kxz, -Kyz, Kxx + Kyy) and the force z x h (revolute); carried down the tree it
gives a row of the mass matrix. Gravity acts on the same h: tau_i = z . (h x V), V the upward acceleration.

Kxx + Kyy may be had from the trace, which no rotation changes (`by_trace`): cheaper where little else of K is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tauform.arrays import AnyArray
from tauform.codegen.minimal.bodies import HX, IA, KXX, KZZ, Bodies, M
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


@dataclass
class Composites:
    """Mass, first and second moments of what each joint carries, each in its own frame."""

    m: Triple
    h: Matrix
    K: Matrix
    trace: Triple | None


def composites(bodies: Bodies, q: AnyArray, by_trace: bool = False) -> Composites:
    """Sums of the bodies' moments, tip to base."""
    rows = bodies.parameters.tolist()
    m, h, K = ([row[M] for row in rows], [row[HX : HX + 3] for row in rows], [row[KXX : KZZ + 1] for row in rows])
    # Kept beside K: what nobody reads is dead code, and costs nothing.
    traces = [k[0] + k[2] + k[5] for k in K]
    for i in reversed(range(bodies.n)):
        parent = bodies.parents[i]
        if parent < 0:
            continue
        X, P = bodies.X[i].tolist(), lever(bodies, i, q)
        first, second = h[i], K[i]
        if bodies.turns(i):
            s, c = turn(bodies, i, q)
            # Two steps, about z by the joint and by the constant rotation: each has zeros that a product of both would
            # fill.
            first, second = turned(s, c, first), turned_symmetric(s, c, second)
        first, second = forth(X, first), moved_symmetric(X, second)
        # K + h P^T + P h^T + m P P^T = K + g P^T + P g^T  with  g = h + m P / 2
        # One vector for both mixed products, in place of three sums.
        g = [first[k] + m[i] * P[k] * 0.5 for k in range(3)]
        second = [second[k] + (P[a] * g[b] + P[b] * g[a]) for k, (a, b) in enumerate(UPPER)]
        m[parent] = m[parent] + m[i]
        h[parent] = plus(h[parent], [first[k] + m[i] * P[k] for k in range(3)])
        K[parent] = plus(K[parent], second)
        # tr(h P^T + P h^T + m P P^T) = 2 P . g; no rotation changes the trace.
        traces[parent] = traces[parent] + (traces[i] + 2.0 * dot(P, g))
    return Composites(m, h, K, traces if by_trace else None)


def mass_matrix(bodies: Bodies, q: AnyArray, carried: Composites) -> Matrix:
    """(n, n) mass matrix, rotor inertia included."""
    n = bodies.n
    # Zeros between branches are numbers, which programs store without computing them.
    D: Matrix = [[0.0] * n for _ in range(n)]
    for i in range(n):
        moment, force, scale = accelerating(bodies, i, carried)
        D[i][i] = bodies.felt(i, moment, force) * scale + bodies.parameters[i, IA]
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
            D[i][j] = D[j][i] = bodies.felt(j, moment, force) * scale
    return D


def accelerating(bodies: Bodies, i: int, carried: Composites) -> tuple[Triple, Triple, float]:
    """Moment and force that accelerate joint i alone, to be scaled by the last number."""
    h, K, along = carried.h[i], carried.K[i], bodies.shift(i)
    # A slide by one unit along z: force m z, moment h x z.
    shifting = [h[1], -h[0], 0.0], [0.0, 0.0, carried.m[i]]
    if not bodies.turns(i):
        return *shifting, along
    # Izz = Kxx + Kyy = tr K - Kzz.
    about_z = carried.trace[i] - K[5] if carried.trace else K[0] + K[2]
    moment, force = [-K[3], -K[4], about_z], [-h[1], h[0], 0.0]
    if along:
        # A screw turns and shifts at once: both parts add, the shift scaled by its lead.
        moment, force = (plus(a, [along * x for x in b]) for a, b in zip((moment, force), shifting, strict=True))
    return moment, force, 1.0


def gravity_torque(bodies: Bodies, q: AnyArray, carried: Composites) -> Triple:
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
        h = carried.h[i]
        torque.append(bodies.felt(i, cross(h, V), [carried.m[i] * x for x in V]))
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
