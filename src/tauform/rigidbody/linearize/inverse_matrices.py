"""Jain1993 Algorithm 2: the derivatives of inverse dynamics as matrices, O(n^2).

In the axes of the base, with composite inertia R and moment rate Q / 2 (the paper's Rbar) of all that joint k carries,
and j an ancestor of k or k itself:

    M(j, k)   = S_j . R S_k
    A_D(j, k) = S_j . (2 R Sdot_k + Q S_k)                     A_D(k, j) = 2 Sdot_j . R S_k + S_j . Q^T S_k
    B_D(j, k) = S_j . (R Sddot_k + Q Sdot_k + S_k x* f_k)      B_D(k, j) = Sddot_j . R S_k + Sdot_j . Q^T S_k
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.drives import coupled_inertia, has_coupled_inertia
from tauform.rigidbody.linearize.base_motion import BaseAcceleration, BaseVelocity, base_acceleration, base_velocity
from tauform.rigidbody.sweeps.base_frame import composites
from tauform.rigidbody.sweeps.moment_rate import rate_times, rate_transposed_times
from tauform.rigidbody.sweeps.spatial import ANGULAR, cross_force, inertia_times


def inverse_matrices(tree: Tree, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> AnyArray:
    """(n, n, 3, N): dtau/dq, dtau/dqd and dtau/dqdd of links and rotors; arrays of any scalar."""
    velocity = base_velocity(tree, q, qd)
    return matrices_of(tree, velocity, base_acceleration(tree, velocity, qd, qdd))


def matrices_of(tree: Tree, velocity: BaseVelocity, acceleration: BaseAcceleration) -> AnyArray:
    """The three matrices from a motion in the axes of the base."""
    S, S_rate, S_curve = velocity.S, velocity.S_rate, acceleration.S_curve
    bodies = zip(composites(tree, velocity.inertias), composites(tree, velocity.rates), strict=True)
    n = tree.n
    # Zeros stay between branches.
    D = np.zeros((n, n, 3, *S.shape[2:]), dtype=np.result_type(S_curve, tree.inertias, tree.coefficients))
    for k, (ten, rate) in enumerate(bodies):
        # Joint k first, then all that carry it.
        path = list(tree.ancestors(k))
        above = path[1:]
        momentum = inertia_times(ten, S[:, k])
        # Doubles once instead of halves everywhere: Q = 2 B, and 2 R Sdot.
        double, double_rate = S[:, k] + S[:, k], S_rate[:, k] + S_rate[:, k]
        velocity_column = inertia_times(ten, double_rate) + rate_times(rate, double)
        # S_k x* f_k: turning joint k turns the wrench that it carries.
        position_column = (
            inertia_times(ten, S_curve[:, k])
            + rate_times(rate, double_rate)
            + cross_force(S[:, k], acceleration.wrenches[k])
        )
        # Every joint on the path to the base feels column k; others do not, which are the zeros of trees.
        D[path, k, 0] = _dot(S[:, path], position_column)
        D[path, k, 1] = _dot(S[:, path], velocity_column)
        D[k, path, 2] = D[path, k, 2] = _dot(S[:, path], momentum)
        row = rate_transposed_times(rate, double)  # its linear part is zero
        D[k, above, 0] = _dot(S_curve[:, above], momentum) + _dot(S_rate[ANGULAR, above], row)
        D[k, above, 1] = _dot(S_rate[:, above], momentum + momentum) + _dot(S[ANGULAR, above], row)
        D[k, k, 2] = D[k, k, 2] + tree.rotors[k]
    if has_coupled_inertia(tree):
        D[:, :, 2] = D[:, :, 2] + coupled_inertia(tree)
    return D


def _dot(vectors: AnyArray, vector: AnyArray) -> AnyArray:
    """(m, N) inner products of (d, m, N) with (d, N)."""
    return (vectors * vector[:, None]).sum(axis=0)
