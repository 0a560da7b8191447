"""One robot from another: joints locked, branches left out, frames straightened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array, read_only
from tauform.description.changes.drives import carried_along
from tauform.description.changes.relations import closed_anew, constraints_of, general_closure, with_placements
from tauform.description.drives.drive import Drive
from tauform.description.drives.springs import BetweenPoints
from tauform.description.fields import number
from tauform.description.inertia import Inertia
from tauform.description.joint import Closure, Frame, HeldJoint, Joint, Link
from tauform.description.loops.coincidence import Coincidence
from tauform.description.robot import GeneralClosure, Robot
from tauform.description.transform import angle_of, rotation_x, rotation_z
from tauform.errors import DescriptionError
from tauform.messages import no_such
from tauform.portable.correct import hypot
from tauform.portable.products import chain, product

# Positions of a follower that count as the same [rad or m].
FOLLOWER_TOLERANCE = 1e-9


def locked(robot: Robot, positions: Mapping[str, float | str]) -> Robot:
    """Make joints rigid; see `Robot.locked`."""
    names = robot.joint_names
    if isinstance(robot.closure, GeneralClosure):
        return _locked_beside_loops(robot, robot.closure, positions)
    F, offset = constraints_of(robot)
    # Those of the robot are shared and read-only.
    F, offset = F.copy(), offset.copy()
    followers = {}
    for name, value in positions.items():
        if name in names:
            # q_tree = F q + offset: a locked coordinate moves from F q into the offset, and its followers with it.
            offset += F[:, names.index(name)] * number(value, f"lock: {name}")
        elif any(joint.name == name for joint in robot.joints):
            followers[name] = number(value, f"lock: {name}")
        else:
            raise no_such("lock: joint", name, names)
    free = [k for k, name in enumerate(names) if name not in positions]
    F = F[:, free]
    _check_followers(robot, followers, F, offset)
    # Bodies without any coordinate left are rigid, followers of locked joints among them.
    rigid = {int(i): float(offset[i]) for i in np.flatnonzero(~F.any(axis=1))}
    merged = _merge_rigid(robot, rigid)
    moving = [i for i in range(robot.n_bodies) if i not in rigid]
    return replace(merged, closure=_closure(F[moving], offset[moving], tuple(names[k] for k in free)))


def _locked_beside_loops(robot: Robot, closure: GeneralClosure, positions: Mapping[str, float | str]) -> Robot:
    """Joints that no function reads become rigid; the loops stay as they are."""
    names = [joint.name for joint in robot.joints]
    # A function of a locked joint would have to be evaluated inside its text.
    tied = {name for relation in closure.relations for name in (*relation.joints, *relation.reads)}
    rigid = {}
    for name, value in positions.items():
        if name not in names:
            raise no_such("lock: joint", name, names)
        if name in tied:
            raise DescriptionError(f"lock: joint {name!r} is part of a loop given by a function; lock joints beside it")
        rigid[names.index(name)] = number(value, f"lock: {name}")
    merged = _merge_rigid(robot, rigid)
    return replace(merged, closure=general_closure(merged, closed_anew(merged, closure.relations)))


def _check_followers(robot: Robot, followers: Mapping[str, float], F: Array, offset: Array) -> None:
    """A joint that follows others may be named too, as long as they are locked and put it there."""
    for i, joint in enumerate(robot.joints):
        if joint.name not in followers:
            continue
        if F[i].any():
            raise DescriptionError(f"lock: joint {joint.name!r} follows other joints; lock those instead")
        asked = followers[joint.name]
        if abs(offset[i] - asked) > FOLLOWER_TOLERANCE:
            raise DescriptionError(
                f"lock: joint {joint.name!r} follows joints that put it at {offset[i]:g}, not {asked:g}; leave it out"
            )


def with_masses(robot: Robot, masses: Mapping[str, float]) -> Robot:
    """Scale links to other masses; see `Robot.with_masses`."""
    names = [link.name for link in robot.links]
    links = list(robot.links)
    for name, value in masses.items():
        if name not in names:
            raise no_such("with_masses: link", name, names)
        mass, k = number(value, f"mass of {name}"), names.index(name)
        own = links[k].inertia
        if mass < 0:
            raise DescriptionError(f"mass of {name}: {mass:g} kg is negative")
        if not own.mass and mass:
            raise DescriptionError(f"mass of {name}: it has none, so that no shape is known to keep; give its inertia")
        # All ten grow with the mass. Unchanged ones keep their bits.
        if mass != own.mass:
            links[k] = replace(links[k], inertia=Inertia(own.parameters * (mass / own.mass)))
    return replace(robot, links=tuple(links))


def with_tool(robot: Robot, shift: ArrayLike) -> Robot:
    """Move the tool in its own axes; see `Robot.with_tool`."""
    loops = robot.closure.relations if isinstance(robot.closure, GeneralClosure) else ()
    # The loop would go with the frame, in the file that `save` writes.
    if any(isinstance(loop, Coincidence) and robot.tool.name in loop.frames for loop in loops):
        raise DescriptionError(f"tool: a loop closes at frame {robot.tool.name!r}; make another frame the tip")
    tool_from_moved = np.eye(4)
    tool_from_moved[:3, 3] = fixed_array(shift, (3,), "shift of the tool")
    moved = replace(robot.tool, link_from_frame=read_only(product(robot.tool.link_from_frame, tool_from_moved)))
    # A link that served as the tool lends its name to a frame; payloads hang at the tool by that name.
    return replace(robot, frames=(*(frame for frame in robot.frames if frame.name != moved.name), moved))


def up_to(robot: Robot, tip: str) -> Robot:
    """Keep the joints between base and tip; see `Robot.up_to`."""
    names = [*(frame.name for frame in robot.frames), *(link.name for link in robot.links)]
    if tip not in names:
        raise no_such("tip: link or frame", tip, names)
    # Ascending is base first, as joints must stand.
    kept = sorted(robot.tree.ancestors(robot.frame(tip).link))
    if not kept:
        raise DescriptionError(f"tip: no moving joint lies between the base and {tip!r}; choose a link further out")
    new_joint = {old: new for new, old in enumerate(kept)}
    # The base stays the base.
    new_index = {-1: -1, **new_joint}
    # A load on a link that goes is gone with it.
    payload = robot.payload if robot.payload and robot.frame(robot.payload.frame).link in new_index else None
    joints = tuple(replace(robot.joints[i], parent=new_index[robot.joints[i].parent]) for i in kept)
    hosts = {old: (new, np.eye(4)) for old, new in new_index.items()}
    # A joint off the path is gone, not at rest: nothing of a shaft that it shared is left.
    shared = replace(robot, further_drives=tuple(term for term in robot.further_drives if _is_kept(term, new_index)))
    return Robot(
        name=robot.name,
        joints=joints,
        links=tuple(robot.links[i] for i in kept),
        gravity=robot.gravity,
        frames=tuple(replace(f, link=new_index[f.link]) for f in robot.frames if f.link in new_index),
        tip=tip,
        closure=_closure_of_kept(robot, kept),
        held=_still_held(robot.held, joints),
        payload=payload,
        shapes=tuple(shape for shape in robot.shapes if robot.frame(shape.frame).link in new_index),
        visuals=tuple(shape for shape in robot.visuals if robot.frame(shape.frame).link in new_index),
        further_drives=carried_along(shared, joints, new_joint, hosts)[1],
    )


def _is_kept(term: Drive, new_index: Mapping[int, int]) -> bool:
    return isinstance(term, BetweenPoints) or all(j in new_index for j in term.joints)


def snapped(robot: Robot, angle: float) -> Robot:
    """Straighten frames; see `Robot.snapped`."""
    return with_placements(robot, straight_joints(robot, angle))


def straight_joints(robot: Robot, angle: float, only: int | None = None) -> tuple[Joint, ...]:
    """The joints with straight frames; `only` restricts it to one of them."""
    tolerance = number(angle, "snap")
    if not 0 <= tolerance < 0.1:
        raise DescriptionError(f"snap: expected an angle between 0 and 0.1 rad, got {angle!r}")
    # The tolerance is an angle: as a length it is that angle seen over the robot's size.
    size = max(float(np.abs(joint.parent_from_joint[:3, 3]).max()) for joint in robot.joints)
    chosen = range(robot.n_bodies) if only is None else (only,)
    joints = list(robot.joints)
    for i in chosen:
        joints[i] = _straight(joints[i], tolerance, tolerance * size)
    return tuple(joints)


def _straight(joint: Joint, angle: float, length: float) -> Joint:
    T = joint.parent_from_joint.copy()
    T[:3, :3] = _straight_rotation(T[:3, :3], angle)
    # A micrometre beside metres is what a CAD export left of zero.
    T[:3, 3] = np.where(np.abs(T[:3, 3]) <= length, 0.0, T[:3, 3])
    if np.array_equal(T, joint.parent_from_joint):
        return joint
    same_translation = np.array_equal(T[:3, 3], joint.parent_from_joint[:3, 3])
    return replace(joint, parent_from_joint=T, lengths=joint.lengths if same_translation else ())


def _straight_rotation(R: Array, tolerance: float) -> Array:
    # R = Rz(a) Rx(b) Rz(c), each angle on its own: the twist b between the two axes, and the turns about each.
    b = angle_of(hypot(float(R[0, 2]), float(R[1, 2])), R[2, 2])
    if min(b, np.pi - b) <= tolerance:  # parallel axes: only one turn is left
        flip = rotation_x(0.0 if b < 1 else np.pi)
        turn = _snap_angle(angle_of(R[1, 0], R[0, 0]), tolerance)
        return product(rotation_z(turn), flip)[:3, :3]
    a = _snap_angle(angle_of(R[0, 2], -R[1, 2]), tolerance)
    c = _snap_angle(angle_of(R[2, 0], R[2, 1]), tolerance)
    straight = chain(rotation_z(a), rotation_x(_snap_angle(b, tolerance)), rotation_z(c))[:3, :3]
    # Angles that needed no straightening leave the frame exactly as it was.
    return R if np.abs(straight - R).max() <= 4 * np.finfo(float).eps else straight


def _snap_angle(angle: float, tolerance: float) -> float:
    # The double nearest to a quarter turn, whose sine is then exactly 0 or 1.
    nearest = round(angle / (np.pi / 2)) * (np.pi / 2)
    return nearest if abs(angle - nearest) <= tolerance else angle


def _merge_rigid(robot: Robot, rigid: Mapping[int, float]) -> Robot:
    host: dict[int, int] = {-1: -1}
    host_from_link: dict[int, Array] = {-1: np.eye(4)}
    joints: list[Joint] = []
    links: list[Link] = []
    frames: list[Frame] = []
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        parent = host[joint.parent]
        host_from_joint = product(host_from_link[joint.parent], joint.parent_from_joint)
        if i in rigid:
            host[i], host_from_link[i] = parent, product(host_from_joint, joint.type.motion(rigid[i]))
            frames.append(Frame(link.name, parent, read_only(host_from_link[i])))
            # What is fixed to the base moves nothing, and needs no inertia.
            if parent >= 0:
                links[parent] = _with_inertia(links[parent], link.inertia.moved(host_from_link[i]))
        else:
            host[i], host_from_link[i] = len(joints), np.eye(4)
            lengths = () if joint.parent in rigid else joint.lengths  # they described the translation from the parent
            joints.append(replace(joint, parent=parent, parent_from_joint=host_from_joint, lengths=lengths))
            links.append(link)
    moved = [
        Frame(frame.name, host[frame.link], read_only(product(host_from_link[frame.link], frame.link_from_frame)))
        for frame in robot.frames
    ]
    # Named now: the last link may have become a frame.
    tip = robot.tip if robot.tip is not None else robot.links[-1].name
    new_joint = {i: host[i] for i in range(robot.n_bodies) if i not in rigid}
    hosts = {i: (host[i], host_from_link[i]) for i in host}
    moving, drives = carried_along(robot, tuple(joints), new_joint, hosts)
    return replace(
        robot,
        joints=moving,
        links=tuple(links),
        frames=(*moved, *frames),
        tip=tip,
        closure=None,
        further_drives=drives,
        held=_still_held((*robot.held, *_newly_held(robot, rigid)), moving),
    )


def _newly_held(robot: Robot, rigid: Mapping[int, float]) -> list[HeldJoint]:
    ancestors = {joint.name: robot.tree.ancestors(k) for k, joint in enumerate(robot.joints) if k not in rigid}
    behind = {i: tuple(name for name, those in ancestors.items() if i in those) for i in rigid}
    units = {i: "rad" if robot.joints[i].type.is_angle else "m" for i in rigid}
    return [HeldJoint(robot.joints[i].name, position, units[i], behind[i]) for i, position in rigid.items()]


def _still_held(held: Iterable[HeldJoint], joints: Iterable[Joint]) -> tuple[HeldJoint, ...]:
    """Those that joints which are left hang on."""
    left = {joint.name for joint in joints}
    own = (replace(one, carries=tuple(name for name in one.carries if name in left)) for one in held)
    return tuple(one for one in own if one.carries)


def _with_inertia(link: Link, more: Inertia) -> Link:
    return replace(link, inertia=link.inertia + more)


def _closure(F: Array, offset: Array, active: tuple[str, ...]) -> Closure | None:
    # Constraints that tie nothing would make every algorithm take the longer way.
    free = F.shape[0] == F.shape[1] and np.array_equal(F, np.eye(len(F))) and not offset.any()
    return None if free else Closure(read_only(F), read_only(offset), active)


def _closure_of_kept(robot: Robot, kept: list[int]) -> Closure | None:
    if not robot.closure:
        return None
    if isinstance(robot.closure, GeneralClosure):
        raise DescriptionError(
            f"tip: {robot.name} has joints that follow by functions or close loops, which cannot be cut; lock joints "
            "beside the loops instead, or describe the part alone"
        )
    kept_names = {robot.joints[i].name for i in kept}
    F, offset = robot.closure.F[kept], robot.closure.offset[kept]
    # A follower without its leader would be free, with other dynamics.
    for k in np.flatnonzero(F.any(axis=0)):
        leader = robot.closure.active[k]
        if leader not in kept_names:
            raise DescriptionError(f"tip: a joint on the path follows {leader!r}, which is off it; lock {leader!r}")
    columns = [k for k, name in enumerate(robot.closure.active) if name in kept_names]
    return _closure(F[:, columns], offset, tuple(robot.closure.active[k] for k in columns))
