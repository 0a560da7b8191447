"""Coriolis matrix of Christoffel symbols, so that Mdot - 2C is skew.

A body is a cloud of points r with mass m, and for points C = sum m J^T Jdot. In spatial terms the velocity of a
point is P V with P = [-r x, 1] and V = S qd, so that

    C = S^T I Sdot + S^T B S,  I = sum m P^T P,  B = sum m P^T Pdot = [[tr(K) 1 - K, 0], [-(p x), 0]],

with K = sum m rdot r^T = v h^T + [w x] (tr(I)/2 1 - I) and p the linear momentum. In the base's axes K and p of
composite bodies just add (Echeandia, Wensing 2021 reach the same recursion with a 6 x 6 B).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.base_frame import base_inertias, base_placements, composites, joint_axes
from tauform.rigidbody.door import evaluate
from tauform.rigidbody.motion import transforms_of
from tauform.rigidbody.spatial import ANGULAR, LINEAR, cross, cross_motion, inertia_times


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
    return evaluate(robot, lambda q, qd: christoffel(robot.tree, q, qd), project=2, q=q, qd=qd)


def christoffel(tree: Tree, q: AnyArray, qd: AnyArray) -> AnyArray:
    """(n, n, N) Coriolis matrix of the tree; arrays of any scalar."""
    placements = base_placements(tree, transforms_of(tree, q))
    S = joint_axes(tree, placements)
    twists = _base_twists(tree, S, qd)
    # The axes move with their bodies: Sdot = V x S.
    S_dot = cross_motion(np.stack(twists, axis=1), S)
    inertias = base_inertias(tree, placements)
    rates = [_moment_rate(ten, twist) for ten, twist in zip(inertias, twists, strict=True)]
    C = np.zeros((tree.n, tree.n, *q.shape[1:]), dtype=np.result_type(S, tree.inertias))
    bodies = zip(composites(tree, inertias), composites(tree, rates), strict=True)
    for i, (ten, rate) in enumerate(bodies):
        path = list(tree.ancestors(i))
        momentum = inertia_times(ten, S[:, i])
        # column i above the diagonal: S_j . (I Sdot_i + B S_i)
        column = inertia_times(ten, S_dot[:, i]) + _rate_times(rate, S[:, i])
        C[path, i] = (S[:, path] * column[:, None]).sum(axis=0)
        # row i left of it: (I S_i) . Sdot_j + (B^T S_i) . S_j, where B^T S has no linear part
        row, above = _rate_transposed_times(rate, S[:, i]), path[1:]
        C[i, above] = (S_dot[:, above] * momentum[:, None]).sum(axis=0) + (S[ANGULAR, above] * row[:, None]).sum(axis=0)
    return C


def _base_twists(tree: Tree, S: AnyArray, qd: AnyArray) -> list[AnyArray]:
    twists: list[AnyArray] = []
    for i, parent in enumerate(tree.parents):
        own = S[:, i] * qd[i]
        twists.append(twists[parent] + own if parent >= 0 else own)
    return twists


def _moment_rate(ten: AnyArray, twist: AnyArray) -> AnyArray:
    """(12, N): the nine entries of tr(K) 1 - K, then the linear momentum."""
    m, h = ten[0], ten[1:4]
    xx, xy, yy, xz, yz, zz = ten[4:]
    w, v = twist[ANGULAR], twist[LINEAR]
    half = 0.5 * (xx + yy + zz)
    second = np.array([[half - xx, -xy, -xz], [-xy, half - yy, -yz], [-xz, -yz, half - zz]])
    K = v[:, None] * h + cross(w[:, None], second)
    nine = -K
    trace = (v * h).sum(axis=0)
    for k in range(3):
        nine[k, k] = trace + nine[k, k]
    return np.concatenate([nine.reshape(9, *nine.shape[2:]), m * v + cross(w, h)])


def _rate_times(rate: AnyArray, twist: AnyArray) -> AnyArray:
    """B V = ((tr(K) 1 - K) w, w x p)."""
    w = twist[ANGULAR]
    nine = rate[:9].reshape(3, 3, *rate.shape[1:])
    return np.concatenate([(nine * w).sum(axis=1), cross(w, rate[9:])])


def _rate_transposed_times(rate: AnyArray, twist: AnyArray) -> AnyArray:
    """Angular part of B^T V, (tr(K) 1 - K)^T w + p x v; the linear part is zero."""
    nine = rate[:9].reshape(3, 3, *rate.shape[1:])
    return (nine * twist[ANGULAR][:, None]).sum(axis=0) + cross(rate[9:], twist[LINEAR])
