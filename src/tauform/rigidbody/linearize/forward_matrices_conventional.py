"""Jain1993 Algorithm 4: the derivatives of forward dynamics from those of inverse dynamics, O(n^3)."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.inertia.gdahj import mass_matrix_of
from tauform.rigidbody.linearize.base_motion import base_acceleration, base_velocity
from tauform.rigidbody.linearize.inverse_matrices import matrices_of
from tauform.rigidbody.sweeps.factorization import factorize, solve


def forward_matrices_conventional(tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
    """(n, n, 3, N): dqdd/dq = -M^-1 B_D, dqdd/dqd = -M^-1 A_D and dqdd/dtau = M^-1; tau without friction."""
    velocity = base_velocity(tree, q, qd)
    factors = factorize(mass_matrix_of(tree, velocity.S, velocity.inertias), tree.parents)
    rest = base_acceleration(tree, velocity, qd, 0 * qd)
    bias = np.stack([(velocity.S[:, i] * f).sum(axis=0) for i, f in enumerate(rest.wrenches)])
    qdd = solve(factors, tree.parents, tau - bias)
    D = matrices_of(tree, velocity, base_acceleration(tree, velocity, qd, qdd))
    return solve_forward(factors, tree.parents, D)


def solve_forward(factors: AnyArray, parents: tuple[int, ...], D: AnyArray) -> AnyArray:
    """Forward derivatives from inverse ones (n, n, 3, ...), of which the third matrix is replaced by the identity."""
    n = len(parents)
    right = -D
    right[:, :, 2] = 0 * D[:, :, 2]
    for i in range(n):
        right[i, i, 2] = right[i, i, 2] + 1
    return solve(factors, parents, right)
