"""Transposed products: weights times the derivative matrices, O(n), as reverse-mode differentiation needs them.

Algorithm 1 of Jain1993 is linear in the perturbations; run backwards, its inward sums become the twists y of joint
speeds w, and its outward sums of eta and beta become inward sums of I y and 2 B^T y.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.articulated_body import articulated_inertias, nominal_response, respond
from tauform.rigidbody.drives import coupled_torque, has_coupled_inertia
from tauform.rigidbody.inverse_dynamics import joint_wrenches
from tauform.rigidbody.linearize.inverse_vector import Nominal, nominal_of, velocity_terms, zero_base
from tauform.rigidbody.sweeps.moment_rate import rate_transposed_times
from tauform.rigidbody.sweeps.motion import BodyMotions, body_motion, body_twists, transforms_of
from tauform.rigidbody.sweeps.spatial import (
    ANGULAR,
    cross_motion,
    inertia_times,
    rotate,
)


def inverse_transposed(tree: Tree, q: AnyArray, qd: AnyArray, qdd: AnyArray, weights: AnyArray) -> AnyArray:
    """(n, 3, N): weights^T times dtau/dq, dtau/dqd and dtau/dqdd of links and rotors; any scalar."""
    motion = body_motion(tree, q, qd, qdd)
    return _weighted(tree, nominal_of(tree, motion, *velocity_terms(tree, motion.twists)), weights)


def forward_transposed(tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray, weights: AnyArray) -> AnyArray:
    """(n, 3, N): weights^T times dqdd/dq, dqdd/dqd and dqdd/dtau of links and rotors; any scalar."""
    transforms = transforms_of(tree, q)
    twists = body_twists(tree, transforms, qd)
    # Shared by the nominal motion and by M^-1 weights.
    articulated = articulated_inertias(tree, transforms)
    rates, biases = velocity_terms(tree, twists)
    response = nominal_response(tree, transforms, twists, biases, articulated, qd, tau)
    nothing = zero_base(weights)
    rest = [nothing] * tree.n
    # M is symmetric: weights^T M^-1 is the response to torques `weights`
    inner = respond(tree, transforms, articulated, rest, rest, weights, nothing).qdd
    # dqdd/dq = -M^-1 dtau/dq at the accelerations that tau causes
    result = -_weighted(tree, nominal_of(tree, BodyMotions(transforms, twists, response.bodies), rates, biases), inner)
    result[:, 2] = inner
    return result


def _weighted(tree: Tree, nominal: Nominal, weights: AnyArray) -> AnyArray:
    transforms, twists, accelerations = nominal.motion
    # Body twists of joint speeds `weights`: the transpose of summing wrenches inwards.
    y = body_twists(tree, transforms, weights)
    momenta = joint_wrenches(tree, transforms, [inertia_times(*pair) for pair in zip(tree.inertias, y, strict=True)])
    # moments 2 B^T y; their force part is zero, so that moving them up only turns them
    moments = [rate_transposed_times(rate, twist + twist) for rate, twist in zip(nominal.rates, y, strict=True)]
    for i in reversed(range(tree.n)):
        if tree.parents[i] >= 0:
            moments[tree.parents[i]] = moments[tree.parents[i]] + rotate(transforms[i].R, moments[i])
    rows = []
    for i in range(tree.n):
        joint = tree.types[i]
        axis_rate = joint.axis_rate(twists[i])
        # Sddot = a x S + v x Sdot.
        axis_curve = joint.axis_rate(accelerations[i]) + cross_motion(twists[i], axis_rate)
        turned = joint.axis_cross_force(nominal.wrenches[i])
        # Transposes of I beta and of S x* f dq.
        position = (axis_curve * momenta[i] + turned * y[i]).sum(axis=0)
        position = position + (axis_rate[ANGULAR] * moments[i]).sum(axis=0)
        velocity = 2 * (axis_rate * momenta[i]).sum(axis=0)
        # 2 B^T y has no force part: only turning joints feel it.
        velocity = velocity + joint.felt(np.concatenate([moments[i], 0 * moments[i]]))
        rows.append(np.stack([position, velocity, joint.felt(momenta[i]) + tree.rotors[i] * weights[i]]))
    result = np.stack(rows)
    if has_coupled_inertia(tree):
        result[:, 2] = result[:, 2] + coupled_torque(tree, weights)  # a symmetric matrix
    return result
