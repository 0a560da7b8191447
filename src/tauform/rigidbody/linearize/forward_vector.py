"""Jain1993 Algorithm 5: the change of acceleration, O(n), without the mass matrix.

The linearised equations have the form of the equations of motion: other drifts, other bias wrenches, the same
articulated inertias. So the sweep of forward dynamics solves them too.
"""

from __future__ import annotations

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.articulated_body import articulated_inertias, nominal_response, respond
from tauform.rigidbody.linearize.inverse_vector import nominal_of, perturbation, velocity_terms, zero_base
from tauform.rigidbody.sweeps.motion import Motion, body_twists, transforms_of


def forward_vector(
    tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray, dq: AnyArray, dqd: AnyArray, dtau: AnyArray
) -> AnyArray:
    """(n, N) change of acceleration of links and rotors; arrays of any scalar."""
    transforms = transforms_of(tree, q)
    twists = body_twists(tree, transforms, qd)
    articulated = articulated_inertias(tree, transforms)
    rates, wrenches = velocity_terms(tree, twists)
    response = nominal_response(tree, transforms, twists, wrenches, articulated, qd, tau)
    nominal = nominal_of(tree, Motion(transforms, twists, response.bodies), rates, wrenches)
    drifts, biases = perturbation(tree, nominal, dq, dqd)
    return respond(tree, transforms, articulated, drifts, biases, dtau, zero_base(dtau)).qdd
