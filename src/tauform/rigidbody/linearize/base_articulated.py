"""Articulated inertias and moment rates in the axes of the base: the inward sweep of Jain1993 Algorithm 6.

To the factors P, D and G of the mass matrix come the articulated moment rates Q = 2 B + sum over children of
(1 - G S^T) Q.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.inertia.base_factor import base_factor
from tauform.rigidbody.linearize.base_motion import BaseVelocity, upward
from tauform.rigidbody.sweeps.articulated_inertia import times


class Inward(NamedTuple):
    """Results of the sweep from tip to base, one entry per joint.

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


def inward_sweep(tree: Tree, velocity: BaseVelocity) -> Inward:
    """Articulated inertias and moment rates; arrays of any scalar."""
    S, factor = velocity.S, base_factor(tree, velocity.S, velocity.inertias)
    # Q is 2 B of the body itself to begin with; the paper's factor of two is taken once, here.
    Q = [_rate_matrix(rate + rate) for rate in velocity.rates]
    shares = list(factor.pivots)
    for i in reversed(range(tree.n)):
        # S^T Q, (3, N): the torque at the joint for a unit angular velocity e.
        torque = (Q[i] * S[:, i, None]).sum(axis=0)
        shares[i] = torque * factor.inverse_pivots[i]
        # The base absorbs what reaches it.
        if tree.parents[i] >= 0:
            Q[tree.parents[i]] = Q[tree.parents[i]] + (Q[i] - factor.gains[i][:, None] * torque)
    return Inward(factor.P, factor.inverse_pivots, factor.gains, Q, shares)


def nominal_accelerations(tree: Tree, velocity: BaseVelocity, inward: Inward, qd: AnyArray, tau: AnyArray) -> AnyArray:
    """(n, N) joint accelerations under tau: the articulated body algorithm in the axes of the base."""
    S, S_rate = velocity.S, velocity.S_rate
    biases, excess = list(velocity.biases), list(tau)
    for i in reversed(range(tree.n)):
        # The drift Sdot qd acts through the articulated inertia, as a bias wrench.
        bias = biases[i] + times(inward.P[i], S_rate[:, i] * qd[i])
        excess[i] = tau[i] - (S[:, i] * bias).sum(axis=0)
        if tree.parents[i] >= 0:
            biases[tree.parents[i]] = biases[tree.parents[i]] + (bias + inward.gains[i] * excess[i])
    qdd: list[AnyArray] = []
    bodies: list[AnyArray] = []
    # Base to tip: what reaches the body, gravity's upward acceleration included, and then the joint's answer.
    for i, parent in enumerate(tree.parents):
        reached = bodies[parent] if parent >= 0 else np.broadcast_to(upward(tree), S[:, i].shape)
        qdd.append(excess[i] * inward.inverse_pivots[i] - (inward.gains[i] * reached).sum(axis=0))
        bodies.append(reached + (S[:, i] * qdd[i] + S_rate[:, i] * qd[i]))
    return np.stack(qdd)


def _rate_matrix(rate: AnyArray) -> AnyArray:
    """(6, 3, N) angular columns of the moment rate: tr(K) 1 - K over -(p x)."""
    x, y, z = rate[9:]
    o = 0 * x
    # -(p x), p = m v + w x h the linear momentum.
    minus_p = np.array([[o, z, -y], [-z, o, x], [y, -x, o]])
    return np.concatenate([rate[:9].reshape(3, 3, *rate.shape[1:]), minus_p])
