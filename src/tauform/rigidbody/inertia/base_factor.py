"""The factors of the mass matrix in the axes of the base, without the matrix itself.  [Jain1993, Lemmas 4.2 to 4.9]

Articulated inertias P, pivots D and gains G = P S / D come tip to base. About one common point the paper's shifts phi
are identities, so that its gain K is G and its psi is 1 - G S^T. Then, base to tip,

    Y_k = (1 - S G^T) Y_parent (1 - G S^T) + S S^T / D    (acceleration of body k for a unit wrench on it: Upsilon)
    U_k = S / D - (1 - S G^T) Y_parent G                  (acceleration of joint k for a bias wrench z on body k: -U.z)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.articulated_inertia import rigid_inertia, times
from tauform.rigidbody.sweeps.base_frame import base_inertias, base_placements, joint_axes
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.pivots import check_pivot

Sequence6 = Sequence[AnyArray]


class BaseFactor(NamedTuple):
    """Results of the sweep from tip to base, one entry per joint.

    Attributes:
        P: (6, 6, N) articulated inertia.
        pivots: (N,) D, and its inverse.
        gains: (6, N) G = P S / D.
    """

    P: list[AnyArray]
    pivots: list[AnyArray]
    inverse_pivots: list[AnyArray]
    gains: list[AnyArray]


class Mobility(NamedTuple):
    """Results of the sweep from base to tip, one entry per joint.

    Attributes:
        Y: (6, 6, N) mobility of the body.
        U: (6, N).
        diagonal: (N,) entry of M^-1.
    """

    Y: list[AnyArray]
    U: list[AnyArray]
    diagonal: list[AnyArray]


def axes_and_factor(tree: Tree, q: AnyArray) -> tuple[AnyArray, BaseFactor]:
    """(6, n, N) joint axes, and the factor; arrays of any scalar."""
    placements = base_placements(tree, transforms_of(tree, q))
    S = joint_axes(tree, placements)
    return S, base_factor(tree, S, base_inertias(tree, placements))


def base_factor(tree: Tree, S: AnyArray, inertias: list[AnyArray]) -> BaseFactor:
    """The factor from joint axes and the ten parameters of each body in the axes of the base."""
    P = [rigid_inertia(ten, S[0, 0]) for ten in inertias]
    # Room of the right length: every entry is replaced in the sweep.
    pivots, inverse_pivots, gains = list(P), list(P), list(P)
    for i in reversed(range(tree.n)):
        rotor, axis = tree.rotors[i], S[:, i]
        momentum = times(P[i], axis)
        pivots[i] = (momentum * axis).sum(axis=0) + rotor
        # In base axes the pivot is a sum of terms of either sign: their sizes say what rounding may hide.
        check_pivot(pivots[i], [rotor, *(momentum * axis)], i)
        inverse_pivots[i] = 1 / pivots[i]
        gains[i] = momentum * inverse_pivots[i]
        parent = tree.parents[i]
        if parent >= 0:
            # About a common point nothing has to be shifted: P - h G^T just adds. Names are bound as defaults, since
            # lambdas would see the last loop's.
            P[parent] = P[parent] + _symmetric(lambda r, c, P=P[i], h=momentum, G=gains[i]: P[r, c] - h[r] * G[c])
    return BaseFactor(P, pivots, inverse_pivots, gains)


def solved(parents: Sequence[int], S: Sequence6, gains: Sequence6, pivots: Sequence[AnyArray], b: AnyArray) -> AnyArray:
    """x with M x = b, [1 - H psi K]^T D^-1 [1 - H psi K] b by two sweeps, O(n); b is (n, ...).  [Lemma 4.4]"""
    # A zero of the result's scalar type and batch.
    nothing = 0 * S[0] * b[0]
    wrenches, excess = [nothing] * len(parents), list(b)
    for i in reversed(range(len(parents))):
        excess[i] = b[i] - (S[i] * wrenches[i]).sum(axis=0)
        if parents[i] >= 0:
            wrenches[parents[i]] = wrenches[parents[i]] + (wrenches[i] + gains[i] * excess[i])
    x: list[AnyArray] = []
    twists: list[AnyArray] = []
    for i, parent in enumerate(parents):
        reached = twists[parent] if parent >= 0 else nothing
        x.append(excess[i] / pivots[i] - (gains[i] * reached).sum(axis=0))
        twists.append(reached + S[i] * x[i])
    return np.stack(x)


def mobility(parents: Sequence[int], S: Sequence6, gains: Sequence6, inverse_pivots: Sequence[AnyArray]) -> Mobility:
    """Mobility of each body; arrays of any scalar.  [Jain1993 (4.19)]"""
    Y: list[AnyArray] = []
    U: list[AnyArray] = []
    diagonal: list[AnyArray] = []
    for k, parent in enumerate(parents):
        axis, G, inverse = S[k], gains[k], inverse_pivots[k]
        if parent < 0:
            diagonal.append(inverse)
            U.append(axis * inverse)
            Y.append(_symmetric(lambda r, c, S=axis, U=U[k]: S[r] * U[c]))
            continue
        # The parent's mobility seen through the joint's gain, shared by all three results.
        YG = times(Y[parent], G)
        # Entry (k, k) of M^-1: the joint's own 1 / D, and what its parent yields.
        diagonal.append(inverse + (G * YG).sum(axis=0))
        U.append(axis * diagonal[k] - YG)
        Y.append(_symmetric(lambda r, c, Y=Y[parent], S=axis, U=U[k], YG=YG: Y[r, c] + S[r] * U[c] - YG[r] * S[c]))
    return Mobility(Y, U, diagonal)


def carried_down(
    tree: Tree, k: int, X: dict[int, AnyArray], S: Sequence6, gains: Sequence6
) -> Iterator[tuple[int, AnyArray, AnyArray]]:
    """(j, X_j, entry (k, j) of M^-1) of joints below k or on branches off its path.

    Args:
        X: by body, what a bias wrench there does to joint k, negated: U_k, and -Y_j W of bodies with several children.
    """
    path = set(tree.ancestors(k))
    for j, parent in enumerate(tree.parents):
        # Depth first: a parent's X is known before its children ask for it.
        if parent in X and j not in path:
            passed = (X[parent] * gains[j]).sum(axis=0)
            X[j] = X[parent] - passed * S[j]
            yield j, X[j], -passed


def inverse_matrix(tree: Tree, q: AnyArray) -> AnyArray:
    """(n, n, N) inverse of the mass matrix, O(n^2), nothing inverted but pivots; arrays of any scalar.  [Lemma 4.9]"""
    axes, factor = axes_and_factor(tree, q)
    S, gains = list(np.moveaxis(axes, 1, 0)), factor.gains
    outward = mobility(tree.parents, S, gains, factor.inverse_pivots)
    inverse = np.zeros((tree.n, tree.n, *q.shape[1:]), dtype=np.result_type(*factor.pivots))
    # One row per joint: up the path W is carried, down the branches X.
    for k in range(tree.n):
        X, W = {k: outward.U[k]}, gains[k]
        for j in tree.ancestors(k)[1:]:
            if len(tree.children(j)) > 1:
                X[j] = -times(outward.Y[j], W)
            # psi = 1 - G S^T: joint j yields to what passes through it.
            W = W - (W * S[j]).sum(axis=0) * gains[j]
        inverse[k, k] = outward.diagonal[k]
        for j, _, entry in carried_down(tree, k, X, S, gains):
            if j > k:
                inverse[k, j] = inverse[j, k] = entry
    return inverse


def _symmetric(entry: Callable[..., AnyArray]) -> AnyArray:
    """(6, 6, N) from the entries of the lower triangle."""
    rows = [[entry(r, c) for c in range(r + 1)] for r in range(6)]
    return np.stack([np.stack([rows[max(r, c)][min(r, c)] for c in range(6)]) for r in range(6)])
