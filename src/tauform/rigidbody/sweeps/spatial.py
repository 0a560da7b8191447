"""Spatial vectors in component-first arrays: (6, N) twists and wrenches, angular part first.

A twist is (w, v): angular velocity, and linear velocity of the point at the frame's origin. A wrench is (n, f):
moment about the origin, and force. A Transform holds parent_from_link: x_parent = R x_link + p.
Everything here also runs on complex, counting and symbolic scalars, hence no einsum and no matmul.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree

# Indices of the two products in each component of a x b.
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])
# Places of the six entries of a tensor, in the order of the ten parameters.
_TENSOR_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
ANGULAR, LINEAR = slice(0, 3), slice(3, 6)


class Transform(NamedTuple):
    """parent_from_link: R is (3, 3, N), p is (3, N)."""

    R: AnyArray
    p: AnyArray


def joint_transform(tree: Tree, i: int, q: AnyArray) -> Transform:
    """parent_from_link of body i at q (N,)."""
    return Transform(*tree.types[i].placed(tree.rotations[i], tree.translations[i], q))


def compose(a: Transform, b: Transform) -> Transform:
    """a b, as of base_from_parent and parent_from_link."""
    # Column by column with plain products: matmul knows neither symbols nor the batch at the end.
    R = np.stack([rotate(a.R, b.R[:, k]) for k in range(3)], axis=1)
    return Transform(R, rotate(a.R, b.p) + a.p)


def cross(a: AnyArray, b: AnyArray) -> AnyArray:
    """a x b of (3, ...) arrays."""
    product: AnyArray = a[_NEXT] * b[_LAST] - a[_LAST] * b[_NEXT]
    return product


def stacked(parts: Sequence[AnyArray]) -> AnyArray:
    """Arrays that broadcast, one after the other along a new first dimension."""
    shape = parts[0].shape
    # Of equal shapes, as nearly always, without the calls of NumPy that cost more than the arithmetic of symbols.
    if all(part.shape == shape for part in parts):
        return np.array(parts)
    return np.stack(np.broadcast_arrays(*parts))


def rotate(R: AnyArray, v: AnyArray) -> AnyArray:
    """R v."""
    # No matmul: the batch stands last, and scalars may be symbols.
    return (R * v).sum(axis=1)


def rotate_back(R: AnyArray, v: AnyArray) -> AnyArray:
    """R^T v."""
    return (R * v[:, None]).sum(axis=0)


def twist_to_child(X: Transform, twist: AnyArray) -> AnyArray:
    """A parent's twist seen in the link's frame: w' = R^T w, v' = R^T (v + w x p)."""
    w, v = twist[ANGULAR], twist[LINEAR]
    return np.concatenate([rotate_back(X.R, w), rotate_back(X.R, v + cross(w, X.p))])


def wrench_to_parent(X: Transform, wrench: AnyArray) -> AnyArray:
    """A wrench on the link seen in the parent's frame: f' = R f, n' = R n + p x f'."""
    f = rotate(X.R, wrench[LINEAR])
    return np.concatenate([rotate(X.R, wrench[ANGULAR]) + cross(X.p, f), f])


def cross_motion(a: AnyArray, b: AnyArray) -> AnyArray:
    """Rate of change of a twist b that is fixed in a frame moving with twist a (Featherstone's crm)."""
    w, v = a[ANGULAR], a[LINEAR]
    return np.concatenate([cross(w, b[ANGULAR]), cross(w, b[LINEAR]) + cross(v, b[ANGULAR])])


def cross_force(a: AnyArray, f: AnyArray) -> AnyArray:
    """Rate of change of a wrench f that is fixed in a frame moving with twist a (Featherstone's crf)."""
    w, v = a[ANGULAR], a[LINEAR]
    return np.concatenate([cross(w, f[ANGULAR]) + cross(v, f[LINEAR]), cross(w, f[LINEAR])])


def inertia_times(ten: AnyArray, twist: AnyArray) -> AnyArray:
    """Momentum of a body: (I w + h x v, m v + w x h), from its ten parameters (10, N)."""
    # About the link's origin, where its parameters are linear in the torque.
    m, h = ten[0], ten[1:4]
    w, v = twist[ANGULAR], twist[LINEAR]
    xx, xy, yy, xz, yz, zz = ten[4:]
    moment = np.array(
        [
            xx * w[0] + xy * w[1] + xz * w[2],
            xy * w[0] + yy * w[1] + yz * w[2],
            xz * w[0] + yz * w[1] + zz * w[2],
        ]
    )
    return np.concatenate([moment + cross(h, v), m * v + cross(w, h)])


def inertia_to_parent(X: Transform, ten: AnyArray) -> AnyArray:
    """Ten parameters of a body in the link's frame, seen in the parent's.

    m' = m;  h' = R h + m p;  I' = R I R^T + tr(P) 1 - P with P = (R h) p^T + p h'^T, which is symmetric.
    """
    return shifted_inertia(X.p, ten[0], rotate(X.R, ten[1:4]), rotated_tensor(X.R, ten[4:]))


def shifted_inertia(p: AnyArray, m: AnyArray, Rh: AnyArray, tensor: Sequence[AnyArray]) -> AnyArray:
    """Ten parameters about a point that is p away, from mass, first moments and tensor in the same axes."""
    # First moments about the new point; the shift of the tensor is made of old and new ones.
    h = Rh + m * p
    # Diagonal entries of P have the factor p_i in common.
    (xx, yy, zz), (xy, xz, yz) = (Rh + h) * p, (Rh[i] * p[j] + p[i] * h[j] for i, j in ((0, 1), (0, 2), (1, 2)))
    shift = [yy + zz, -xy, xx + zz, -xz, -yz, xx + yy]
    moved = [turned + part for turned, part in zip(tensor, shift, strict=True)]
    return stacked([m, *h, *moved])


def rotated_tensor(R: AnyArray, six: AnyArray) -> list[AnyArray]:
    """The entries xx, xy, yy, xz, yz, zz of R I R^T."""
    xx, xy, yy, xz, yz, zz = six
    rows = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    # Entry by entry, for the six that a symmetric tensor has: nine would be computed else.
    RI = [[R[i, 0] * row[0] + R[i, 1] * row[1] + R[i, 2] * row[2] for row in rows] for i in range(3)]
    return [RI[i][0] * R[j, 0] + RI[i][1] * R[j, 1] + RI[i][2] * R[j, 2] for i, j in _TENSOR_ENTRIES]
