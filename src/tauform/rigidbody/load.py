"""Friction that depends on load: what joints carry, and accelerations that answer to it.

tau = rigid + other + Fl |rigid| sign(qd) with the torque `rigid` of links, rotors and gravity. Load terms act on joints
that q holds, so that what they carry is known also where loops tie joints together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray
from tauform.description.drives.dual import Dual
from tauform.description.drives.groups import JointState, acting
from tauform.description.robot import GeneralClosure, Robot
from tauform.description.tree import Tree
from tauform.errors import DescriptionError
from tauform.portable.products import product
from tauform.rigidbody.drives import friction_torque
from tauform.rigidbody.sweeps.evaluation import STATES_PER_SLICE, batched


def has_load(tree: Tree) -> bool:
    """Whether a term depends on the torque that a joint carries."""
    return any("carried" in term.reads for term in tree.drives)


def carried_torque(robot: Robot, rigid: AnyArray) -> AnyArray:
    """Torque that each joint carries, (n, ...) from that of the tree: where loops hold, of the joints that lead them.

    Works on any array whose first dimension is the tree's joints, so also on derivatives.
    """
    if robot.closure is None:
        return rigid
    _refuse_functions(robot)
    carried = np.zeros_like(rigid)
    projected = product(robot.closure.F.T, rigid.reshape(len(rigid), -1))
    # F^T tau_tree is what the motors of the loops carry; the joints that follow have no drive of their own.
    carried[leading_joints(robot)] = projected.reshape(-1, *rigid.shape[1:])
    return carried


def carried_transposed(robot: Robot, weights: AnyArray) -> AnyArray:
    """The transpose of `carried_torque`."""
    if robot.closure is None:
        return weights
    _refuse_functions(robot)
    return product(robot.closure.F, weights[leading_joints(robot)])


def _refuse_functions(robot: Robot) -> None:
    if isinstance(robot.closure, GeneralClosure):
        name = next(robot.joints[term.joints[0]].name for term in robot.further_drives if "carried" in term.reads)
        raise DescriptionError(
            f"robot {robot.name!r}: friction by load of joint {name!r} is computed beside linear relations only, and "
            "here joints follow by a function or close a loop; leave that term out (robot.with_drives)"
        )


def load_slopes(tree: Tree, motion: JointState) -> AnyArray:
    """(n, N) derivative of each joint's friction by the torque that it carries."""
    assert motion.carried is not None
    # Zeros of the same scalar type as the torque that is carried.
    slopes = 0 * motion.carried
    for group, coefficients in acting(tree.drive_groups, tree.coefficients):
        if "carried" in group.shape.reads:
            own = group.own(tree, motion)
            # A dual number gives the slope from the shape's one definition, smooth or sharp.
            (torque,) = group.torques(own._replace(carried=Dual(own.carried, {"carried": 1})))
            slopes[group.joints[0]] = slopes[group.joints[0]] + coefficients * torque.slopes["carried"]
    return slopes


def carried_under(tree: Tree, qd: AnyArray, driving: AnyArray) -> AnyArray:
    """(n, N) torque on links and rotors where torque less all other friction is `driving`.

    driving = rigid + Fl |rigid| sign(qd), so rigid = driving / (1 + Fl sign(qd) sign(driving)) for Fl below one.
    """
    # |rigid| has the slope sign(rigid), and below Fl = 1 that is the sign of driving: the gain is known beforehand.
    gain = load_slopes(tree, JointState(None, qd, carried=driving))
    return driving / (1 + gain)


def refuse_strong_load(robot: Robot) -> None:
    """Raise DescriptionError where load friction lets torques leave the acceleration open."""
    # Terms of one joint add up: two of 0.6 are as bad as one of 1.2.
    total = np.zeros(robot.n_bodies)
    for term in robot.further_drives:
        if "carried" in term.reads:
            total[term.joints[0]] += abs(term.coefficient)
    # From 1 on the map from rigid to driving torque is no longer one to one.
    if (total >= 1).any():
        j = int(np.argmax(total))
        raise DescriptionError(
            f"forward dynamics: load friction of joint {robot.joints[j].name!r} is {total[j]:g} times the torque that "
            "it carries, so that several accelerations, or none, fit a torque; it must stay below 1"
        )


def driving_torque(tree: Tree, motion: JointState, tau: AnyArray) -> AnyArray:
    """(n, N) torque that is left for links and rotors."""
    # Everything but load friction, which depends on what is left.
    driving = tau - friction_torque(tree, motion)
    if motion.qd is None or not has_load(tree):
        return driving
    return carried_under(tree, motion.qd, driving)


def load_gains(robot: Robot, qd: ArrayLike, carried: ArrayLike) -> AnyArray:
    """(..., n) derivative of each joint's friction by the torque that it carries, both in coordinates of q."""
    # Joints that follow others have no load term, so their rows may stay zero.
    leading, tree = leading_joints(robot), robot.tree

    def core(qd: AnyArray, carried: AnyArray) -> AnyArray:
        rates, loads = (np.zeros((tree.n, *qd.shape[1:]), dtype=qd.dtype) for _ in range(2))
        rates[leading], loads[leading] = qd, carried
        return load_slopes(tree, JointState(None, rates, carried=loads))[leading]

    return batched(robot.n_joints, core, STATES_PER_SLICE, qd=qd, carried=carried)


def leading_joints(robot: Robot) -> list[int]:
    """The tree's joints that q holds, in the order of q."""
    names = [joint.name for joint in robot.joints]
    return [names.index(name) for name in robot.joint_names]
