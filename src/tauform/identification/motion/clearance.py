"""Clearance: distances between a robot's links along a motion, with their slopes by the joints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.motion.bounds import Bounds
from tauform.identification.motion.pairs import MIN_CLEARANCE, GuardedPairs, IndexPair, guarded_pairs, pair_name
from tauform.identification.motion.solids import FLOOR, Solid, coal_module, solids_of
from tauform.messages import counted
from tauform.rigidbody.kinematics import link_placements
from tauform.wording import argument

# While a motion is planned links keep so many times their distance, since it is seen at fewer states.
PLANNED_CLEARANCE_FACTOR = 2.0
# Weight of the mean square by which planned distances fall short, in parts of them.
SHORTFALL_WEIGHT = 30.0
# A planned motion is looked at in every so many states.
CHECKED_STATE_STRIDE = 3


class Nearest(NamedTuple):
    """The least distance along a motion, and between what."""

    distance: float
    pair: str


class Contact(NamedTuple):
    """Distances of one pair of solids that are near each other at some states, with the nearest points."""

    states: AnyArray
    distance: Array
    normal: Array
    on_first: Array
    on_second: Array


@dataclass(frozen=True, eq=False)
class Measured:
    """Distances of a pair that were measured before, and where: they bound those of poses nearby.

    Attributes:
        R, centre: (N, 3, 3) and (N, 3) pose of the second solid's ball in the frame of the first.
    """

    R: Array
    centre: Array
    distance: Array

    def at_least(self, R: Array, centre: Array, radius: float) -> Array:
        """(N,) bounds of the distances: no point moves further than its ball's centre does and its ball turns."""
        # Frobenius norm of the rotation's change: at least how far any unit vector turned.
        moved = np.linalg.norm(centre - self.centre, axis=1) + radius * np.linalg.norm(R - self.R, axis=(1, 2))
        return self.distance - moved


