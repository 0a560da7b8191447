"""Assembly of the bodies of a URDF or MJCF into a Robot: rigid bodies merged, z turned onto each joint's axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tauform.arrays import LARGEST, Array, read_only
from tauform.description.inertia import Inertia
from tauform.description.joint import Frame, Joint, Link
from tauform.description.joint_types import JointType
from tauform.description.robot import Robot
from tauform.description.transform import inverse, rotation_x, tidy, translation
from tauform.errors import DescriptionError
from tauform.portable.products import norm, product


@dataclass(frozen=True, eq=False)
class BodyJoint:
    """Joint between a body and its parent: about or along an axis through a point, both in the body's own frame.

    Attributes:
        axis: (3,) any length but zero.
        anchor: (3,) a point on the axis.
        reference: the position at which parent_from_body holds.
        drive: further arguments of Joint: friction, rotor inertia, limits.
    """

    name: str
    type: JointType
    axis: Array
    anchor: Array = field(default_factory=lambda: np.zeros(3))
    reference: float = 0.0
    drive: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Body:
    """A body of the format's tree, with its own frame; without a joint it is rigidly fixed to its parent."""

    name: str
    parent: str | None
    parent_from_body: Array
    inertia: Inertia
    joint: BodyJoint | None = None


def assemble(name: str, bodies: Sequence[Body], gravity: Array) -> Robot:
    """A Robot from bodies in any order; children keep the order of the sequence, depth first.

    Raises:
        DescriptionError: the bodies are not a tree with one root.
    """
    children = _children(bodies)
    joints: list[Joint] = []
    links: list[Link] = []
    frames: list[Frame] = []
    # A stack of its own: a chain of thousands of bodies is deeper than Python's recursion.
    waiting: list[tuple[Body, int, Array]] = [(children[None][0], -1, np.eye(4))]
    while waiting:
        body, host, host_from_parent = waiting.pop()
        host_from_body = tidy(product(host_from_parent, body.parent_from_body))
        if body.joint is None:
            # A body fixed to the base moves nothing: its inertia has no effect.
            if host >= 0:
                # Rigid bodies add up in the frame of the link that carries them.
                merged = links[host].inertia + body.inertia.moved(host_from_body)
                links[host] = Link(links[host].name, merged)
            frames.append(Frame(body.name, host, read_only(host_from_body)))
        else:
            body_from_joint = product(translation(body.joint.anchor), axis_frame(body.joint.axis, body.joint.name))
            joints.append(_joint(body.joint, host, product(host_from_body, body_from_joint)))
            # From here on the link's frame is the joint's frame; the body's own becomes a named frame.
            host, host_from_body = len(joints) - 1, inverse(body_from_joint)
            links.append(Link(body.name, body.inertia.moved(host_from_body)))
            # A frame that is the link's own needs no entry.
            if not np.array_equal(host_from_body, np.eye(4)):
                frames.append(Frame(body.name, host, read_only(host_from_body)))
        # Depth first, children in the order of the file: the order of joints that q has.
        waiting.extend((child, host, host_from_body) for child in reversed(children.get(body.name, [])))
    return Robot(name, tuple(joints), tuple(links), gravity, tuple(frames))


def _children(bodies: Sequence[Body]) -> dict[str | None, list[Body]]:
    children: dict[str | None, list[Body]] = {}
    parents = {}
    for body in bodies:
        if body.name in parents:
            raise DescriptionError(
                f"link {body.name!r} has two parents; a tree format cannot hold a closed loop: "
                "cut it there and add it with Robot.with_relations or Robot.with_loops"
            )
        parents[body.name] = body.parent
        children.setdefault(body.parent, []).append(body)
    roots = [body.name for body in children.get(None, [])]
    if len(roots) > 1:
        raise DescriptionError(f"links {roots[0]!r} and {roots[1]!r} both have no parent; connect them by a joint")
    # A closed ring of bodies has parents everywhere and no root.
    reached = set(roots)
    for root in roots:
        waiting = [root]
        while waiting:
            below = [child.name for child in children.get(waiting.pop(), [])]
            reached.update(below)
            waiting.extend(below)
    lost = [body.name for body in bodies if body.name not in reached]
    if lost:
        raise DescriptionError(
            f"link {lost[0]!r} is part of a closed loop that no root leads to; give the robot one base link"
        )
    return children


def _joint(joint: BodyJoint, parent: int, parent_from_joint: Array) -> Joint:
    # The file's zero is not the joint's: the placement takes the difference, so that q counts as the file says.
    if joint.reference:
        parent_from_joint = product(parent_from_joint, joint.type.motion(-joint.reference))
    return Joint(
        joint.name, joint.type.name, parent, tidy(parent_from_joint), constants=joint.type.constants, **joint.drive
    )


def axis_frame(axis: Array, joint: str) -> Array:
    """(4, 4) rotation whose z axis is the given one; made of 0 and +-1 where the axis is a coordinate axis."""
    usable = float(np.abs(axis).max()) < LARGEST  # whose square is still a number
    length = norm(np.asarray(axis, dtype=np.float64)) if usable else 0.0
    if not np.isfinite(length) or length == 0:
        raise DescriptionError(f"joint {joint!r}: axis {np.asarray(axis).tolist()} has no direction; give one")
    z = np.asarray(axis, dtype=np.float64) / length
    k = int(np.argmax(np.abs(z)))
    T = np.eye(4)
    # Exact zeros and ones: no rounding enters the closed form by a turned axis.
    if abs(z[k]) == 1.0:
        # cyclic permutation of the axes that brings z onto axis k, turned over for a negative one
        T[:3, :3] = np.roll(np.eye(3), k - 2, axis=0)
        return T if z[k] > 0 else product(T, rotation_x(np.pi))
    # x is normal to z and to the coordinate axis farthest from it, so that zeros of the axis stay zeros of the frame
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x = x / norm(x)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    return tidy(T)
