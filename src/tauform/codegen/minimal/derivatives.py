"""Derivatives of inverse dynamics from composite bodies, with few operations, traced on scalars.

A particle r of a body that joint j carries moves with q_j by sigma_j r = s_j x (r - o_j) + c_j, s_j and c_j along the
joint's axis. Partial derivatives and rates commute, so that its acceleration changes by

    d a/d q_j = d^2/dt^2 (sigma_j r),    d a/d qd_j = 2 d/dt (sigma_j r),    d a/d qdd_j = sigma_j r .

tau_k is the sum of m (sigma_k r) . a over what joint k carries. With its first moments h, second moments K and their
mixed moments with velocities, G = sum m v r^T and p = sum m v, joint k and each joint j between it and the base have

    M(j, k)       = S_j . U_k                        U_k: wrench of sigma_k r
    dtau_j/dqd_k  = S_j . Y_k                        Y_k: twice the wrench of d/dt (sigma_k r)
    dtau_j/dq_k   = S_j . Z_k                        Z_k: wrench of d^2/dt^2 (sigma_k r), and that of k turned along
    dtau_k/dqd_j  = 2 (Sdot_j . U_k + s_j . t_k)     t_k = sum m v x (sigma_k r)
    dtau_k/dq_j   = Sddot_j . U_k + 2 sdot_j . t_k

All of it is carried towards the base in the bodies' own frames. No torque depends on a uniform velocity, so velocities
are counted from that of the frame's origin: the axis then turns with sdot = w x s alone, and sddot = U s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.minimal.bodies import IA, Bodies
from tauform.codegen.minimal.carrying import Moving, Wrench, carried, origin_rate, to_parent, turned_into_parent
from tauform.codegen.minimal.composite import Moments, accelerating, composites
from tauform.codegen.minimal.newton_euler import BodyMotion, motion
from tauform.codegen.minimal.vectors import Triple, cross, dot, plus

ZERO: Triple = [0.0, 0.0, 0.0]


def inverse_derivatives(
    bodies: Bodies, q: AnyArray, qd: AnyArray, qdd: AnyArray, summed: frozenset[int] = frozenset()
) -> AnyArray:
    """(n, n, 3): dtau/dq, dtau/dqd and dtau/dqdd of links and rotors.

    Args:
        bodies: geometry and parameters, after any moves.
        q, qd, qdd: (n,) scalars.
        summed: joints parallel to their parent's that turn by the sum of both angles.
    """
    states = motion(bodies, q, qd, qdd, summed)
    still = composites(bodies, q)
    moving = carried(bodies, states, q, qd, still)
    D = np.zeros((bodies.n, bodies.n, 3), dtype=object)
    axes = [_Axis.of(bodies, i, state) for i, state in enumerate(states)]
    for k in range(bodies.n):
        _Columns(bodies, states, axes, q, qd, D).fill(k, still, moving)
        # A rotor adds to its own acceleration only.
        D[k, k, 2] = D[k, k, 2] + bodies.parameters[k, IA]
    return D


@dataclass(frozen=True)
class _Axis:
    """A joint's axis S = (s, c) in its own frame, and its first and second rates; a rate twice, too."""

    s_rate: Triple
    c_rate: Triple
    s_twice: Triple
    s_curve: Triple
    c_curve: Triple

    @classmethod
    def of(cls, bodies: Bodies, i: int, state: BodyMotion) -> _Axis:
        turns, along = bodies.turns(i), bodies.shift(i)
        z_rate = [state.w[1], -state.w[0], 0.0]  # w x z
        # sddot = U z, the third column.
        z_curve = [state.U[row][2] for row in range(3)]
        s_rate = z_rate if turns else ZERO
        # the axis goes with the origin, which accelerates by V: d^2/dt^2 (z x (r - o)) at r = o
        c_curve = [state.V[1], -state.V[0], 0.0] if turns else ZERO
        c_rate = ZERO
        if along:
            c_rate = [along * x for x in z_rate]
            c_curve = plus(c_curve, [along * x for x in z_curve])
        return cls(s_rate, c_rate, plus(s_rate, s_rate), z_curve if turns else ZERO, c_curve)


