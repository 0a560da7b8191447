"""Pairs of solids that a motion keeps apart, how far, and those that nothing could keep apart."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.motion.bounds import Bounds
from tauform.identification.motion.solids import FLOOR, Solid
from tauform.messages import counted, no_such

# Distance that links keep [m].
MIN_CLEARANCE = 0.02
# Postures within the bounds at which pairs are judged; pairs that are free in fewer are not kept apart.
JUDGED_POSTURES, MIN_FREE_SHARE = 200, 0.05
# Shapes that are nearer than this touch [m]; neighbours are drawn with a gap at their bearing.
MAX_TOUCH_GAP, MAX_BEARING_GAP = 1e-3, 2e-3

IndexPair = tuple[int, int]
Distances = Callable[[Sequence[IndexPair], Array], Array]


@dataclass(frozen=True, eq=False)
class GuardedPairs:
    """Which pairs of solids are kept apart.

    Attributes:
        pairs: indices into the solids.
        kept: (pairs,) distance to keep [m]: less than 2 cm where a pair has less room.
        ignored: names of pairs of links that touch in nearly every posture.
        joined: the same of neighbours, whose shapes meet at their joint.
        allowed: names of pairs that the user lets touch.
        bare: links that have mass and no collision shape.
    """

    pairs: tuple[IndexPair, ...]
    kept: Array
    ignored: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()

    def findings(self) -> list[str]:
        """What is not kept apart, and why, in words."""
        found = []
        if self.ignored:
            found.append(f"not kept apart, since their shapes touch in nearly every posture: {'; '.join(self.ignored)}")
        if self.joined:
            found.append(
                f"kept apart by joint limits alone: {counted(len(self.joined), 'pair')} of neighbours whose shapes "
                "meet at their joint"
            )
        if self.allowed:
            found.append(f"not kept apart, as asked: {'; '.join(self.allowed)}")
        if self.bare:
            found.append(f"not kept apart, since they have no collision shape: {', '.join(self.bare)}")
        return found


def guarded_pairs(
    robot: Robot,
    solids: Sequence[Solid],
    bounds: Bounds,
    distances: Distances,
    between_links: bool = True,
    unguarded: Iterable[tuple[str, str]] = (),
) -> GuardedPairs:
    """Pairs that touch in some postures within the bounds, or may, and are free in others.

    Args:
        distances: (pairs, N) of pairs at (N, n) postures, exact below twice MIN_CLEARANCE, beyond any above it.
        between_links: look at the links among each other, not at a floor alone.
        unguarded: names of links that may touch.
    """
    allowed = _checked_names(unguarded, solids)
    every = [pair for pair in itertools.combinations(range(len(solids)), 2) if _relevant(solids, pair, between_links)]
    asked = [pair for pair in every if frozenset(_names(solids, pair)) not in allowed]
    # The zero position is what CAD models show; others are drawn from the whole range.
    at_rest = np.clip(0.0, bounds.lower, bounds.upper)
    drawn = np.random.default_rng(0).uniform(bounds.lower, bounds.upper, (JUDGED_POSTURES, len(at_rest)))
    found = distances(asked, np.concatenate([at_rest[None], drawn]))
    near = np.array([_neighbours(robot, solids, pair) for pair in asked], dtype=bool)
    free = found > np.where(near, MAX_BEARING_GAP, MAX_TOUCH_GAP)[:, None]
    guarded = free.mean(axis=1) >= MIN_FREE_SHARE

    def chosen(which: AnyArray) -> list[IndexPair]:
        return [asked[k] for k in np.flatnonzero(which)]

    return GuardedPairs(
        tuple(chosen(guarded)),
        np.array([_kept(row, is_free) for row, is_free in zip(found[guarded], free[guarded], strict=True)]),
        _words(solids, chosen(~guarded & ~near)),
        _words(solids, chosen(~guarded & near)),
        tuple(" and ".join(sorted(names)) for names in sorted(allowed, key=sorted)),
        _bare(robot, solids) if between_links else (),
    )


def pair_name(solids: Sequence[Solid], pair: IndexPair) -> str:
    """Both frames, in words."""
    return " and ".join(_names(solids, pair))


def _kept(distance: Array, free: Array) -> float:
    """Half of the room that a pair usually has, and of that at rest if it is free there; 2 cm at most."""
    # Whole postures stay allowed: the rest position, and most of those in which the shapes do not touch.
    room = [float(np.median(distance[free])), *([float(distance[0])] if free[0] else [])]
    return min(MIN_CLEARANCE, *(x / 2 for x in room))


def _relevant(solids: Sequence[Solid], pair: IndexPair, between_links: bool) -> bool:
    # Shapes of one body never move against each other.
    return solids[pair[0]].body != solids[pair[1]].body and (between_links or solids[pair[1]].name == FLOOR)


def _neighbours(robot: Robot, solids: Sequence[Solid], pair: IndexPair) -> bool:
    a, b = (solids[i].body for i in pair)
    parents = [joint.parent for joint in robot.joints]
    # A floor is no neighbour: a first link may well dip below it.
    return solids[pair[1]].name != FLOOR and ((a >= 0 and parents[a] == b) or (b >= 0 and parents[b] == a))


def _names(solids: Sequence[Solid], pair: IndexPair) -> tuple[str, str]:
    return solids[pair[0]].name, solids[pair[1]].name


def _words(solids: Sequence[Solid], pairs: Iterable[IndexPair]) -> tuple[str, ...]:
    # A link may have several shapes: its name once.
    return tuple(dict.fromkeys(pair_name(solids, pair) for pair in pairs))


def _bare(robot: Robot, solids: Sequence[Solid]) -> tuple[str, ...]:
    shown = {solid.body for solid in solids}
    return tuple(link.name for i, link in enumerate(robot.links) if link.inertia.parameters[0] > 0 and i not in shown)


def _checked_names(unguarded: Iterable[tuple[str, str]], solids: Sequence[Solid]) -> set[frozenset[str]]:
    known = list(dict.fromkeys(solid.name for solid in solids))
    pairs = [tuple(pair) for pair in unguarded]
    for pair in pairs:
        if len(set(pair)) != 2:
            raise IdentificationError(f"unguarded: expected pairs of two links, got {pair!r}")
        for name in pair:
            if name not in known:
                raise no_such("unguarded: link with a collision shape", name, known)
    return {frozenset(pair) for pair in pairs}
