"""Moment rate of a moving body: the matrix B of its velocity-dependent wrench, 2 B V for a change V of its twist.

A body is a cloud of points r with mass m. The velocity of a point is P V with P = [-r x, 1], so that

    I = sum m P^T P,    B = sum m P^T Pdot = [[tr(K) 1 - K, 0], [-(p x), 0]],

with K = sum m rdot r^T = v h^T + [w x] (tr(I)/2 1 - I) and p the linear momentum: twelve numbers, in any frame.
B V = V x* I V for the body's own twist, B + B^T is the rate of I, and 2 B W = W x* I V + V x* I W - I (V x W): the
Mbar of Jain1993 (Eq. 2.8), and the form of the Coriolis matrix that belongs to Christoffel symbols.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.rigidbody.sweeps.spatial import ANGULAR, LINEAR, cross


def moment_rate(ten: AnyArray, twist: AnyArray) -> AnyArray:
    """(12, N): the nine entries of tr(K) 1 - K, then p; linear in the parameters and in the twist."""
    m, h = ten[0], ten[1:4]
    xx, xy, yy, xz, yz, zz = ten[4:]
    w, v = twist[ANGULAR], twist[LINEAR]
    # sum m r r^T = tr(I)/2 1 - I: second moments of mass, from the moments of inertia
    half = 0.5 * (xx + yy + zz)
    second = np.array([[half - xx, -xy, -xz], [-xy, half - yy, -yz], [-xz, -yz, half - zz]])
    # -K = -(v h^T + [w x] sum m r r^T); its trace is put back on the diagonal below
    vh = v[:, None] * h
    nine = -(vh + cross(w[:, None], second))
    trace = vh[0, 0] + vh[1, 1] + vh[2, 2]  # [w x] times a symmetric matrix has none
    for k in range(3):
        nine[k, k] = trace + nine[k, k]
    return np.concatenate([nine.reshape(9, *nine.shape[2:]), m * v + cross(w, h)])


def rate_times(rate: AnyArray, twist: AnyArray) -> AnyArray:
    """B V = ((tr(K) 1 - K) w, w x p)."""
    w = twist[ANGULAR]
    nine = rate[:9].reshape(3, 3, *rate.shape[1:])
    return np.concatenate([(nine * w).sum(axis=1), cross(w, rate[9:])])


def rate_transposed_times(rate: AnyArray, twist: AnyArray) -> AnyArray:
    """Angular part of B^T V, (tr(K) 1 - K)^T w + p x v; the linear part is zero."""
    nine = rate[:9].reshape(3, 3, *rate.shape[1:])
    return (nine * twist[ANGULAR][:, None]).sum(axis=0) + cross(rate[9:], twist[LINEAR])
