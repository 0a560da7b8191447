"""The wrench of one body as a linear function of its ten parameters."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.rigidbody.sweeps.spatial import ANGULAR, LINEAR, cross


def wrench_regressor(acceleration: AnyArray, twist: AnyArray) -> AnyArray:
    """(6, 10, N) matrix A with A @ parameters = I a + v x* I v, all in the body's frame."""
    w, v = twist[ANGULAR], twist[LINEAR]
    return _assembled(acceleration[LINEAR] + cross(w, v), acceleration[ANGULAR], w[:, None] * w)


def wrench_regressor_between(acceleration: AnyArray, twist: AnyArray, reference: AnyArray) -> AnyArray:
    """(6, 10, N) regressor of I (a - v x r / 2) + (v x* I r + r x* I v) / 2, for two twists v and r.

    This is the bilinear form whose torques are C(q, qd) qd_r with C from Christoffel symbols: it is symmetric in
    the two velocities, and for r = v it is `wrench_regressor`.
    """
    w, v = twist[ANGULAR], twist[LINEAR]
    wr = reference[ANGULAR]
    half_ww = 0.5 * (w[:, None] * wr)
    angular = acceleration[ANGULAR] - 0.5 * cross(w, wr)
    # a_linear - (w x vr + v x wr) / 2 + (w x vr + wr x v) / 2
    linear = acceleration[LINEAR] + cross(wr, v)
    return _assembled(linear, angular, half_ww + np.swapaxes(half_ww, 0, 1))


def _assembled(d: AnyArray, e: AnyArray, W: AnyArray) -> AnyArray:
    """Assemble from the acceleration d of the origin, the angular acceleration e, and W = w w^T.

    force = m d + ([e]x + W - tr(W) 1) h;  moment = h x d + I e + w x I w.
    """
    xx, yy, zz, xy, xz, yz = W[0, 0], W[1, 1], W[2, 2], W[0, 1], W[0, 2], W[1, 2]
    zero = 0 * xx
    # w x I w, with products of velocities gathered in W, so that each is computed once for all columns.
    moment = [
        [zero, zero, d[2], -d[1], e[0], e[1] - xz, -yz, e[2] + xy, yy - zz, yz],
        [zero, -d[2], zero, d[0], xz, e[0] + yz, e[1], zz - xx, e[2] - xy, -xz],
        [zero, d[1], -d[0], zero, -xy, xx - yy, xy, e[0] - yz, e[1] + xz, e[2]],
    ]
    # Columns m, mx, my, mz; a tensor needs no force.
    force = [
        [d[0], -yy - zz, xy - e[2], xz + e[1], *[zero] * 6],
        [d[1], xy + e[2], -xx - zz, yz - e[0], *[zero] * 6],
        [d[2], xz - e[1], yz + e[0], -xx - yy, *[zero] * 6],
    ]
    return np.array([np.stack(np.broadcast_arrays(*row)) for row in moment + force])
