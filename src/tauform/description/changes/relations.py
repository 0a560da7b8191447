"""Joints that follow others: relations by name, loop constraints q_tree = F q + offset, and loops that are closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array, read_only
from tauform.description.fields import number
from tauform.description.joint import Closure, Joint
from tauform.description.loops.closure import LoopRelation
from tauform.description.loops.coincidence import Coincidence, Fixes
from tauform.description.loops.expression import Expression
from tauform.description.loops.path import path_names, paths_between
from tauform.description.loops.relation import Expressed, Linear
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import DescriptionError
from tauform.messages import no_such
from tauform.portable.products import product


def general_closure(robot: Robot, relations: Sequence[LoopRelation]) -> GeneralClosure:
    """The closure of these relations; joints that none determines are active.

    Raises:
        DescriptionError: relations follow each other, or no joint is left to lead.
    """
    names = tuple(joint.name for joint in robot.joints)
    # A loop determines several joints at once, a relation one.
    passive = {name for relation in relations for name in relation.joints}
    active = tuple(name for name in names if name not in passive)
    # Then nothing would move the robot: q would be empty.
    if not active:
        raise DescriptionError("relations: no active joint is left; let at least one joint move freely")
    ordered = _in_order(relations, set(active))
    ranges = [_range(robot, name) for name in active]
    return GeneralClosure(names, active, ordered, read_only(ranges), read_only(np.ones(len(names))))


def _in_order(relations: Sequence[LoopRelation], known: set[str]) -> tuple[LoopRelation, ...]:
    """The relations in an order in which each reads joints that are known before it."""
    # Topological order, in the order that was given where there is a choice.
    waiting, ordered = list(relations), []
    while waiting:
        # One at a time from the front, which keeps the order that was given.
        ready = next((relation for relation in waiting if set(relation.reads) <= known), None)
        if ready is None:
            circle = " and ".join(repr(relation.joints[0]) for relation in waiting)
            raise DescriptionError(f"relations: {circle} follow each other; solve them for the joints that lead")
        waiting.remove(ready)
        ordered.append(ready)
        known |= set(ready.joints)
    return tuple(ordered)


def _range(robot: Robot, name: str) -> tuple[float, float]:
    joint = next(joint for joint in robot.joints if joint.name == name)
    low, high = joint.limits.lower, joint.limits.upper
    # Loops are tried out within this range where the description gives no limits.
    reach = joint.type.usual_range
    return (low if np.isfinite(low) else -reach, high if np.isfinite(high) else reach)


def relations_of(robot: Robot) -> list[LoopRelation]:
    """The relations of all joints that follow others."""
    if isinstance(robot.closure, GeneralClosure):
        return list(robot.closure.relations)
    if robot.closure is None:
        return []
    # Rows of F are the relations already; those of active joints are rows of the identity.
    rows = zip(robot.joints, robot.closure.F.tolist(), robot.closure.offset.tolist(), strict=True)
    return [
        Linear(joint.name, tuple((name, x) for name, x in zip(robot.joint_names, row, strict=True) if x), constant)
        for joint, row, constant in rows
        if joint.name not in robot.joint_names
    ]


def _related_by_functions(robot: Robot, relations: Mapping[str, Mapping[str, float | str] | str]) -> Robot:
    added: list[LoopRelation] = []
    for passive, terms in relations.items():
        _coordinate(robot, passive)
        relation: LoopRelation
        if isinstance(terms, str):
            try:
                relation = Expressed(passive, Expression(terms))
            except DescriptionError as error:
                raise DescriptionError(f"relations: {passive}: {error}") from None
        else:
            factors = {leader: number(factor, f"relations: {passive}") for leader, factor in terms.items()}
            # The empty name stands for the number one.
            constant = factors.pop("", 0.0)
            relation = Linear(passive, tuple(factors.items()), constant)
        for leader in relation.reads:
            _known_joint(robot, leader, f"relations: {passive}: joint")
        added.append(relation)
    return replace(robot, closure=general_closure(robot, [*relations_of(robot), *added]))


def _known_joint(robot: Robot, name: str, where: str) -> None:
    names = [joint.name for joint in robot.joints]
    if name not in names:
        raise no_such(where, name, names)


def closed(
    robot: Robot,
    name: str,
    frames: Sequence[str],
    passive: Sequence[str],
    start: Mapping[str, float | str],
    fixes: Fixes = "point",
) -> Robot:
    """Close a loop; see `Robot.with_closed_loop`."""
    where = f"loop {name!r}"
    if len(frames) != 2:
        raise DescriptionError(f"{where}: expected the names of two frames, got {len(frames)}")
    if fixes not in ("point", "frame"):
        raise DescriptionError(f'{where}: fixes: expected "point" or "frame", got {fixes!r}')
    # Frames, not links: loops close at bolts, which lie anywhere on a link.
    ends = [robot.frame(one) for one in frames]
    paths = paths_between(robot.joints, [(frame.link, frame.link_from_frame) for frame in ends])
    on_paths = path_names(paths)
    for joint in (*passive, *start):
        _known_joint(robot, joint, f"{where}: joint")
        if joint not in on_paths:
            raise DescriptionError(f"{where}: joint {joint!r} moves neither frame; leave it out")
    for joint in passive:
        if joint not in robot.joint_names:
            raise DescriptionError(f"{where}: joint {joint!r} follows others already; leave it out of passive")
    if not passive:
        raise DescriptionError(f"{where}: no passive joint; name those that the loop determines")
    begin = {joint: number(value, f"{where}: start: {joint}") for joint, value in start.items()}
    # Joints beside the paths move both frames alike and play no part.
    known = tuple(joint for joint in on_paths if joint not in passive)
    posture = tuple((joint, begin.get(joint, 0.0)) for joint in (*passive, *known))
    loop = Coincidence(name, (frames[0], frames[1]), tuple(passive), known, paths, fixes, posture)
    # The start posture chooses the branch: one that is not near a closed loop would choose at random.
    loop.check_start()
    return replace(robot, closure=general_closure(robot, [*relations_of(robot), loop]))


def with_placements(robot: Robot, joints: Sequence[Joint]) -> Robot:
    """The robot with joints mounted elsewhere.

    Loops that close by the geometry are closed with the new one: what they hold of it is a copy.

    Raises:
        LoopError: a loop does not close with the new geometry near the posture that chose its branch.
    """
    moved = replace(robot, joints=tuple(joints))
    if not isinstance(robot.closure, GeneralClosure):
        return moved
    return replace(moved, closure=replace(robot.closure, relations=closed_anew(moved, robot.closure.relations)))


def closed_anew(robot: Robot, relations: Sequence[LoopRelation]) -> tuple[LoopRelation, ...]:
    """The relations with the robot's present geometry."""
    return tuple(_loop_anew(robot, one) if isinstance(one, Coincidence) else one for one in relations)