@dataclass(frozen=True)
class _Columns:
    """Fills rows and columns of the matrices."""

    bodies: Bodies
    states: list[BodyMotion]
    axes: list[_Axis]
    q: AnyArray
    qd: AnyArray
    D: AnyArray

    def fill(self, k: int, still: list[Moments], moving: Moving) -> None:
        """Column k at the joints between k and the base, and row k at the same."""
        bodies, D = self.bodies, self.D
        U_moment, U_force, scale = accelerating(bodies, k, still[k])
        U = [scale * x for x in U_moment], [scale * x for x in U_force]
        t = _mixed_moment(bodies, k, moving)
        Y, Z = self._velocity_wrench(k, still, moving), self._position_wrench(k, still, moving)
        j = k
        while True:
            # Places 0, 1, 2: by position, velocity and acceleration.
            for place, wrench in enumerate((Z, Y, U)):
                D[j, k, place] = bodies.felt(j, *wrench)
            if j != k:
                # Mass matrix is symmetric: M(k, j) = M(j, k), no second computation.
                D[k, j, 0], D[k, j, 1], D[k, j, 2] = *self._row(j, U, t), D[j, k, 2]
            if bodies.parents[j] < 0:
                return
            t = self._carried_moment(j, t, U[1])
            # All three wrenches go down together; the joint's sine and cosine are shared.
            U, Y, Z = (to_parent(bodies, j, self.q, wrench) for wrench in (U, Y, Z))
            j = bodies.parents[j]

    def _row(self, j: int, U: Wrench, t: Triple) -> tuple[Any, Any]:
        """dtau_k/dq_j and dtau_k/dqd_j, t being twice t_k."""
        axis, turns = self.axes[j], self.bodies.turns(j)
        by_position = dot(axis.s_curve, U[0]) + dot(axis.c_curve, U[1]) + dot(axis.s_rate, t)
        by_velocity = dot(axis.s_twice, U[0]) + dot([2.0 * x for x in axis.c_rate], U[1])
        return by_position, by_velocity + t[2] if turns else by_velocity

    def _velocity_wrench(self, k: int, still: list[Moments], moving: Moving) -> Wrench:
        """Y = 2 (wrench of sdot x r + cdot, and of s x v)."""
        axis, h, G, p = self.axes[k], still[k].h, moving.G[k], moving.p[k]
        moment = plus(_inertia_times(still[k].K, axis.s_twice), cross(h, [2.0 * x for x in axis.c_rate]))
        force = plus(cross(axis.s_twice, h), [still[k].m * (2.0 * x) for x in axis.c_rate])
        if self.bodies.turns(k):
            # Wrench of z x v, mixed moments in place of second ones: (-G_xz, -G_yz, G_xx + G_yy).
            turning = [-G[0][2], -G[1][2], G[0][0] + G[1][1]]
            moment = plus(moment, plus(turning, turning))
            force = plus(force, [-(p[1] + p[1]), p[0] + p[0], 0.0])
        return moment, force

    def _position_wrench(self, k: int, still: list[Moments], moving: Moving) -> Wrench:
        """Z = wrench of sddot x r + cddot + 2 sdot x v, and S x* f of the wrench f that k carries."""
        bodies, axis, h, G, p = self.bodies, self.axes[k], still[k].h, moving.G[k], moving.p[k]
        twice, (N, F) = axis.s_twice, moving.wrench[k]
        trace = G[0][0] + G[1][1] + G[2][2]
        moment = plus(_inertia_times(still[k].K, axis.s_curve), cross(h, axis.c_curve))
        moment = plus(moment, [trace * twice[a] - dot(twice, G[a]) for a in range(3)])
        force = plus(plus(cross(axis.s_curve, h), [still[k].m * x for x in axis.c_curve]), cross(twice, p))
        if bodies.turns(k):
            # S x* f: the wrench that k carries turns along with the axis.
            moment, force = plus(moment, [-N[1], N[0], 0.0]), plus(force, [-F[1], F[0], 0.0])
        if along := bodies.shift(k):
            moment = plus(moment, [-along * F[1], along * F[0], 0.0])
        return moment, force

    def _carried_moment(self, j: int, t: Triple, force: Triple) -> Triple:
        """t counted from the velocity of the parent's origin: t + v x force."""
        bodies = self.bodies
        rate = origin_rate(bodies, j, self.states, self.q, self.qd)
        moved, pushed = turned_into_parent(bodies, j, self.q, t), turned_into_parent(bodies, j, self.q, force)
        return plus(moved, cross([2.0 * x for x in rate], pushed))


def _mixed_moment(bodies: Bodies, k: int, moving: Moving) -> Triple:
    """Twice t_k = sum m v x (sigma_k r)."""
    G, p, t = moving.G[k], moving.p[k], ZERO
    if bodies.turns(k):
        # sum m v x (z x r) = z (v . r) - r (v . z): trace of G across the axis, less its last row.
        t = [-G[2][0], -G[2][1], G[0][0] + G[1][1]]
    if along := bodies.shift(k):
        t = plus(t, [along * p[1], -along * p[0], 0.0])
    return plus(t, t)


def _inertia_times(K: Triple, x: Triple) -> Triple:
    """(tr(K) 1 - K) x."""
    xx, xy, yy, xz, yz, zz = K
    return [
        dot(x, [yy + zz, -xy, -xz]),
        dot(x, [-xy, xx + zz, -yz]),
        dot(x, [-xz, -yz, xx + yy]),
    ]
