"""Articulated inertia: the 6 x 6 matrix between a body's acceleration and the wrench on it, joints below free."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.rigidbody.sweeps.spatial import Transform, cross, rotate, rotated_tensor

_LOWER = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))


def rigid_inertia(ten: AnyArray, like: AnyArray) -> AnyArray:
    """(6, 6, N) matrix [[I, h x], [-h x, m]] of one body, with the batch shape of `like` (N,)."""
    m, (hx, hy, hz) = ten[0], ten[1:4]
    xx, xy, yy, xz, yz, zz = ten[4:]
    # The zero has the scalar's own type, so that counting and symbolic inertias stay what they are.
    o = 0 * m
    rows = [
        [xx, xy, xz, o, -hz, hy],
        [xy, yy, yz, hz, o, -hx],
        [xz, yz, zz, -hy, hx, o],
        [o, hz, -hy, m, o, o],
        [-hz, o, hx, o, m, o],
        [hy, -hx, o, o, o, m],
    ]
    return np.broadcast_to(np.array(rows), (6, 6, *like.shape))


def articulated_to_parent(X: Transform, inertia: AnyArray) -> AnyArray:
    """The same inertia in the parent's frame, X I X^T by its blocks A, H, L = I[0:3, 0:3], I[0:3, 3:6], I[3:6, 3:6].

    R turns each block; then L' = L, H' = H + p x L, A' = A + p x H^T + (p x H'^T)^T.
    """
    # Symmetric blocks are turned by their six entries: 9 products fewer than R B R^T in full.
    L = _rotated_symmetric(X.R, inertia[3:, 3:])
    H = _rotated(X.R, inertia[:3, 3:])
    A = _rotated_symmetric(X.R, inertia[:3, :3])
    moved_H = H + cross(X.p[:, None], L)
    moved_A = np.empty_like(moved_H)
    # Only the lower half of A' is computed; A is symmetric, and rounding must not make it otherwise.
    for i, j in _LOWER:
        entry = A[i, j] + _cross_entry(X.p, H[j], i) + _cross_entry(X.p, moved_H[i], j)
        moved_A[i, j] = moved_A[j, i] = entry
    top = np.concatenate([moved_A, moved_H], axis=1)
    return np.concatenate([top, np.concatenate([np.swapaxes(moved_H, 0, 1), L], axis=1)])


def without_joint(inertia: AnyArray, k: int | None, U: AnyArray, gain: AnyArray, rotor_share: AnyArray) -> AnyArray:
    """I - U U^T / D with U = I S, D = S.U + Ia, gain = U / D: what remains when a joint yields.

    Where S is the unit vector k, row k is U Ia / D exactly (rotor_share = Ia / D), so it is zero without a rotor.
    """
    # The sum has the shape and the scalar of both.
    result = np.empty_like(inertia + gain[0])
    for i in range(6):
        for j in range(i + 1):
            # Row k is not subtracted: rounding would be left where only the rotor's share may remain.
            entry = U[j] * rotor_share if i == k else U[i] * rotor_share if j == k else inertia[i, j] - U[i] * gain[j]
            result[i, j] = result[j, i] = entry
    return result


def times(inertia: AnyArray, twist: AnyArray) -> AnyArray:
    """Wrench I a of a 6 x 6 inertia."""
    return (inertia * twist).sum(axis=1)


def _rotated_symmetric(R: AnyArray, block: AnyArray) -> AnyArray:
    xx, xy, yy, xz, yz, zz = rotated_tensor(R, np.stack([block[i, j] for i, j in _LOWER]))
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _rotated(R: AnyArray, block: AnyArray) -> AnyArray:
    """R B R^T."""
    # R B, then each row of it once more by R: (R B) R^T.
    columns = rotate(R[:, :, None], block)
    return np.stack([rotate(R, columns[i]) for i in range(3)])


def _cross_entry(a: AnyArray, b: AnyArray, i: int) -> AnyArray:
    """Component i of a x b."""
    j, k = (i + 1) % 3, (i + 2) % 3
    return a[j] * b[k] - a[k] * b[j]
