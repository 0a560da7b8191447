"""Matrices of a closed form at (n, N) states, where some joints may be fixed.

Fixed joints f do not accelerate, so the terms hold only the columns of moving joints m,

    tau_m = D_mm qdd_m + ...        tau_f = D_fm qdd_m + ...        D = [D_mm  D_fm^T; D_fm  0],

and the columns of f follow from symmetry. Nothing tells D_ff, which multiplies zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import AnyArray
from tauform.closedform.terms.monomials import Projection
from tauform.rigidbody.sweeps.factorization import factorize, solve


def mass_matrix(terms: Projection, q: AnyArray, moving: Sequence[int]) -> AnyArray:
    """(n, n, N): column j is what multiplies qdd_j, or, of a fixed joint, its row."""
    G = terms.at(q)
    n = len(G)
    D = np.zeros((n, n, q.shape[1]), dtype=G.dtype)
    for k, exponents in enumerate(terms.products.rates.T):
        # Row n + j of the rates is qdd_j, the only entry of an inertial term.
        D[:, np.argmax(exponents[n:])] = G[:, k]
    for f in _fixed(n, moving):
        D[:, f] = D[f]
    return D


def coriolis_matrix(
    terms: Projection, inertial_rate: Projection, q: AnyArray, qd: AnyArray, moving: Sequence[int]
) -> AnyArray:
    """(n, n, N): a product qd_i qd_j is shared equally, c_kij = c_kji.

    Args:
        terms: velocity terms.
        inertial_rate: D' of the fixed joints' rows; C_mf = D'_fm^T - C_fm^T, so that D' - 2 C is skew.
    """
    G = terms.at(q)
    n = len(G)
    C = np.zeros((n, n, q.shape[1]), dtype=np.result_type(G, qd))
    for k, exponents in enumerate(terms.products.rates.T):
        # qd_i qd_j twice its joints: i = j where the velocity is squared.
        i, j = np.repeat(np.arange(n), exponents[:n])
        C[:, j] += 0.5 * G[:, k] * qd[i]
        C[:, i] += 0.5 * G[:, k] * qd[j]
    fixed = _fixed(n, moving)
    if fixed:
        # C_mf = -C_fm^T first; D'_fm^T is added below.
        C[np.ix_(moving, fixed)] = -np.swapaxes(C[np.ix_(fixed, moving)], 0, 1)
        rates = inertial_rate.at(q)
        for k, exponents in enumerate(inertial_rate.products.rates.T):
            # G_k multiplies qd_i qdd_j in D' qdd: entry (f, j) of D', whose transpose belongs to C_mf.
            C[np.argmax(exponents[n:]), fixed] += rates[fixed, k] * qd[np.argmax(exponents[:n])]
    return C


def forward_dynamics(D: AnyArray, rest: AnyArray, moving: Sequence[int]) -> AnyArray:
    """(n, ...) accelerations, D_mm qdd_m = rest_m; on arrays of any scalar.

    Args:
        D: (n, n, ...) mass matrix.
        rest: (n, ...) torque that is left for accelerations.
    """
    qdd = np.zeros_like(rest)
    # Moving joints as a chain: nothing is assumed to be zero in D_mm.
    chain = tuple(range(-1, len(moving) - 1))
    if moving:
        at = list(moving)
        qdd[at] = solve(factorize(D[np.ix_(at, at)], chain), chain, rest[at])
    return qdd


def _fixed(n: int, moving: Sequence[int]) -> list[int]:
    return sorted(set(range(n)) - set(moving))
