"""Joint axes and composite bodies in the axes and about the origin of the base.

In one common frame a joint and a body meet in a plain inner product, so nothing is transformed in a double loop.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.spatial import Transform, compose, inertia_to_parent


def base_placements(tree: Tree, transforms: list[Transform]) -> list[Transform]:
    """base_from_link of every body (the direct kinematics)."""
    placements: list[Transform] = []
    # Base to tip: a body stands where its parent stands, moved on by its own joint.
    for i, parent in enumerate(tree.parents):
        placements.append(compose(placements[parent], transforms[i]) if parent >= 0 else transforms[i])
    return placements


def joint_axes(tree: Tree, placements: list[Transform]) -> AnyArray:
    """(6, n, N) twist of each joint at unit speed."""
    return np.stack([own.axis_in(*placed) for own, placed in zip(tree.types, placements, strict=True)], axis=1)


def base_inertias(tree: Tree, placements: list[Transform]) -> list[AnyArray]:
    """Ten parameters of each body."""
    return [inertia_to_parent(X, ten) for X, ten in zip(placements, tree.inertias, strict=True)]


def composites(tree: Tree, bodies: list[AnyArray]) -> list[AnyArray]:
    """Sum of each body and all that it carries, of any quantity that adds."""
    sums = list(bodies)
    # Tip to base: when a body is reached, all that it carries has been added to it.
    for i in reversed(range(tree.n)):
        if tree.parents[i] >= 0:
            sums[tree.parents[i]] = sums[tree.parents[i]] + sums[i]
    return sums


def base_twists(tree: Tree, axes: AnyArray, qd: AnyArray) -> list[AnyArray]:
    """Twist of each body, the sum of its joints' S qd."""
    return accumulated(tree, [axes[:, i] * qd[i] for i in range(tree.n)])


def accumulated(tree: Tree, own: list[AnyArray]) -> list[AnyArray]:
    """Sum of each body's own quantity and those of all its ancestors."""
    sums: list[AnyArray] = []
    for i, parent in enumerate(tree.parents):
        sums.append(sums[parent] + own[i] if parent >= 0 else own[i])
    return sums
