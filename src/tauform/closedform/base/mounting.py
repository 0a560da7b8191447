"""The robot with six extra joints: on a base that moves, or with a force sensor in front of a joint."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import AnyArray, Array, read_only
from tauform.description.inertia import Inertia
from tauform.description.joint import Closure, Joint, Link
from tauform.description.joint_types import PRISMATIC, REVOLUTE
from tauform.description.robot import GeneralClosure, Robot
from tauform.description.transform import inverse
from tauform.portable.products import product

# Slides along x, y, z, then turns about x, y, z; a joint's own axis is z.
N_FREEDOMS = 6
_TO_AXIS = (
    # Rotations whose third column is x, y and z: they turn a joint's z onto that axis.
    np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]),
    np.eye(3),
)


@dataclass(frozen=True, eq=False)
class Mounted:
    """A robot with six freedoms inserted.

    Attributes:
        robot: with the massless links of the six freedoms.
        freedoms: their places in its q.
        columns: (n_parameters,) index into its parameters of each parameter of the original.
    """

    robot: Robot
    freedoms: tuple[int, ...]
    columns: AnyArray


def mounted(robot: Robot, joint: int | None = None) -> Mounted:
    """Six freedoms under the whole robot, or just in front of one joint."""
    at = 0 if joint is None else joint
    placed = np.eye(4) if joint is None else robot.joints[joint].parent_from_joint
    parent = -1 if joint is None else robot.joints[joint].parent
    added = _freedoms(at, parent, placed)
    joints = list(robot.joints[:at]) + added
    for i in range(at, robot.n_bodies):
        old = robot.joints[i]
        # Under the whole robot all first joints stand on the last freedom; at a joint only that one.
        on_top = old.parent == -1 if joint is None else i == joint
        # Links behind the place of insertion move up by six.
        moved_parent = at + N_FREEDOMS - 1 if on_top else old.parent + N_FREEDOMS * (old.parent >= at)
        # The freedoms already stand where the joint stood.
        placement = np.eye(4) if on_top and joint is not None else old.parent_from_joint
        # lengths are symbols of the old geometry, which no longer hold.
        joints.append(replace(old, parent=moved_parent, parent_from_joint=placement, lengths=()))
    massless = tuple(Link(freedom.name, Inertia.zero()) for freedom in added)
    links = robot.links[:at] + massless + robot.links[at:]
    bodies = [i + N_FREEDOMS * (i >= at) for i in range(robot.n_bodies)]
    # What is fixed to the base moves with it.
    base = at + N_FREEDOMS - 1 if joint is None else -1
    extended = replace(
        robot,
        joints=tuple(joints),
        links=links,
        closure=_closure(robot, at, added),
        # Frames, tip and payload play no part in a rank.
        frames=(),
        tip=None,
        payload=None,
        further_drives=tuple(term.moved({-1: base, **dict(enumerate(bodies))}) for term in robot.further_drives),
    )
    columns, layout = np.arange(extended.layout.n), extended.layout
    names = list(extended.joint_names)
    return Mounted(
        robot=extended,
        freedoms=tuple(names.index(freedom.name) for freedom in added),
        columns=np.concatenate(
            [layout.by_link(columns)[bodies].ravel(), layout.by_joint(columns)[bodies].ravel(), columns[layout.further]]
        ),
    )


def _freedoms(at: int, parent: int, placed: Array) -> list[Joint]:
    joints, previous = [], np.array(placed)
    for k in range(N_FREEDOMS):
        axis = np.eye(4)
        axis[:3, :3] = _TO_AXIS[k % 3]
        joints.append(
            Joint(
                name=f"freedom {k + 1}",
                kind=(PRISMATIC if k < 3 else REVOLUTE).name,
                parent=parent if k == 0 else at + k - 1,
                parent_from_joint=product(previous, axis),
            )
        )
        # Each freedom turns its z onto an axis and back again, so that the next starts from the same frame.
        previous = inverse(axis)
    return joints


def _closure(robot: Robot, at: int, added: list[Joint]) -> Closure | GeneralClosure | None:
    if robot.closure is None:
        return None
    if isinstance(robot.closure, GeneralClosure):
        return robot.closure.extended([freedom.name for freedom in added], at)
    F = np.zeros((robot.n_bodies + N_FREEDOMS, robot.n_joints + N_FREEDOMS))
    # Freedoms are coordinates of their own: identity rows.
    F[at : at + N_FREEDOMS, :N_FREEDOMS] = np.eye(N_FREEDOMS)
    bodies = [i + N_FREEDOMS * (i >= at) for i in range(robot.n_bodies)]
    F[bodies, N_FREEDOMS:] = robot.closure.F
    offset = np.zeros(len(F))
    offset[bodies] = robot.closure.offset
    names = (*(freedom.name for freedom in added), *robot.closure.active)
    return Closure(read_only(F), read_only(offset), names)
