"""Jain1993 Algorithm 3: the change of acceleration by way of Algorithm 1 and the mass matrix, O(n^3)."""

from __future__ import annotations

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.linearize.inverse_vector import inverse_vector
from tauform.rigidbody.sweeps.factorization import factorize, solve


def forward_vector_conventional(
    tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray, dq: AnyArray, dqd: AnyArray, dtau: AnyArray
) -> AnyArray:
    """(n, N) change of acceleration, M^-1 (dtau - A_D dqd - B_D dq); tau without friction; any scalar."""
    factors = factorize(composite_rigid_body(tree, q), tree.parents)
    qdd = solve(factors, tree.parents, tau - newton_euler(tree, q, qd, 0 * qd))
    return solve(factors, tree.parents, dtau - inverse_vector(tree, q, qd, qdd, dq, dqd, 0 * qdd))
