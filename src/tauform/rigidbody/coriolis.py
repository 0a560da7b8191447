"""Coriolis matrix of Christoffel symbols, so that Mdot - 2C is skew.

C = S^T I Sdot + S^T B S with the moment rate B of `moment_rate`, for composite bodies in the axes of the base, where
both I and B just add (Echeandia, Wensing 2021 reach the same recursion with a 6 x 6 B).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.sweeps.base_frame import base_inertias, base_placements, base_twists, composites, joint_axes
from tauform.rigidbody.sweeps.evaluation import TreeMotion, evaluate
from tauform.rigidbody.sweeps.moment_rate import moment_rate, rate_times, rate_transposed_times
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.spatial import ANGULAR, cross_motion, inertia_times


def coriolis_matrix(robot: Robot, q: ArrayLike, qd: ArrayLike) -> Array:
    """Coriolis matrix C(q, qd) of Christoffel symbols: C qd are the velocity torques, Mdot - 2C is skew.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.

    Returns:
        (..., n, n); friction is not part of it.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    return evaluate(
        robot, lambda q, qd: christoffel(robot.tree, q, qd), project=2, bending=bending_of(robot.tree), q=q, qd=qd
    )


def bending_of(tree: Tree) -> Callable[[TreeMotion], AnyArray]:
    """G^T M Gdot, which loops add to G^T C G; Mdot - 2C stays skew with it."""

    def bending(loops: TreeMotion) -> AnyArray:
        # Of the tree: its joints accelerate by Gdot qd where q does not.
        M = composite_rigid_body(tree, loops.vectors["q"])
        assert loops.Gdot is not None
        return loops.projected((M[:, :, None] * loops.Gdot[None]).sum(axis=1), 1)

    return bending


def christoffel(tree: Tree, q: AnyArray, qd: AnyArray) -> AnyArray:
    """(n, n, N) Coriolis matrix of the tree; arrays of any scalar."""
    # About the first joint, not the base's origin: a robot on a distant pedestal would lose digits in I and B.
    placements = base_placements(tree.centred, transforms_of(tree.centred, q))
    S = joint_axes(tree, placements)
    twists = base_twists(tree, S, qd)
    # The axes move with their bodies: Sdot = V x S.
    S_dot = cross_motion(np.stack(twists, axis=1), S)
    inertias = base_inertias(tree, placements)
    rates = [moment_rate(ten, twist) for ten, twist in zip(inertias, twists, strict=True)]
    # Entries between different branches stay zero: neither joint moves what the other carries.
    C = np.zeros((tree.n, tree.n, *q.shape[1:]), dtype=np.result_type(S, tree.inertias))
    bodies = zip(composites(tree, inertias), composites(tree, rates), strict=True)
    for i, (ten, rate) in enumerate(bodies):
        path = list(tree.ancestors(i))
        momentum = inertia_times(ten, S[:, i])
        # column i above the diagonal: S_j . (I Sdot_i + B S_i)
        column = inertia_times(ten, S_dot[:, i]) + rate_times(rate, S[:, i])
        C[path, i] = (S[:, path] * column[:, None]).sum(axis=0)
        # row i left of it: (I S_i) . Sdot_j + (B^T S_i) . S_j, where B^T S has no linear part
        row, above = rate_transposed_times(rate, S[:, i]), path[1:]
        C[i, above] = (S_dot[:, above] * momentum[:, None]).sum(axis=0) + (S[ANGULAR, above] * row[:, None]).sum(axis=0)
    return C