@dataclass(frozen=True, eq=False)
class Clearance:
    """Distances of the pairs of solids that a motion keeps apart.

    Attributes:
        guarded: the pairs, the distance that each keeps, and what is not guarded.
        measured: what a search has measured last, by pair; spares most of the next measurements.
    """

    robot: Robot
    solids: Sequence[Solid]
    guarded: GuardedPairs
    measured: dict[int, Measured] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        robot: Robot,
        bounds: Bounds,
        between_links: bool = True,
        floor: float | None = None,
        unguarded: Iterable[tuple[str, str]] = (),
    ) -> Clearance:
        """All pairs of a robot's links, except those that touch in nearly every posture within the bounds.

        Args:
            between_links: look at the links among each other.
            floor: height of a floor that moving links stay above [m].
            unguarded: names of links that may touch.

        Raises:
            IdentificationError: the robot has no shapes, or one that cannot be read; or no link can stay above the
                floor.
            MissingExtraError: coal is not installed.
        """
        if not robot.shapes:
            raise IdentificationError(f"floor: {robot.name} has no collision shapes; give a URDF that has some")
        solids = solids_of(robot, floor)

        def distances(pairs: Sequence[IndexPair], q: Array) -> Array:
            far = np.full(len(pairs), 2 * MIN_CLEARANCE)
            everything = cls(robot, solids, GuardedPairs(tuple(pairs), far))
            found = np.full((len(pairs), len(q)), 2 * MIN_CLEARANCE)
            for k, near in everything._contacts(q, far):
                found[k, near.states] = near.distance
            return found

        guarded = guarded_pairs(robot, solids, bounds, distances, between_links, unguarded)
        if floor is not None and not any(solids[pair[1]].name == FLOOR for pair in guarded.pairs):
            sentence = f"{argument('floor', floor)}: all links of {robot.name} are below it in nearly every posture"
            raise IdentificationError(sentence, argument="floor", value=floor, remedy="lower it")
        return cls(robot, solids, guarded)

    @property
    def pairs(self) -> tuple[IndexPair, ...]:
        """Indices into solids."""
        return self.guarded.pairs

    @property
    def kept(self) -> Array:
        """(pairs,) distance to keep [m]."""
        return self.guarded.kept

    def charge(self, q: Array) -> tuple[float, Array]:
        """A penalty for distances below what is planned, at some of the states, and its (N, n) slopes."""
        # Fewer states, at a larger distance: what lies between two of them is allowed for.
        seen = q[::CHECKED_STATE_STRIDE]
        placed = link_placements(self.robot, seen)
        total, slopes = 0.0, np.zeros_like(q)
        for k, near in self._contacts(seen, PLANNED_CLEARANCE_FACTOR * self.kept, placed):
            planned = PLANNED_CLEARANCE_FACTOR * self.kept[k]
            short = np.maximum(1 - near.distance / planned, 0.0)
            total += SHORTFALL_WEIGHT * float((short**2).sum()) / len(seen)
            # The slope of a squared hinge: zero from the planned distance on, so that it does not push further.
            by_distance = -2 * SHORTFALL_WEIGHT / len(seen) * short / planned
            slopes[CHECKED_STATE_STRIDE * near.states] += by_distance[:, None] * self._rates(k, near, placed)
        return total, slopes

    def nearest(self, q: Array) -> Nearest:
        """The pair that falls shortest of what it keeps, and by how much less than nothing."""
        worst = Nearest(np.inf, "")
        for k, near in self._contacts(q, self.kept):
            # Pairs keep different distances: what counts is the shortfall.
            if len(near.states) and near.distance.min() - self.kept[k] < worst.distance:
                worst = Nearest(float(near.distance.min() - self.kept[k]), self.words(k))
        return worst

    def findings(self) -> list[str]:
        """What is kept apart, and what is not, in words."""
        kept, n = 1000 * self.kept, len(self.kept)
        tight = f", {kept.min():.1f} mm where there is less room" if n and kept.min() < kept.max() else ""
        found = (
            [f"{counted(n, 'pair')} of shapes kept apart at every moment, by {kept.max():.0f} mm{tight}"] if n else []
        )
        return found + self.guarded.findings()

    def words(self, k: int) -> str:
        """Name of a pair."""
        return pair_name(self.solids, self.pairs[k])

    def _contacts(self, q: Array, within: Array, placed: Array | None = None) -> list[tuple[int, Contact]]:
        """States in which the solids of each pair may be near enough, and their distances there."""
        # Only a search, which brings its placements, asks again for almost the same states.
        searching, placed = placed is not None, link_placements(self.robot, q) if placed is None else placed
        at = [placements(solid, placed) for solid in self.solids]
        contacts = []
        for k, (i, j) in enumerate(self.pairs):
            first, second = self.solids[i], self.solids[j]
            R, centre = _relative(at[i], at[j], second.centre)
            # Balls around the solids first: most pairs are too far apart in most states for an exact distance.
            least = np.linalg.norm(centre - first.centre, axis=1) - first.radius - second.radius
            before = self.measured.get(k) if searching else None
            if before is not None and len(before.R) == len(R):
                least = np.maximum(least, before.at_least(R, centre, second.radius))
            # (k,) states whose lower bound does not exclude a meeting.
            states = np.flatnonzero(least < within[k])
            near = measured_distances(first, second, at[i], at[j], states)
            if searching:
                self._remember(k, R, centre, near)
            contacts.append((k, near))
        return contacts

    def _remember(self, k: int, R: Array, centre: Array, near: Contact) -> None:
        before = self.measured.get(k)
        # Minus infinity bounds nothing: what was not measured is measured.
        if before is None or len(before.R) != len(R):
            self.measured[k] = before = Measured(R.copy(), centre.copy(), np.full(len(R), -np.inf))
        before.R[near.states], before.centre[near.states] = R[near.states], centre[near.states]
        before.distance[near.states] = near.distance

    def _rates(self, k: int, near: Contact, placed: Array) -> Array:
        """(states, n) slopes of the distances of a pair: normal . (J_second - J_first)."""
        first, second = (self.solids[i].body for i in self.pairs[k])
        moved = self._point_rates(second, near.on_second, near, placed)
        moved = moved - self._point_rates(first, near.on_first, near, placed)
        # Rates by the tree's joints become those by q: chain rule through the closure.
        return moved @ self.robot.closure.F if self.robot.closure else moved

    def _point_rates(self, body: int, points: Array, near: Contact, placed: Array) -> Array:
        rates = np.zeros((len(points), self.robot.n_bodies))
        # Only joints between the base and the body move its points.
        for i in self.robot.tree.ancestors(body) if body >= 0 else ():
            joint = placed[near.states, i]
            axis = joint[:, :3, 2]
            about, along = self.robot.joints[i].type.screw
            # Velocity of a point that joint i moves: axis x arm of a turn, the axis itself of a slide.
            motion = about * np.cross(axis, points - joint[:, :3, 3]) + along * axis
            rates[:, i] = (near.normal * motion).sum(axis=1)
        return rates


def placements(solid: Solid, placed: Array) -> Array:
    """(N, 4, 4) of a solid in the base, from those of the links."""
    # The floor and shapes of the base stand still.
    if solid.body < 0:
        return np.broadcast_to(solid.body_from_solid, (len(placed), 4, 4))
    return placed[:, solid.body] @ solid.body_from_solid


def _relative(first: Array, second: Array, centre: Array) -> tuple[Array, Array]:
    """Rotation of the second frame in the first, and a point of the second there."""
    # A rotation's inverse is its transpose.
    back = first[:, :3, :3].swapaxes(1, 2)
    R = back @ second[:, :3, :3]
    apart = second[:, :3, 3] - first[:, :3, 3]
    return R, (back @ apart[:, :, None])[:, :, 0] + R @ centre


def measured_distances(first: Solid, second: Solid, at_first: Array, at_second: Array, states: AnyArray) -> Contact:
    """Exact distances of two solids at some of their (N, 4, 4) placements."""
    coal: Any = coal_module()
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    distance, vectors = np.empty(len(states)), np.empty((len(states), 3, 3))
    for k, state in enumerate(states):
        A, B = (coal.Transform3s(T[state, :3, :3], T[state, :3, 3]) for T in (at_first, at_second))
        # Coal adds to a result that is used again.
        result.clear()
        distance[k] = coal.distance(first.geometry, A, second.geometry, B, request, result)
        vectors[k] = result.normal, result.getNearestPoint1(), result.getNearestPoint2()
    return Contact(states, distance, vectors[:, 0], vectors[:, 1], vectors[:, 2])
