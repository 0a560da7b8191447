"""The derivatives of forward dynamics: Jain1993 Algorithm 6, O(n^2), and Algorithm 4, O(n^3).

Algorithm 4 takes the derivatives of inverse dynamics and the factors of the mass matrix. Algorithm 6 neither forms nor
inverts a mass matrix. It is all in the axes of the base, on the sweeps of `base_articulated`: a change of q_j or qd_j
is a bias wrench z_j and a drift c_j at body j,

    z_j = Q_j Sdot_j + P_j Sddot_j + S_j x* f_j,  c_j = Sddot_j    (q)
    z_j = Q_j S_j + 2 P_j Sdot_j,                 c_j = 2 Sdot_j   (qd)

and a further excess torque -S_i . Q_i e_j (e_j = Sdot_j or S_j) at every joint i below j. Joint k above j answers to
z_j, passed up; joint k below j to the acceleration c_j - Y_j z_j of body j, passed down; joint k on another branch to
the acceleration of the last body that both hang on. (The paper's operators, for revolute chains, are these; its K, J,
E and L are folded in.)
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.inertia.base_factor import Mobility, carried_down, mobility
from tauform.rigidbody.inertia.gdahj import mass_matrix_of
from tauform.rigidbody.linearize.base_articulated import Inward, inward_sweep, nominal_accelerations
from tauform.rigidbody.linearize.base_motion import BaseAcceleration, BaseVelocity, base_acceleration, base_velocity
from tauform.rigidbody.linearize.inverse_matrices import matrices_of
from tauform.rigidbody.sweeps.articulated_inertia import times
from tauform.rigidbody.sweeps.factorization import factorize, solve
from tauform.rigidbody.sweeps.spatial import ANGULAR, cross_force


def forward_matrices(tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
    """(n, n, 3, N): dqdd/dq, dqdd/dqd and dqdd/dtau of links and rotors; arrays of any scalar."""
    velocity = base_velocity(tree, q, qd)
    inward = inward_sweep(tree, velocity)
    qdd = nominal_accelerations(tree, velocity, inward, qd, tau)
    acceleration = base_acceleration(tree, velocity, qd, qdd)
    S = list(np.moveaxis(velocity.S, 1, 0))
    outward = mobility(tree.parents, S, inward.gains, inward.inverse_pivots)
    z = _bias_wrenches(tree, velocity, acceleration, inward)
    n, S_rate = tree.n, velocity.S_rate
    # (6, n, 2, N): drifts c_j for q and for qd.
    drifts = np.stack([acceleration.S_curve, S_rate + S_rate], axis=2)
    # acceleration of body j under its own perturbation
    a = [drifts[:, j] - np.stack([times(outward.Y[j], z[j][:, x]) for x in (0, 1)], axis=1) for j in range(n)]
    # (3, n, 2, N): e_j for q and for qd; Q has angular columns only.
    e = np.stack([S_rate[ANGULAR], velocity.S[ANGULAR]], axis=2)
    D = np.zeros((n, n, 3, *q.shape[1:]), dtype=np.result_type(drifts, tree.inertias, tree.coefficients))
    for k in range(n):
        # D holds entries (k, j) for j above k first, since these also yield X, which the rest of the row is made from.
        X = _row_below(tree, k, velocity, inward, outward, a, e, D)
        for j, x, entry in carried_down(tree, k, X, S, inward.gains):
            D[k, j, :2] = -(z[j] * x[:, None]).sum(axis=0)
            # M^-1 is symmetric, and X for its upper half is at hand here.
            if j > k:
                D[k, j, 2] = D[j, k, 2] = entry
        D[k, k, 2] = outward.diagonal[k]
        # own column: joint k answers to its own perturbation with -U_k . z_k
        D[k, k, :2] = -(z[k] * outward.U[k][:, None]).sum(axis=0)
    return D


def _bias_wrenches(
    tree: Tree, velocity: BaseVelocity, acceleration: BaseAcceleration, inward: Inward
) -> list[AnyArray]:
    """(6, 2, N) of each joint: for q, then for qd."""
    wrenches = []
    for j in range(tree.n):
        S, S_rate, S_curve = velocity.S[:, j], velocity.S_rate[:, j], acceleration.S_curve[:, j]
        P, Q = inward.P[j], inward.Q[j]
        z_q = times(P, S_curve) + times(Q, S_rate[ANGULAR]) + cross_force(S, acceleration.wrenches[j])
        z_qd = times(P, S_rate + S_rate) + times(Q, S[ANGULAR])
        wrenches.append(np.stack([z_q, z_qd], axis=1))
    return wrenches


def _row_below(
    tree: Tree,
    k: int,
    velocity: BaseVelocity,
    inward: Inward,
    outward: Mobility,
    a: list[AnyArray],
    e: AnyArray,
    D: AnyArray,
) -> dict[int, AnyArray]:
    """Entries (k, j) with j above k; returns by body what a bias wrench there does to joint k, negated.

    W = G_k, carried up to body j, weighs its acceleration; g, carried along, the excess torques below j.
    """
    X = {k: outward.U[k]}
    W, g = inward.gains[k], inward.shares[k]
    for j in tree.ancestors(k)[1:]:
        D[k, j, :2] = -(e[:, j] * g[:, None]).sum(axis=0) - (a[j] * W[:, None]).sum(axis=0)
        # Only bodies with several children are branched off from: their X starts the rows of other branches.
        if len(tree.children(j)) > 1:
            X[j] = -times(outward.Y[j], W)
        if tree.parents[j] >= 0:
            # Joint j yields to what is passed up through it.
            yielding = (W * velocity.S[:, j]).sum(axis=0)
            g = g - yielding * inward.shares[j]
            W = W - yielding * inward.gains[j]
    return X


def forward_matrices_conventional(tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
    """(n, n, 3, N): dqdd/dq = -M^-1 B_D, dqdd/dqd = -M^-1 A_D and dqdd/dtau = M^-1; tau without friction."""
    velocity = base_velocity(tree, q, qd)
    factors = factorize(mass_matrix_of(tree, velocity.S, velocity.inertias), tree.parents)
    # M qdd = tau - bias, the bias being the torque at qdd = 0.
    rest = base_acceleration(tree, velocity, qd, 0 * qd)
    bias = np.stack([(velocity.S[:, i] * f).sum(axis=0) for i, f in enumerate(rest.wrenches)])
    qdd = solve(factors, tree.parents, tau - bias)
    D = matrices_of(tree, velocity, base_acceleration(tree, velocity, qd, qdd))
    return solve_forward(factors, tree.parents, D)


def solve_forward(factors: AnyArray, parents: tuple[int, ...], D: AnyArray) -> AnyArray:
    """Forward derivatives from inverse ones (n, n, 3, ...), of which the third matrix is replaced by the identity."""
    n = len(parents)
    # dqdd = -M^-1 (B_D dq + A_D dqd) + M^-1 dtau: three right-hand sides for one factorization.
    right = -D
    right[:, :, 2] = 0 * D[:, :, 2]
    for i in range(n):
        right[i, i, 2] = right[i, i, 2] + 1
    return solve(factors, parents, right)
