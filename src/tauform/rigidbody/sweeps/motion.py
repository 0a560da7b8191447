"""The outward sweep: placement, twist and acceleration of every body."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.spatial import (
    Transform,
    cross_force,
    inertia_times,
    joint_transform,
    twist_to_child,
)


class BodyMotions(NamedTuple):
    """Motion of every body, each in its own frame; accelerations contain -gravity."""

    transforms: list[Transform]
    twists: list[AnyArray]
    accelerations: list[AnyArray]


def transforms_of(tree: Tree, q: AnyArray) -> list[Transform]:
    """parent_from_link of every body."""
    return [joint_transform(tree, i, q[rows]) for i, rows in enumerate(tree.q_rows)]


def body_twists(tree: Tree, transforms: list[Transform], qd: AnyArray) -> list[AnyArray]:
    """Twist of every body: v = X v_parent + S qd."""
    # Base to tip: a body's twist starts from its parent's. That of the fixed base is zero.
    twists: list[AnyArray] = []
    for i, parent in enumerate(tree.parents):
        v = twist_to_child(transforms[i], twists[parent]) if parent >= 0 else np.zeros((6, *qd.shape[1:]), qd.dtype)
        twists.append(tree.types[i].moved(v, qd[tree.v_rows[i]]))
    return twists


def body_accelerations(
    tree: Tree, transforms: list[Transform], twists: list[AnyArray], qd: AnyArray, qdd: AnyArray
) -> list[AnyArray]:
    """a = X a_parent + S qdd + v x S qd; with the twists of one velocity and qd of another, a = J qdd + Jdot qd."""
    # Gravity is an upward acceleration of the base.
    base = np.broadcast_to(np.concatenate([0 * tree.gravity, -tree.gravity]), (6, *qd.shape[1:]))
    accelerations: list[AnyArray] = []
    for i, parent in enumerate(tree.parents):
        a = twist_to_child(transforms[i], accelerations[parent] if parent >= 0 else base)
        own, rows = tree.types[i], tree.v_rows[i]
        # Before `moved`, which writes into its argument.
        a = a + own.drift(twists[i], qd[rows])
        accelerations.append(own.moved(a, qdd[rows]))
    return accelerations


def body_motion(tree: Tree, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> BodyMotions:
    """Transforms, twists and accelerations of all bodies; (n, N) arrays of any scalar."""
    transforms = transforms_of(tree, q)
    twists = body_twists(tree, transforms, qd)
    return BodyMotions(transforms, twists, body_accelerations(tree, transforms, twists, qd, qdd))


def velocity_wrenches(tree: Tree, twists: list[AnyArray]) -> list[AnyArray]:
    """Wrench that each body's velocity alone asks for: v x* I v."""
    return [cross_force(v, inertia_times(ten, v)) for ten, v in zip(tree.inertias, twists, strict=True)]
