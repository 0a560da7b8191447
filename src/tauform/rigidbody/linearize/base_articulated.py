"""Articulated inertias, moment rates and mobilities in the axes of the base: the sweeps of Jain1993 Algorithm 6.

Articulated inertias P, pivots D and gains G = P S / D come tip to base, together with the articulated moment rates
Q = 2 B + sum over children of (1 - G S^T) Q. Then, base to tip,

    Y_k = (1 - S G^T) Y_parent (1 - G S^T) + S S^T / D    (acceleration of body k for a unit wrench on it)
    U_k = S / D - (1 - S G^T) Y_parent G                  (acceleration of joint k for a bias wrench z on body k: -U.z)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.linearize.base_motion import BaseVelocity, upward
from tauform.rigidbody.sweeps.articulated_inertia import rigid_inertia, times
from tauform.rigidbody.sweeps.pivots import check_pivot


class Inward(NamedTuple):
    """What comes tip to base, one entry per joint.

    Attributes:
        P: (6, 6, N) articulated inertia.
        inverse_pivots: (N,) 1 / D.
        gains: (6, N) G = P S / D.
        Q: (6, 3, N) articulated moment rate; its three linear columns are zero.
        shares: (3, N) Q^T S / D, what Q does to the joint's own acceleration.
    """

    P: list[AnyArray]
    inverse_pivots: list[AnyArray]
    gains: list[AnyArray]
    Q: list[AnyArray]
    shares: list[AnyArray]


class Outward(NamedTuple):
    """What comes base to tip, one entry per joint.

    Attributes:
        Y: (6, 6, N) mobility of the body.
        U: (6, N).
        diagonal: (N,) entry of M^-1.
    """

    Y: list[AnyArray]
    U: list[AnyArray]
    diagonal: list[AnyArray]


def inward_sweep(tree: Tree, velocity: BaseVelocity) -> Inward:
    """Articulated inertias and moment rates; arrays of any scalar."""
    S = velocity.S
    P = [rigid_inertia(ten, S[0, 0]) for ten in velocity.inertias]
    Q = [_rate_matrix(rate + rate) for rate in velocity.rates]
    inverse_pivots, gains, shares = list(P), list(P), list(P)
    for i in reversed(range(tree.n)):
        rotor, axis = tree.rotors[i], S[:, i]
        momentum = times(P[i], axis)
        pivot = (momentum * axis).sum(axis=0) + rotor
        check_pivot(pivot, [rotor, *(momentum * axis)], i)
        inverse_pivots[i] = 1 / pivot
        gains[i] = momentum * inverse_pivots[i]
        torque = (Q[i] * axis[:, None]).sum(axis=0)
        shares[i] = torque * inverse_pivots[i]
        parent = tree.parents[i]
        if parent >= 0:
            P[parent] = P[parent] + _symmetric(lambda r, c, P=P[i], h=momentum, G=gains[i]: P[r, c] - h[r] * G[c])
            Q[parent] = Q[parent] + (Q[i] - gains[i][:, None] * torque)
    return Inward(P, inverse_pivots, gains, Q, shares)


def nominal_accelerations(tree: Tree, velocity: BaseVelocity, inward: Inward, qd: AnyArray, tau: AnyArray) -> AnyArray:
    """(n, N) joint accelerations under tau: the articulated body algorithm in the axes of the base."""
    S, S_rate = velocity.S, velocity.S_rate
    biases, excess = list(velocity.biases), list(tau)
    for i in reversed(range(tree.n)):
        bias = biases[i] + times(inward.P[i], S_rate[:, i] * qd[i])
        excess[i] = tau[i] - (S[:, i] * bias).sum(axis=0)
        if tree.parents[i] >= 0:
            biases[tree.parents[i]] = biases[tree.parents[i]] + (bias + inward.gains[i] * excess[i])
    qdd: list[AnyArray] = []
    bodies: list[AnyArray] = []
    for i, parent in enumerate(tree.parents):
        reached = bodies[parent] if parent >= 0 else np.broadcast_to(upward(tree), S[:, i].shape)
        qdd.append(excess[i] * inward.inverse_pivots[i] - (inward.gains[i] * reached).sum(axis=0))
        bodies.append(reached + (S[:, i] * qdd[i] + S_rate[:, i] * qd[i]))
    return np.stack(qdd)


def outward_sweep(tree: Tree, velocity: BaseVelocity, inward: Inward) -> Outward:
    """Mobility of each body; arrays of any scalar."""
    Y: list[AnyArray] = []
    U: list[AnyArray] = []
    diagonal: list[AnyArray] = []
    for k, parent in enumerate(tree.parents):
        S, G, inverse = velocity.S[:, k], inward.gains[k], inward.inverse_pivots[k]
        if parent < 0:
            diagonal.append(inverse)
            U.append(S * inverse)
            Y.append(_symmetric(lambda r, c, S=S, U=U[k]: S[r] * U[c]))
            continue
        YG = times(Y[parent], G)
        diagonal.append(inverse + (G * YG).sum(axis=0))
        U.append(S * diagonal[k] - YG)
        Y.append(_symmetric(lambda r, c, Y=Y[parent], S=S, U=U[k], YG=YG: Y[r, c] + S[r] * U[c] - YG[r] * S[c]))
    return Outward(Y, U, diagonal)


def _symmetric(entry: Callable[..., AnyArray]) -> AnyArray:
    """(6, 6, N) from the entries of the lower triangle."""
    rows = [[entry(r, c) for c in range(r + 1)] for r in range(6)]
    return np.stack([np.stack([rows[max(r, c)][min(r, c)] for c in range(6)]) for r in range(6)])


def _rate_matrix(rate: AnyArray) -> AnyArray:
    """(6, 3, N) angular columns of the moment rate: tr(K) 1 - K over -(p x)."""
    x, y, z = rate[9:]
    o = 0 * x
    minus_p = np.array([[o, z, -y], [-z, o, x], [y, -x, o]])
    return np.concatenate([rate[:9].reshape(3, 3, *rate.shape[1:]), minus_p])
