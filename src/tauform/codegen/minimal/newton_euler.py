"""Newton-Euler with few operations, traced on scalars.

Per body: angular velocity w and the acceleration matrix U = [wd]x + [w]x[w]x, with which a point r of the body
accelerates by V + U r. With first moments h and second moments K of the body

    F = m V + U h,        N = vee(U K - (U K)^T) + h x V .

Points on a joint's axis belong to both bodies, so the third column of U is the parent's, seen in the new frame:
U z = R^T U_parent R z. It replaces the propagation of wd, whose entries follow from
U_13 = w1 w3 + wd2 and U_23 = w2 w3 - wd1.

For a joint parallel to its parent's, angular quantities may be turned at once by the sum of the two angles
(`summed`): the sine and cosine of the sum cost four products, but save when little of the result is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.minimal.bodies import HX, IA, KXX, KZZ, Bodies, M
from tauform.codegen.minimal.steps import Steps, content
from tauform.codegen.minimal.vectors import (
    Matrix,
    Triple,
    back,
    column,
    cos,
    cross,
    dot,
    forth,
    plus,
    sin,
    times,
    turned,
    unturned,
)

Wrench = tuple[Triple, Triple]  # force, moment


@dataclass
class BodyMotion:
    """Motion of one body, in its own frame."""

    w: Triple
    wd: Triple  # entries that nobody asks for are dead code
    U: Matrix
    V: Triple
    sine: Any = None
    cosine: Any = None
    w_before: Triple | None = None  # in the frame before the joint's rotation
    column_before: Triple | None = None


def trace(
    bodies: Bodies,
    q: AnyArray,
    qd: AnyArray,
    qdd: AnyArray,
    summed: frozenset[int] = frozenset(),
    quiet: frozenset[int] = frozenset(),
    wrenches: Sequence[Triple] = (),
    steps: Steps | None = None,
) -> list[Any]:
    """Torques of all joints, without friction.

    Args:
        bodies: geometry and parameters, after any moves.
        q, qd, qdd: (n,) scalars, or plain zeros where a torque part is wanted.
        summed: joints parallel to their parent's that turn by the sum of both angles.
        quiet: bodies that move as if all velocities were zero; what nobody needs of their motion is dead code.
        wrenches: force and moment from outside at each of `bodies.frames`, in its axes.
        steps: of other candidates with the same q, qd, qdd and quiet bodies.
    """
    take = steps.take if steps else _made
    states = motion(bodies, q, qd, qdd, summed, take)
    if quiet:
        still = motion(bodies, q, np.zeros(bodies.n), qdd, summed, take)
        # A quiet body takes the motion without velocities; loud ones keep theirs.
        states = [still[i] if i in quiet else state for i, state in enumerate(states)]
    rows = bodies.parameters.tolist()

    def own(i: int) -> Wrench:
        # By contents of the parameters; the motion is decided by the steps before.
        return take(content(rows[i]), partial(own_wrench, rows[i], states[i]))

    # Regrouping moves parameters towards the base, so that candidates share most of what is traced tip first.
    tip_first = steps is not None and steps.only_counted and not bodies.carriers
    needed = [] if tip_first else [own(i) for i in range(bodies.n)]
    outside = take((bodies.frames.tobytes(), bodies.unit), lambda: list(outside_wrenches(bodies, wrenches)))
    needed = take((), lambda: _without(needed, outside))
    backward = _Backward(bodies, states, q, qdd, summed)
    return backward.torques(dict(enumerate(needed)), own, take)


def outside_wrenches(bodies: Bodies, wrenches: Sequence[Triple]) -> Iterator[tuple[int, Triple, Triple]]:
    """Body, force and moment of each external wrench in the body's frame; where the base carries it, it moves nothing.

    Torques keep their unit when lengths change theirs, so forces grow with the unit of length.
    """
    for carrier, placement, wrench in zip(bodies.carriers, bodies.frames.tolist(), wrenches, strict=False):
        if carrier >= 0:
            R, p = [row[:3] for row in placement], [row[3] for row in placement]
            # Torque stays in N m while lengths count in units: forces are in torque per unit.
            force = [f * bodies.unit for f in forth(R, wrench[:3])]
            yield carrier, force, plus(forth(R, wrench[3:]), cross(p, force))


def motion(
    bodies: Bodies,
    q: AnyArray,
    qd: AnyArray,
    qdd: AnyArray,
    summed: frozenset[int],
    take: Callable[..., Any] | None = None,
) -> list[BodyMotion]:
    """Motion of each body, base to tip; `take` of `Steps` repeats what candidates share."""
    take = take or _made
    states: list[BodyMotion] = []
    base, gravity = _fixed_base(bodies), bodies.gravity.tobytes()
    offsets = content(bodies.offsets.tolist())
    for i, parent in enumerate(bodies.parents):
        before = states[parent] if parent >= 0 else base
        # All that the step reads beside its parent: equal reads give equal motion.
        reads = (bodies.X[i].tobytes(), bodies.P[i].tobytes(), offsets[i], bodies.shift(i), i in summed, gravity)
        states.append(take(reads, partial(moved, bodies, i, before, q[i], qd[i], qdd[i], i in summed)))
    return states


def _made(_: object, make: Callable[[], Any]) -> Any:
    """A step that shares nothing."""
    return make()


def moved(bodies: Bodies, i: int, parent: BodyMotion, q: Any, qd: Any, qdd: Any, summed: bool) -> BodyMotion:
    """Motion of body i, by its parent's and its joint's."""
    along = bodies.shift(i)
    shifts = [x * along for x in (q, qd, qdd)] if along else None
    if bodies.turns(i):
        state = _turned(bodies, i, parent, q + bodies.offsets[i], qd, qdd, summed)
    else:
        state = _carried(bodies, i, parent)
    return _shifted(state, *shifts) if shifts else state


def _fixed_base(bodies: Bodies) -> BodyMotion:
    zero = [0.0, 0.0, 0.0]
    # Base accelerates upwards by -g: weight needs no term of its own.
    return BodyMotion(zero, zero, [zero, zero, zero], [-g for g in bodies.gravity.tolist()])


def _turned(bodies: Bodies, i: int, parent: BodyMotion, q: Any, qd: Any, qdd: Any, summed: bool) -> BodyMotion:
    X, P = bodies.X[i].tolist(), bodies.P[i].tolist()
    # The joint's axis in the parent's frame.
    z = column(X, 2)
    s, c = sin(q), cos(q)
    w_before = back(X, parent.w)
    column_before = back(X, times(parent.U, z))
    S, C = s, c
    # Both joints turn about the same direction, so that the vector before the first turn is turned once by S, C.
    if summed:
        assert parent.w_before is not None
        assert parent.column_before is not None
        S, C = parent.sine * c + parent.cosine * s, parent.cosine * c - parent.sine * s
        # Components across the axis from before the parent's turn; along it the parent's own rate is in already.
        w_before = [*parent.w_before[:2], w_before[2]]
        column_before = [*parent.column_before[:2], column_before[2]]
    w = unturned(S, C, w_before)
    w[2] = w[2] + qd
    U13, U23, U33 = unturned(S, C, column_before)
    p12, p13, p23 = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    # Two entries of wd come from U, so that only the third is propagated.
    wd = [p23 - U23, U13 - p13, dot(z, parent.wd) + qdd]
    w2_squared, w3_squared = w[1] * w[1], w[2] * w[2]
    U = [
        [-(w2_squared + w3_squared), p12 - wd[2], U13],
        # U22 = -(w1^2 + w3^2) = U33 + w2^2 - w3^2, which saves the square of w1.
        [p12 + wd[2], U33 - (w3_squared - w2_squared), U23],
        [p13 - wd[1], p23 + wd[0], U33],
    ]
    # Accelerations of the origin are always turned by the joint's own angle: P lies in the parent's frame.
    V = unturned(s, c, back(X, plus(parent.V, times(parent.U, P))))
    return BodyMotion(w, wd, U, V, S, C, w_before, column_before)


def _carried(bodies: Bodies, i: int, parent: BodyMotion) -> BodyMotion:
    """Motion of the joint's frame, which the parent carries along."""
    X = bodies.X[i].tolist()
    w, wd = back(X, parent.w), back(X, parent.wd)
    # X^T U X, by columns; with quarter turns this only swaps entries and signs.
    U_columns = [back(X, times(parent.U, column(X, k))) for k in range(3)]
    U = [[U_columns[k][row] for k in range(3)] for row in range(3)]
    return BodyMotion(w, wd, U, back(X, plus(parent.V, times(parent.U, bodies.P[i].tolist()))))


