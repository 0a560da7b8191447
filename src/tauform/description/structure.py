"""Structure that joints and links of a Robot must have: a tree, depth first, with unique names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tauform.description.drives import OF_JOINTS
from tauform.description.drives.shafts import Coupled
from tauform.description.joint import Closure
from tauform.errors import DescriptionError
from tauform.messages import no_such

if TYPE_CHECKING:
    from tauform.description.robot import Robot


def check_structure(robot: Robot) -> None:
    """Raise DescriptionError or UnknownNameError where joints, links, frames, loops and tip do not fit together."""
    if not robot.joints:
        raise DescriptionError(f"robot {robot.name!r} has no moving joint; nothing is left to derive")
    if len(robot.joints) != len(robot.links):
        raise DescriptionError(
            f"robot {robot.name!r}: {len(robot.joints)} joints but {len(robot.links)} links; give one link per joint"
        )
    names = [joint.name for joint in robot.joints]
    link_names = [link.name for link in robot.links]
    for i, joint in enumerate(robot.joints):
        # Sweeps run through joints in order: a parent must be known before its children.
        # -1 is the base.
        if not -1 <= joint.parent < i:
            raise DescriptionError(f"joint {joint.name!r}: its parent must come before it; list the joints depth first")
        if names.index(joint.name) != i:
            raise DescriptionError(f"joint name {joint.name!r} is used twice; names must be unique")
        if link_names.index(link_names[i]) != i:
            raise DescriptionError(f"link name {link_names[i]!r} is used twice; names must be unique")
    for frame in robot.frames:
        if not -1 <= frame.link < len(robot.links):
            raise DescriptionError(
                f"frame {frame.name!r}: link {frame.link} does not exist; count from 0 to {len(robot.links) - 1}, "
                "-1 is the base"
            )
    # Linear loops only: general ones have no matrix F.
    if isinstance(robot.closure, Closure):
        _check_closure(robot.closure, names)
    if robot.tip is not None:
        # Looked up for its error alone.
        robot.frame(robot.tip)
    if robot.further_drives:
        check_drives(robot)


def _check_closure(closure: Closure, names: list[str]) -> None:
    if not closure.active:
        raise DescriptionError("loop constraints: no active joint is left; let at least one joint move freely")
    for k, active in enumerate(closure.active):
        if active not in names:
            raise no_such("loop constraints: active joint", active, names)
        i = names.index(active)
        # An active joint is its own coordinate: q_tree[i] = q[k].
        if closure.offset[i] or not np.array_equal(closure.F[i], np.eye(len(closure.active))[k]):
            raise DescriptionError(
                f"loop constraints: the row of active joint {active!r} must be a unit vector without offset"
            )


def check_drives(robot: Robot) -> None:
    """Raise DescriptionError where a further drive term does not fit the robot's joints."""
    names = [joint.name for joint in robot.joints]
    for term in robot.further_drives:
        if isinstance(term, OF_JOINTS):
            raise DescriptionError(
                f"{term.where} belongs to its joint: set rotor_inertia, viscous, coulomb or offset there, or use "
                "robot.with_drives"
            )
        for j in term.joints:
            if not 0 <= j < len(names):
                raise DescriptionError(f"{term.where}: joint {j} does not exist; count from 0 to {len(names) - 1}")
        types = [robot.joints[j].type for j in term.joints]
        acted_on = " and ".join(repr(names[j]) for j in term.joints)
        # A sum of rad/s and m/s is no velocity of a shaft.
        if isinstance(term, Coupled) and len({own.unit for own in types}) > 1:
            raise DescriptionError(f"{term.where}: {acted_on} share no shaft, for one turns and the other slides")
        if term.shape in ("sine", "cosine") and not all(own.is_angle for own in types):
            raise DescriptionError(f"{term.where}: {acted_on} slides; a torque that repeats needs a joint that turns")
        if term.reads & {"carried", "temperature"} and not {names[j] for j in term.joints} <= set(robot.joint_names):
            raise DescriptionError(
                f"{term.where}: {acted_on} follows other joints, which leaves its load and temperature open; act on "
                f"one of {', '.join(robot.joint_names)}"
            )
    seen: set[str] = set()
    # Names are columns: two alike could not be told apart.
    for name in robot.layout.names[robot.layout.further]:
        if name in seen:
            raise DescriptionError(f"two drive terms are called {name}; give one a label")
        seen.add(name)
