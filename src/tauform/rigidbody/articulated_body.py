"""Forward dynamics by the articulated body algorithm (Featherstone 1983): O(n), no mass matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.articulated_inertia import articulated_to_parent, rigid_inertia, times, without_joint
from tauform.rigidbody.sweeps.motion import body_twists, transforms_of, velocity_wrenches
from tauform.rigidbody.sweeps.pivots import check_pivot
from tauform.rigidbody.sweeps.spatial import (
    ANGULAR,
    LINEAR,
    Transform,
    twist_to_child,
    wrench_to_parent,
)
from tauform.rigidbody.sweeps.wrenches import BodyWrenches, less_wrenches


class Articulated(NamedTuple):
    """The inward sweep of articulated inertias, one entry per joint.

    Attributes:
        pivots: D = S.U + Ia, the inertia that the joint moves.
        gains: (6, N) U / D with U = I S.
        remaining: (6, 6, N) inertia that is left when the joint yields, I - U U^T / D.
    """

    pivots: list[AnyArray]
    gains: list[AnyArray]
    remaining: list[AnyArray]


def articulated_inertias(tree: Tree, transforms: list[Transform]) -> Articulated:
    """Articulated inertias of all bodies, tip to base; arrays of any scalar."""
    # Starts as the inertia of the link alone and grows by its children's as the sweep reaches it.
    inertias = [rigid_inertia(ten, transforms[0].p[0]) for ten in tree.inertias]
    pivots, gains, remaining = list(inertias), list(inertias), list(inertias)
    # Tip to base: the articulated inertia of a parent contains what its children leave when their joints yield.
    for i in reversed(range(tree.n)):
        own, rotor = tree.types[i], tree.rotors[i]
        # U = I S, a column of I where S is a unit vector in the link's frame.
        U = own.felt(inertias[i])
        pivots[i] = own.felt(U) + rotor
        # The pivot is a difference of terms of this size: below rounding of them it means no inertia.
        block = LINEAR if own.screw[0] == 0 else ANGULAR
        check_pivot(pivots[i], [rotor, *(inertias[i][j, j] for j in range(6)[block])], i)
        # One division per joint: products with the inverse are several times cheaper.
        inverse = 1 / pivots[i]
        gains[i] = U * inverse
        remaining[i] = without_joint(inertias[i], own.component, U, gains[i], rotor * inverse)
        parent = tree.parents[i]
        # I_parent += X (I - U U^T / D) X^T (Featherstone 2008, table 7.1): a free joint passes nothing along its axis.
        if parent >= 0:
            inertias[parent] = inertias[parent] + articulated_to_parent(transforms[i], remaining[i])
    return Articulated(pivots, gains, remaining)


class Response(NamedTuple):
    """Accelerations of joints, (n, N), and of bodies."""

    qdd: AnyArray
    bodies: list[AnyArray]


def articulated_body(
    tree: Tree, q: AnyArray, qd: AnyArray, tau: AnyArray, wrenches: BodyWrenches | None = None
) -> AnyArray:
    """(n, N) accelerations under tau and external wrenches, friction left out; arrays of any scalar."""
    transforms = transforms_of(tree, q)
    twists = body_twists(tree, transforms, qd)
    # Neither needs the torques: linearisations use both again for other right-hand sides.
    articulated, biases = articulated_inertias(tree, transforms), velocity_wrenches(tree, twists)
    biases = less_wrenches(biases, wrenches)
    return nominal_response(tree, transforms, twists, biases, articulated, qd, tau).qdd


def nominal_response(
    tree: Tree,
    transforms: list[Transform],
    twists: list[AnyArray],
    biases: list[AnyArray],
    articulated: Articulated,
    qd: AnyArray,
    tau: AnyArray,
) -> Response:
    """Accelerations of joints and bodies (these with -gravity) under tau, velocity wrenches given as biases."""
    # What velocity alone does to the acceleration: c = v x S qd
    drifts = [tree.types[i].drift(twists[i], qd[i]) for i in range(tree.n)]
    # Gravity is an upward acceleration of the base, so that no body needs a weight of its own.
    base = np.broadcast_to(np.concatenate([0 * tree.gravity, -tree.gravity]), (6, *tau[0].shape))
    return respond(tree, transforms, articulated, drifts, biases, tau, base)


def respond(
    tree: Tree,
    transforms: list[Transform],
    articulated: Articulated,
    drifts: list[AnyArray],
    biases: list[AnyArray],
    tau: AnyArray,
    base: AnyArray,
) -> Response:
    """Solve a = X a_parent + S qdd + drift, f = I a + bias + sum of children's, tau = S.f + Ia qdd for qdd and a."""
    biases, excess = list(biases), list(tau)
    for i in reversed(range(tree.n)):  # tip to base: torque left over for the joint's own acceleration
        excess[i] = tau[i] - tree.types[i].felt(biases[i])
        if tree.parents[i] >= 0:
            # p + I' c + U u / D: the wrench that the parent feels while this joint yields.
            passed = biases[i] + times(articulated.remaining[i], drifts[i]) + articulated.gains[i] * excess[i]
            parent = tree.parents[i]
            biases[parent] = biases[parent] + wrench_to_parent(transforms[i], passed)
    accelerations: list[AnyArray] = []
    qdd = []
    for i, parent in enumerate(tree.parents):  # base to tip: qdd = u / D - gain.a, with a as it reaches the joint
        # a' of the book: the acceleration of the link before its own joint adds S qdd.
        a = twist_to_child(transforms[i], accelerations[parent] if parent >= 0 else base) + drifts[i]
        qdd.append(excess[i] / articulated.pivots[i] - (articulated.gains[i] * a).sum(axis=0))
        accelerations.append(tree.types[i].moved(a, qdd[i]))
    return Response(np.stack(qdd), accelerations)