def _shifted(state: BodyMotion, d: Any, rate: Any, acceleration: Any) -> BodyMotion:
    """The same at a distance d along z: V + U z d + 2 w x z rate + z acceleration."""
    w, U, twice = state.w, state.U, 2.0 * rate
    V = plus(state.V, [U[k][2] * d for k in range(3)])
    return replace(state, V=[V[0] + w[1] * twice, V[1] - w[0] * twice, V[2] + acceleration])


def own_wrench(p: Triple, state: BodyMotion) -> Wrench:
    """Force F and moment N that the body's motion needs, about its frame origin; most parameters are zero."""
    U, V, h, mass = state.U, state.V, p[HX : HX + 3], p[M : M + 1]
    F = [dot(mass, V[k : k + 1]) + dot(h, U[k]) for k in range(3)]
    kxx, kxy, kyy, kxz, kyz, kzz = p[KXX : KZZ + 1]
    N = [
        dot([kxy, -kxz, kyy, -kzz, kyz], [U[2][0], U[1][0], U[2][1], U[1][2], U[2][2] - U[1][1]]),
        dot([kxz, kyz, -kxy, kzz, -kxx], [U[0][0] - U[2][2], U[0][1], U[2][1], U[0][2], U[2][0]]),
        dot([kxx, -kyy, kxy, kxz, -kyz], [U[1][0], U[0][1], U[1][1] - U[0][0], U[1][2], U[0][2]]),
    ]
    return F, plus(N, cross(h, V))


