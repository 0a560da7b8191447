"""Jain1993 Algorithm 1: the change of torque under small changes of motion, O(n), no matrix.

With eta = Sdot dq + S dqd and beta = Sddot dq + 2 Sdot dqd + S dqdd, both summed from the base, a body's wrench
changes by I beta + 2 B eta, and turning joint i turns the wrench f that it carries: S x* f dq. The paper writes this
about the base's origin for revolute chains; it holds in link frames, where an axis is a unit vector, and for trees.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.inverse_dynamics import body_wrenches, joint_torques, joint_wrenches
from tauform.rigidbody.sweeps.moment_rate import moment_rate, rate_times
from tauform.rigidbody.sweeps.motion import BodyMotions, body_motion
from tauform.rigidbody.sweeps.spatial import (
    cross_motion,
    twist_to_child,
)


class Nominal(NamedTuple):
    """The motion about which is linearised, in link frames.

    Attributes:
        motion: transforms, twists and accelerations.
        rates: moment rate of each body, (12, N).
        wrenches: wrench through each joint, (6, N).
    """

    motion: BodyMotions
    rates: list[AnyArray]
    wrenches: list[AnyArray]


def velocity_terms(tree: Tree, twists: list[AnyArray]) -> tuple[list[AnyArray], list[AnyArray]]:
    """Moment rate B of each body, and the wrench v x* I v = B v that its velocity asks for."""
    rates = [moment_rate(ten, v) for ten, v in zip(tree.inertias, twists, strict=True)]
    return rates, [rate_times(rate, v) for rate, v in zip(rates, twists, strict=True)]


def nominal_of(tree: Tree, motion: BodyMotions, rates: list[AnyArray], biases: list[AnyArray]) -> Nominal:
    """The joint wrenches of a motion with these velocity terms."""
    # Each body's own wrench; then what each joint carries, summed from the tips.
    bodies = body_wrenches(tree, motion.accelerations, biases)
    return Nominal(motion, rates, joint_wrenches(tree, motion.transforms, bodies))


def inverse_vector(
    tree: Tree, q: AnyArray, qd: AnyArray, qdd: AnyArray, dq: AnyArray, dqd: AnyArray, dqdd: AnyArray
) -> AnyArray:
    """(n, N) change of torque of links and rotors; arrays of any scalar."""
    motion = body_motion(tree, q, qd, qdd)
    nominal = nominal_of(tree, motion, *velocity_terms(tree, motion.twists))
    drifts, biases = perturbation(tree, nominal, dq, dqd)
    betas: list[AnyArray] = []
    for i, parent in enumerate(tree.parents):
        X = nominal.motion.transforms[i]
        # The sum copies: `moved` works in place and must not change the drift.
        beta = twist_to_child(X, betas[parent]) + drifts[i] if parent >= 0 else drifts[i] + 0 * drifts[i]
        betas.append(tree.types[i].moved(beta, dqdd[i]))
    # The same inward sweep as for torques, on betas in place of accelerations.
    bodies = body_wrenches(tree, betas, biases)
    return joint_torques(tree, joint_wrenches(tree, nominal.motion.transforms, bodies), dqdd)


def perturbation(tree: Tree, nominal: Nominal, dq: AnyArray, dqd: AnyArray) -> tuple[list[AnyArray], list[AnyArray]]:
    """Effect of dq and dqd: on each joint's acceleration (Sddot dq + 2 Sdot dqd), to each body's wrench."""
    transforms, twists, accelerations = nominal.motion
    etas: list[AnyArray] = []
    drifts, biases = [], []
    for i, parent in enumerate(tree.parents):
        joint = tree.types[i]
        axis_rate = joint.axis_rate(twists[i])
        # eta's own part: Sdot dq + S dqd.
        own = joint.moved(axis_rate * dq[i], dqd[i])
        etas.append(twist_to_child(transforms[i], etas[parent]) + own if parent >= 0 else own)
        # Sddot dq + 2 Sdot dqd = a x S dq + v x (Sdot dq + S dqd) + Sdot dqd
        drifts.append(joint.axis_rate(accelerations[i]) * dq[i] + cross_motion(twists[i], own) + axis_rate * dqd[i])
        # S x* f dq: turning the joint turns the wrench that it carries.
        turned = joint.axis_cross_force(nominal.wrenches[i]) * dq[i]
        biases.append(rate_times(nominal.rates[i], etas[i] + etas[i]) + turned)
    return drifts, biases


def zero_base(like: AnyArray) -> AnyArray:
    """(6, N) acceleration of a base that does not move."""
    return np.zeros((6, *like.shape[1:]), dtype=like.dtype)
