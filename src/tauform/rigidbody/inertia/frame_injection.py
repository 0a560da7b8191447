"""Velocity torques by frame injection: what each joint's own motion hands to the links that it carries.

[Safeea2018, Eqs. 4 to 17.] The motion of joint j gives a point x of link i the acceleration

    w_j x u_j(x) + 2 w_j x u_ij(x)                        (normal (6) and Coriolis (9))

with the velocity field u_j of joint j alone and u_ij of the joints between j and i (10), (16). The paper writes it for
centres of mass and revolute chains. Integrated over the link about the base's origin it takes the ten parameters as
they are, joints may slide (w = 0) and bodies may branch. With s = tr(I)/2 1 - I, half the paper's L (14), a field
w x (c + d x x) asks for the force m w x c + w x (d x h) and the moment (s w) x d + h x (w x c), which is (13) and (15).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.coriolis import bending_of
from tauform.rigidbody.sweeps.base_frame import base_inertias, base_placements, base_twists, composites, joint_axes
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.spatial import ANGULAR, LINEAR, cross


@dataclass(frozen=True, eq=False)
class FrameInjection:
    """Velocity torques by the joint that causes them.

    Attributes:
        coriolis: (..., n, n) B(q, qd) with B qd = velocity torques: column j is what frame j injects per unit of its
            velocity. It is not the matrix of Christoffel symbols: Mdot - 2B is not skew.
        centrifugal: (..., n, n) torque on joint i for a unit velocity of joint j alone, D_ijj.
    """

    coriolis: Array
    centrifugal: Array


def frame_injection(robot: Robot, q: ArrayLike, qd: ArrayLike) -> FrameInjection:
    """Coriolis matrix and centrifugal coefficients by frame injection, O(n^2).  [Safeea2018, Eqs. 4 to 17]

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.

    Returns:
        Both matrices; friction is not part of them.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    bending = bending_of(robot.tree)

    def coriolis(q: ArrayLike, qd: ArrayLike) -> Array:
        return evaluate(robot, lambda q, qd: injected(robot.tree, q, qd), project=2, bending=bending, q=q, qd=qd)

    B = coriolis(q, qd)
    if robot.closure is None:
        return FrameInjection(B, evaluate(robot, lambda q: centrifugal(robot.tree, q), project=2, q=q))
    # Tied joints move together: what one coordinate alone causes has Coriolis parts of theirs.
    columns = coriolis(np.asarray(q)[..., None, :], np.eye(robot.n_joints))
    # (..., j, i, j): column j at unit velocity j.
    return FrameInjection(B, np.diagonal(columns, axis1=-3, axis2=-1))


def injected(tree: Tree, q: AnyArray, qd: AnyArray) -> AnyArray:
    """(n, n, N) Coriolis matrix of the tree; arrays of any scalar."""
    S, inertias = _axes_and_inertias(tree, q)
    twists = base_twists(tree, S, qd)
    # 2 w x u_i(x) of each link's own twist is linear in w: three columns, which add up over what a body carries.
    own = [_columns(ten, 2 * twist) for ten, twist in zip(inertias, twists, strict=True)]
    # Velocity field of joint j, and twice what the joints up to j contribute to u_ij: u_ij = u_i - u_j.
    fields = S * qd - 2 * np.stack(twists, axis=1)
    return _matrix(tree, S, composites(tree, inertias), fields, composites(tree, own))


def centrifugal(tree: Tree, q: AnyArray) -> AnyArray:
    """(n, n, N) torques of unit velocities, one joint at a time; arrays of any scalar."""
    S, inertias = _axes_and_inertias(tree, q)
    return _matrix(tree, S, composites(tree, inertias), S, None)


def _axes_and_inertias(tree: Tree, q: AnyArray) -> tuple[AnyArray, list[AnyArray]]:
    # About the first joint: a robot on a distant pedestal would lose digits.
    placements = base_placements(tree.centred, transforms_of(tree.centred, q))
    return joint_axes(tree, placements), base_inertias(tree, placements)


def _matrix(
    tree: Tree, S: AnyArray, bodies: list[AnyArray], fields: AnyArray, columns: list[AnyArray] | None
) -> AnyArray:
    """Torques on all joints of the wrenches that each frame injects into what it carries."""
    B = np.zeros((tree.n, tree.n, *S.shape[2:]), dtype=np.result_type(S, fields, bodies[0]))
    for i, body in enumerate(bodies):
        path = list(tree.ancestors(i))
        # Frames on the path to the base, injecting into body i and all that it carries.
        w = S[ANGULAR][:, path]
        wrenches = _wrench(body[:, None], w, fields[:, path])
        if columns is not None:
            wrenches = wrenches + (columns[i][:, :, None] * w).sum(axis=1)
        B[i, path] = (S[:, i, None] * wrenches).sum(axis=0)
        # Joints above feel what frame i injects into the same bodies.
        B[path, i] = (S[:, path] * wrenches[:, :1]).sum(axis=0)
    return B


def _wrench(ten: AnyArray, w: AnyArray, field: AnyArray) -> AnyArray:
    """(6, ..., N) wrench of the accelerations w x (c + d x x), field = (d, c)."""
    m, h, (xx, xy, yy, xz, yz, zz) = ten[0], ten[1:4], ten[4:]
    c, d = field[LINEAR], field[ANGULAR]
    half = 0.5 * (xx + yy + zz)
    # s w, with the second moments of mass s
    sw = np.stack(
        [
            (half - xx) * w[0] - xy * w[1] - xz * w[2],
            (half - yy) * w[1] - xy * w[0] - yz * w[2],
            (half - zz) * w[2] - xz * w[0] - yz * w[1],
        ]
    )
    wc = cross(w, c)
    return np.concatenate([cross(sw, d) + cross(h, wc), m * wc + cross(w, cross(d, h))])


def _columns(ten: AnyArray, field: AnyArray) -> AnyArray:
    """(6, 3, N) wrenches for w along each axis."""
    unit = np.eye(3, dtype=int)[..., None]
    return _wrench(ten[:, None], unit, field[:, None])
