"""Points at which links of a loop meet: matter there may belong to either, which regroups parameters around loops.

Where two links share a point in every posture, a point mass moves from one to the other without any torque changing.
For loops that are declared by two frames the point is theirs. For linear relations it is found: sampled postures give
its numbers, named lengths of the loop give its symbols, and other values of these lengths confirm them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.base.relations.lengths import named_lengths
from tauform.closedform.base.relations.polynomial import Polynomial
from tauform.description.joint import Joint
from tauform.description.loops.coincidence import Coincidence
from tauform.description.robot import GeneralClosure, Robot
from tauform.portable.factorization import least_squares
from tauform.portable.sampling import uniform
from tauform.rigidbody.kinematics import link_placements

# Each gives three equations for the six coordinates of two points; six leave no room for chance.
N_POSTURES = 6
# Distance of two points, in lengths of the robot, at which they are one.
MAX_MEETING_DISTANCE = 1e-10
# Coordinates of a point that are this near to a length, over the robot's size, are that length.
SAME_LENGTH = 1e-9


class Meeting(NamedTuple):
    """A point that two links share, its coordinates in symbols.

    Attributes:
        first, second: the links.
        points: the point on each.
        sense: 1 or -1 where both z axes are always parallel, so that all points along them are shared; else 0.
    """

    first: int
    second: int
    points: tuple[AnyArray, AnyArray]
    sense: float


def meetings(robot: Robot) -> list[Meeting]:
    """Points that two links share in every posture, where loops make them meet."""
    found = [meeting for loop in declared_loops(robot) if (meeting := _of_frames(robot, loop)) is not None]
    # A matrix F says which joints follow, not where links meet: that has to be found.
    if robot.closure is not None and not isinstance(robot.closure, GeneralClosure):
        found += _discovered(robot)
    return found


def declared_loops(robot: Robot) -> list[Coincidence]:
    """Loops that are declared by two frames."""
    closure = robot.closure
    relations = closure.relations if isinstance(closure, GeneralClosure) else ()
    return [relation for relation in relations if isinstance(relation, Coincidence)]


def frame_lengths(robot: Robot) -> Iterator[tuple[str, float]]:
    """Names and values of the coordinates of frames that close loops: x_coupler_end."""
    for loop in declared_loops(robot):
        for name in loop.frames:
            for axis, value in zip("xyz", robot.frame(name).link_from_frame[:3, 3].tolist(), strict=True):
                if value:
                    yield f"{axis}_{name}", value


def frame_point(robot: Robot, name: str) -> AnyArray:
    """Origin of a frame on its link, in symbols."""
    values = robot.frame(name).link_from_frame[:3, 3].tolist()
    axes = zip("xyz", values, strict=True)
    symbols = [Polynomial.symbol(f"{axis}_{name}") if value else Polynomial({}) for axis, value in axes]
    return np.array(symbols, dtype=object)


def _of_frames(robot: Robot, loop: Coincidence) -> Meeting | None:
    known = [frame.name for frame in robot.frames] + [link.name for link in robot.links]
    # Frames may have been dropped since; the loop itself holds without their names.
    if not set(loop.frames) <= set(known):
        return None
    sides = [robot.frame(name) for name in loop.frames]
    points = [frame_point(robot, name) for name in loop.frames]
    # Toward the base there is no second axis to compare with.
    sense = _sense(*(_placements(robot)[:, side.link] for side in sides)) if all(x.link >= 0 for x in sides) else 0.0
    return Meeting(sides[0].link, sides[1].link, (points[0], points[1]), sense)


def _placements(robot: Robot) -> Array:
    q = uniform(np.random.default_rng(0), -np.pi, np.pi, (N_POSTURES, robot.n_joints))
    return link_placements(robot, robot.closure.inside(q) if isinstance(robot.closure, GeneralClosure) else q)


def _sense(first: Array, second: Array) -> float:
    """z . z' of two links where it is always 1 or always -1, else 0."""
    along = (first[:, :3, 2] * second[:, :3, 2]).sum(axis=1)
    always = np.abs(np.abs(along) - 1).max() <= MAX_MEETING_DISTANCE and np.ptp(along) < 1
    return float(np.round(along[0])) if always else 0.0