def _without(needed: list[Wrench], outside: list[tuple[int, Triple, Triple]]) -> list[Wrench]:
    """What joints have to provide: not what comes from outside."""
    rest = needed.copy()
    for i, force, moment in outside:
        own_force, own_moment = rest[i]
        force = [a - b for a, b in zip(own_force, force, strict=True)]
        rest[i] = force, [a - b for a, b in zip(own_moment, moment, strict=True)]
    return rest


@dataclass
class _Backward:
    """The sweep from tip to base that hands wrenches down to the parents."""

    bodies: Bodies
    states: list[BodyMotion]
    q: AnyArray
    qdd: AnyArray
    summed: frozenset[int]

    def torques(self, needed: dict[int, Wrench], own: Callable[[int], Wrench], take: Callable[..., Any]) -> list[Any]:
        """Torques of all joints.

        Args:
            needed: force and moment that each body needs.
            own: makes those that are not there yet.
        """
        bodies = self.bodies
        before: list[Triple] = [[0.0, 0.0] for _ in self.states]  # moments in the frame before the joint's rotation
        torques: list[Any] = [None] * bodies.n
        for i in reversed(range(bodies.n)):
            parent = bodies.parents[i]
            for k in (i, parent):
                if k >= 0 and k not in needed:
                    needed[k] = own(k)
            # Geometry and rotors have been read by the steps of the body's motion and of its own wrench.
            torques[i] = take((), partial(self._felt, i, needed[i]))
            if parent >= 0:
                hand = partial(self._handed_down, i, needed[i], before[i], needed[parent], before[parent])
                needed[parent], before[parent] = take((), hand)
        return torques

    def _felt(self, i: int, wrench: Wrench) -> Any:
        force, moment = wrench
        # A rotor resists its own joint's acceleration alone.
        return self.bodies.felt(i, moment, force) + self.bodies.parameters[i, IA] * self.qdd[i]

    def _handed_down(
        self, i: int, wrench: Wrench, before: Triple, at_parent: Wrench, before_parent: Triple
    ) -> tuple[Wrench, Triple]:
        """Wrench on the parent of body i, and its moments before its own turn, with what body i needs added."""
        bodies, q, state = self.bodies, self.q, self.states[i]
        (f, m), (force, moment) = wrench, at_parent
        X, P, along = bodies.X[i].tolist(), bodies.P[i].tolist(), bodies.shift(i)
        if bodies.turns(i):
            s, c = sin(q[i] + bodies.offsets[i]), cos(q[i] + bodies.offsets[i])
            f = turned(s, c, f)
            # With `summed` the angle of the whole pair: moments skip the frame between.
            m = turned(state.sine, state.cosine, m)
            m = [m[0] + before[0], m[1] + before[1], m[2]]
        if along:
            P = [P[k] + X[k][2] * (q[i] * along) for k in range(3)]
        f = forth(X, f)
        force = plus(force, f)
        lever = cross(P, f)
        if i in self.summed:
            # In the frame before the parent's turn: added there once the parent's own moments are turned.
            before_parent = [before_parent[0] + m[0], before_parent[1] + m[1]]
            return (force, [moment[0] + lever[0], moment[1] + lever[1], moment[2] + (m[2] + lever[2])]), before_parent
        return (force, plus(moment, plus(forth(X, m), lever))), before_parent
