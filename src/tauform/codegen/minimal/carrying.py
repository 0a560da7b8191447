"""What joints carry while they move, summed up from tip to base: moments with velocities, and wrenches."""

from __future__ import annotations

from dataclasses import dataclass

from tauform.arrays import AnyArray
from tauform.codegen.minimal.bodies import HX, KXX, KZZ, Bodies
from tauform.codegen.minimal.composite import Moments, lever, turn
from tauform.codegen.minimal.newton_euler import BodyMotion, own_wrench
from tauform.codegen.minimal.vectors import Matrix, Triple, cross, forth, plus, turned, turned_matrix

Wrench = tuple[Triple, Triple]  # moment, force


@dataclass
class Moving:
    """What joints carry, each in its own frame.

    Attributes:
        G: sum m v r^T, v counted from the velocity of the frame's origin.
        p: sum m v.
        wrench: what moves it.
    """

    G: list[Matrix]
    p: Matrix
    wrench: list[Wrench]


def carried(bodies: Bodies, states: list[BodyMotion], q: AnyArray, qd: AnyArray, still: list[Moments]) -> Moving:
    """Sums over what each joint carries, tip to base."""
    rows = bodies.parameters.tolist()
    # Own motion about the frame's origin: v = w x r, so G = [w]x K and p = w x h.
    G = [_mixed(state.w, row[KXX : KZZ + 1]) for row, state in zip(rows, states, strict=True)]
    p = [cross(state.w, row[HX : HX + 3]) for row, state in zip(rows, states, strict=True)]
    forces, moments = zip(*(own_wrench(row, state) for row, state in zip(rows, states, strict=True)), strict=True)
    wrenches = list(zip(moments, forces, strict=True))
    # From the tip: a composite is complete before it is handed down.
    for i in reversed(range(bodies.n)):
        parent = bodies.parents[i]
        if parent < 0:
            continue
        moment, force = to_parent(bodies, i, q, wrenches[i])
        wrenches[parent] = plus(wrenches[parent][0], moment), plus(wrenches[parent][1], force)
        # v = v' + rate and r = r' + P in the frame of the parent: G = G' + p' P^T + rate (h' + m P)^T
        P, rate = lever(bodies, i, q), origin_rate(bodies, i, states, q, qd)
        first = plus(turned_into_parent(bodies, i, q, still[i].h), [still[i].m * x for x in P])
        momentum = turned_into_parent(bodies, i, q, p[i])
        moved = _matrix_into_parent(bodies, i, q, G[i])
        G[parent] = [
            [G[parent][a][b] + (moved[a][b] + (P[b] * momentum[a] + rate[a] * first[b])) for b in range(3)]
            for a in range(3)
        ]
        p[parent] = plus(p[parent], plus(momentum, [still[i].m * x for x in rate]))
    return Moving(G, p, wrenches)


def _mixed(w: Triple, K: Triple) -> Matrix:
    """[w]x K of a symmetric matrix (xx, xy, yy, xz, yz, zz)."""
    xx, xy, yy, xz, yz, zz = K
    # Columns of [w]x K are w x (columns of K); returned by rows.
    columns = [cross(w, column) for column in ([xx, xy, xz], [xy, yy, yz], [xz, yz, zz])]
    return [[columns[b][a] for b in range(3)] for a in range(3)]


def origin_rate(bodies: Bodies, i: int, states: list[BodyMotion], q: AnyArray, qd: AnyArray) -> Triple:
    """Velocity of the origin of frame i from that of its parent, in the parent's axes."""
    rate = cross(states[bodies.parents[i]].w, lever(bodies, i, q))
    if along := bodies.shift(i):
        # A slide also moves the origin along its axis, z of X in the parent's axes.
        rate = plus(rate, [x * (qd[i] * along) for x in bodies.X[i][:, 2].tolist()])
    return rate


def turned_into_parent(bodies: Bodies, i: int, q: AnyArray, v: Triple) -> Triple:
    """A vector of body i in the axes of its parent."""
    return forth(bodies.X[i].tolist(), turned(*turn(bodies, i, q), v) if bodies.turns(i) else v)


def _matrix_into_parent(bodies: Bodies, i: int, q: AnyArray, G: Matrix) -> Matrix:
    """R G R^T."""
    X = bodies.X[i].tolist()
    if bodies.turns(i):
        # First about the joint's own z, then by the constant rotation: both keep their zeros.
        G = turned_matrix(*turn(bodies, i, q), G)
    half = [forth(X, row) for row in G]  # G X^T
    columns = [forth(X, [row[b] for row in half]) for b in range(3)]
    return [[columns[b][a] for b in range(3)] for a in range(3)]


def to_parent(bodies: Bodies, i: int, q: AnyArray, wrench: Wrench) -> Wrench:
    """A wrench on body i in the frame of its parent."""
    moment, force = (turned_into_parent(bodies, i, q, v) for v in wrench)
    return plus(moment, cross(lever(bodies, i, q), force)), force