def _discovered(robot: Robot) -> list[Meeting]:
    q = uniform(np.random.default_rng(0), -np.pi, np.pi, (N_POSTURES, robot.n_joints))
    lengths = [length for j, joint in enumerate(robot.joints) for length in named_lengths(joint, j)]
    values = {name: value for name, value, _ in lengths}
    size = sum(map(abs, values.values())) or 1.0
    # A second robot of the same structure: what meets in both meets because of the structure, not of the numbers.
    other = _with_lengths(robot, _others(robot))
    placed, moved = link_placements(robot, q), link_placements(other, q)
    places = {name: value for j, joint in enumerate(other.joints) for name, value, _ in named_lengths(joint, j)}
    found = []
    for j in range(1, robot.n_bodies):
        for i in range(j):
            if robot.joints[j].parent == i:
                continue  # they share their axis, which the facts about joints tell
            points = _shared_point(placed[:, i], placed[:, j], size)
            symbols = None if points is None else [_symbols(p, values, size) for p in points]
            if symbols is None or any(one is None for one in symbols):
                continue
            first, second = symbols
            assert first is not None
            assert second is not None
            # Symbols that were read off the numbers must hold for other numbers too.
            if _meet(moved[:, i], first, moved[:, j], second, places, size):
                found.append(Meeting(i, j, (first, second), _sense(placed[:, i], placed[:, j])))
    return found


def _others(robot: Robot) -> dict[str, float]:
    """Other lengths: each by a factor of its own, so that equal ones no longer are; joints at one pivot stay at one."""
    others: dict[str, float] = {}
    pivots: list[tuple[int, Array, Array]] = []
    for j, joint in enumerate(robot.joints):
        lengths, offset = named_lengths(joint, j), joint.parent_from_joint[:3, 3]
        # Near one: far from zero, and from lengths at which a loop cannot close.
        factors = uniform(np.random.default_rng(j), 0.6, 1.6, (len(lengths),))
        # Two links on one shaft stay on one shaft, or the mechanism would be another.
        for parent, place, earlier in pivots:
            if parent == joint.parent and np.array_equal(place, offset) and len(earlier) == len(factors):
                factors = earlier
        pivots.append((joint.parent, offset, factors))
        others.update({name: value * factor for (name, value, _), factor in zip(lengths, factors, strict=True)})
    return others


def _with_lengths(robot: Robot, values: dict[str, float]) -> Robot:
    def moved(joint: Joint, j: int) -> Joint:
        T = np.array(joint.parent_from_joint)
        T[:3, 3] = sum((values[name] * direction for name, _, direction in named_lengths(joint, j)), np.zeros(3))
        lengths = tuple(replace(length, value=values[length.name]) for length in joint.lengths)
        return replace(joint, parent_from_joint=T, lengths=lengths)

    joints = tuple(moved(joint, j) for j, joint in enumerate(robot.joints))
    # Frames would stay behind, and with them what hangs there.
    return replace(robot, joints=joints, frames=(), tip=None, payload=None, shapes=(), visuals=())


def _shared_point(first: Array, second: Array, size: float) -> tuple[Array, Array] | None:
    """The points nearest to the origins of both links that coincide in all postures, if any do."""
    # R_i p_i + o_i = R_j p_j + o_j
    A = np.concatenate([first[:, :3, :3], -second[:, :3, :3]], axis=2).reshape(-1, 6)
    b = (second[:, :3, 3] - first[:, :3, 3]).reshape(-1)
    points = least_squares(A, b, MAX_MEETING_DISTANCE)
    gap = b - (A * points).sum(axis=1)
    return (points[:3], points[3:]) if np.abs(gap).max() <= MAX_MEETING_DISTANCE * size else None


def _symbols(point: Array, lengths: dict[str, float], size: float) -> AnyArray | None:
    """A point whose coordinates are lengths of the robot or zero."""
    coordinates = []
    for value in point.tolist():
        if abs(value) <= SAME_LENGTH * size:
            coordinates.append(Polynomial({}))
            continue
        # Exactly one: of two lengths of the same value the symbol would be a guess.
        near = [n for n, x in lengths.items() if abs(abs(x) - abs(value)) <= SAME_LENGTH * size]
        if len(near) != 1:
            return None
        sign = 1.0 if (value > 0) == (lengths[near[0]] > 0) else -1.0
        coordinates.append(Polynomial.symbol(near[0]) * sign)
    return np.array(coordinates, dtype=object)


def _meet(first: Array, p: AnyArray, second: Array, r: AnyArray, lengths: dict[str, float], size: float) -> bool:
    """Whether the points, written in symbols, coincide for these lengths too."""
    ends = [
        (placed[:, :3, :3] * np.array([x.evaluate(lengths) for x in point])).sum(axis=2) + placed[:, :3, 3]
        for placed, point in ((first, p), (second, r))
    ]
    return bool(np.abs(ends[0] - ends[1]).max() <= MAX_MEETING_DISTANCE * size)
