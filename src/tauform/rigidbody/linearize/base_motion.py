"""A motion in the axes and about the origin of the base: what the matrices of Jain1993 are made of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.base_frame import (
    accumulated,
    base_inertias,
    base_placements,
    base_twists,
    composites,
    joint_axes,
)
from tauform.rigidbody.sweeps.moment_rate import moment_rate, rate_times
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.spatial import cross_motion, inertia_times


class BaseVelocity(NamedTuple):
    """Position and velocity.

    Attributes:
        S, S_rate: (6, n, N) joint axes and their rates V x S.
        twists: (6, N) of each body.
        inertias: (10, N) parameters of each body.
        rates: (12, N) moment rate B of each body.
        biases: (6, N) V x* I V = B V of each body.
    """

    S: AnyArray
    S_rate: AnyArray
    twists: list[AnyArray]
    inertias: list[AnyArray]
    rates: list[AnyArray]
    biases: list[AnyArray]


class BaseAcceleration(NamedTuple):
    """Acceleration.

    Attributes:
        S_curve: (6, n, N) second rates of the joint axes, A x S + V x S_rate.
        wrenches: (6, N) through each joint.
    """

    S_curve: AnyArray
    wrenches: list[AnyArray]


def base_velocity(tree: Tree, q: AnyArray, qd: AnyArray) -> BaseVelocity:
    """Axes, twists and inertias; arrays of any scalar."""
    # Moments about a distant origin would lose digits with the square of the distance.
    placements = base_placements(tree.centred, transforms_of(tree.centred, q))
    S = joint_axes(tree, placements)
    twists = base_twists(tree, S, qd)
    inertias = base_inertias(tree, placements)
    rates = [moment_rate(ten, v) for ten, v in zip(inertias, twists, strict=True)]
    biases = [rate_times(rate, v) for rate, v in zip(rates, twists, strict=True)]
    # In base axes an axis moves with its body: Sdot = V x S.
    return BaseVelocity(S, cross_motion(np.stack(twists, axis=1), S), twists, inertias, rates, biases)


def base_acceleration(tree: Tree, velocity: BaseVelocity, qd: AnyArray, qdd: AnyArray) -> BaseAcceleration:
    """Second rates of the axes, and joint wrenches with gravity."""
    # The joint's own part of the acceleration, S qdd + Sdot qd.
    own = [velocity.S[:, i] * qdd[i] + velocity.S_rate[:, i] * qd[i] for i in range(tree.n)]
    for i in range(tree.n):  # gravity is an upward acceleration of the base
        if tree.parents[i] < 0:
            own[i] = own[i] + upward(tree)
    A = accumulated(tree, own)
    # Wrench of each body: I A + V x* I V.
    bodies = [inertia_times(*pair) + bias for *pair, bias in zip(velocity.inertias, A, velocity.biases, strict=True)]
    V = np.stack(velocity.twists, axis=1)
    # Sddot = A x S + V x (V x S), with S_rate = V x S at hand.
    S_curve = cross_motion(np.stack(A, axis=1), velocity.S) + cross_motion(V, velocity.S_rate)
    return BaseAcceleration(S_curve, composites(tree, bodies))


def upward(tree: Tree) -> AnyArray:
    """(6, 1) acceleration of the base that stands for gravity."""
    return np.concatenate([0 * tree.gravity, -tree.gravity])