def _loop_anew(robot: Robot, loop: Coincidence) -> Coincidence:
    ends = [robot.frame(name) for name in loop.frames]
    paths = paths_between(robot.joints, [(frame.link, frame.link_from_frame) for frame in ends])
    closed_loop = replace(loop, paths=paths)
    closed_loop.check_start()
    return closed_loop


def constraints_of(robot: Robot) -> tuple[Array, Array]:
    """(n_bodies, n_joints) F and (n_bodies,) offset, also of a robot whose joints are all free."""
    return robot.tree_rates, robot.closure.offset if robot.closure else np.zeros(robot.n_bodies)


def related(robot: Robot, relations: Mapping[str, Mapping[str, float | str] | str]) -> Robot:
    """Make joints follow others, beside those that follow already; see `Robot.with_relations`."""
    # Linear ones stay a matrix, with which every algorithm works; functions need a closure of their own.
    if isinstance(robot.closure, GeneralClosure) or any(isinstance(terms, str) for terms in relations.values()):
        return _related_by_functions(robot, relations)
    return _related_linearly(robot, relations)  # type: ignore[arg-type]  # no text is left


def _related_linearly(robot: Robot, relations: Mapping[str, Mapping[str, float | str]]) -> Robot:
    coordinates = list(robot.joint_names)
    active = [name for name in coordinates if name not in relations]
    # q_old = G q_new + constant, put into q_tree = F q_old + offset.
    G, constant = np.eye(len(coordinates)), np.zeros(len(coordinates))
    for passive, terms in relations.items():
        row = _coordinate(robot, passive)
        G[row] = 0.0
        for leader, factor in terms.items():
            value = number(factor, f"relations: {passive}")
            if leader == "":
                constant[row] = value
            # Not resolved here: followers of followers may go in a circle.
            elif leader in relations:
                raise DescriptionError(f"relations: {passive!r} follows {leader!r}, which itself follows; resolve it")
            else:
                G[row, _coordinate(robot, leader)] = value
    F, offset = constraints_of(robot)
    columns = [coordinates.index(name) for name in active]
    return looped(robot, product(F, G[:, columns]), product(F, constant) + offset, active)


def _coordinate(robot: Robot, name: str) -> int:
    if name not in robot.joint_names and name in [joint.name for joint in robot.joints]:
        raise DescriptionError(f"relations: joint {name!r} follows others already; relate those that it follows")
    if name not in robot.joint_names:
        raise no_such("relations: joint", name, robot.joint_names)
    return robot.joint_names.index(name)


def looped(robot: Robot, F: ArrayLike, offset: ArrayLike, active: Sequence[str]) -> Robot:
    """Add loop constraints; see `Robot.with_loops`."""
    if isinstance(robot.closure, GeneralClosure):
        raise DescriptionError(f"F: {robot.name} has loops that are not linear; add with_relations instead")
    F = fixed_array(F, (robot.n_bodies, len(active)), "F")
    offset = fixed_array(offset, (robot.n_bodies,), "offset")
    if robot.closure is not None:
        # What followed before must go on following: F = F_earlier F[active], and the offsets likewise.
        places = [[joint.name for joint in robot.joints].index(name) for name in robot.closure.active]
        earlier, start = constraints_of(robot)
        if not (
            np.allclose(F, product(earlier, F[places]))
            and np.allclose(offset, product(earlier, offset[places]) + start)
        ):
            raise DescriptionError(
                f"F: {robot.name} has constraints already, and these let joints move that follow others; "
                "let F keep them, or take the robot without them"
            )
    return replace(robot, closure=Closure(F, offset, tuple(active)))
