"""The change of acceleration under small changes: Jain1993 Algorithm 5, O(n), and Algorithm 3, O(n^3).

Algorithm 5 needs no mass matrix. The linearised equations have the form of the equations of motion, with other drifts,
other bias wrenches and the same articulated inertias, so the sweep of forward dynamics solves them too. Algorithm 3
goes by way of Algorithm 1 and the mass matrix.
"""

from __future__ import annotations

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.articulated_body import articulated_inertias, nominal_response, respond
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.linearize.inverse_vector import (
    inverse_vector,
    nominal_of,
    perturbation,
    velocity_terms,
    zero_base,
)
from tauform.rigidbody.sweeps.factorization import factorize, solve
from tauform.rigidbody.sweeps.motion import BodyMotions, body_twists, transforms_of


def forward_vector(
    tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray, dq: AnyArray, dqd: AnyArray, dtau: AnyArray
) -> AnyArray:
    """(n, N) change of acceleration of links and rotors; arrays of any scalar."""
    transforms = transforms_of(tree, q)
    twists = body_twists(tree, transforms, qd)
    # Made once, used twice: for the nominal motion and for its change.
    articulated = articulated_inertias(tree, transforms)
    rates, wrenches = velocity_terms(tree, twists)
    # The nominal motion: its accelerations come from the articulated bodies, not from a mass matrix.
    response = nominal_response(tree, transforms, twists, wrenches, articulated, qd, tau)
    nominal = nominal_of(tree, BodyMotions(transforms, twists, response.bodies), rates, wrenches)
    drifts, biases = perturbation(tree, nominal, dq, dqd)
    # The base stands still under a perturbation: gravity does not change.
    return respond(tree, transforms, articulated, drifts, biases, dtau, zero_base(dtau)).qdd


def forward_vector_conventional(
    tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray, dq: AnyArray, dqd: AnyArray, dtau: AnyArray
) -> AnyArray:
    """(n, N) change of acceleration, M^-1 (dtau - A_D dqd - B_D dq); tau without friction; any scalar."""
    # Algorithm 3: nominal accelerations by the mass matrix, O(n^3).
    factors = factorize(composite_rigid_body(tree, q), tree.parents)
    qdd = solve(factors, tree.parents, tau - newton_euler(tree, q, qd, 0 * qd))
    # The change of torque at unchanged acceleration; what is left of dtau accelerates.
    return solve(factors, tree.parents, dtau - inverse_vector(tree, q, qd, qdd, dq, dqd, 0 * qdd))
