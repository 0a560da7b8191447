"""Sweep: proof that solids stay apart at every moment of a motion, between its samples too.

Between two moments no point moves further than the joints carry it.  With distances d_a and d_b at both, and paths of
both solids of length L in all, they stay apart by at least (d_a + d_b - L) / 2.  Intervals that this does not settle
are halved: conservative advancement, from coarse to fine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.identification.motion.clearance import Clearance, Nearest, measured_distances, placements
from tauform.identification.motion.solids import Solid
from tauform.identification.motion.trajectory import Basis
from tauform.rigidbody.kinematics import link_placements

# Intervals per function of time to begin with, and of the finest grid at most.
COARSE_INTERVALS, MAX_INTERVALS = 16, 16_384
# Accelerations between moments of the finest grid, in parts of the largest on it: sixteen or more moments per function
# leave 1 / cos(pi / 16) of a Fourier series and 3 % of a quintic's peak unseen.
UNSEEN_ACCELERATION = 1.05


@dataclass(frozen=True, eq=False)
class Moments:
    """A motion on a grid, and how far each joint moves up to each moment.

    Attributes:
        q: (N + 1, n) positions.
        path: (N + 1, n) bounds of the sum of all that a joint has moved, forth and back.
        coarse: steps of the finest grid that make one of the coarsest.
    """

    q: Array
    path: Array
    coarse: int

    @classmethod
    def of(cls, start: Array, amplitudes: Array, sampled: Callable[[int], Basis]) -> Moments:
        """Moments of start + amplitudes @ functions.

        Args:
            sampled: the functions at so many equal intervals.
        """
        n_functions = amplitudes.shape[1]
        coarse = 1
        while COARSE_INTERVALS * n_functions * coarse * 2 <= MAX_INTERVALS:
            coarse *= 2
        basis = sampled(COARSE_INTERVALS * n_functions * coarse)
        step = float(basis.t[1] - basis.t[0])
        speed = np.abs(amplitudes @ basis.rates).T
        peak = UNSEEN_ACCELERATION * np.abs(amplitudes @ basis.accelerations).max(axis=1)
        # Half a step from either end no joint gains more than half a step of its largest acceleration.
        moved = step * (np.maximum(speed[:-1], speed[1:]) + peak * step / 2)
        path = np.concatenate([np.zeros((1, len(start))), np.cumsum(moved, axis=0)])
        return cls(start + (amplitudes @ basis.values).T, path, coarse)


def closest(clearance: Clearance, moments: Moments) -> Nearest:
    """The first pair that is not proven to keep its distance, with how far it falls short; positive if all do."""
    q, stride = moments.q, moments.coarse
    weights = [_weights(clearance, k, moments) for k in range(len(clearance.pairs))]
    known = [np.full(len(q), np.nan) for _ in weights]
    unsettled: dict[int, AnyArray] = {k: np.arange(0, len(q) - 1, stride) for k in range(len(weights))}
    while unsettled:
        # Placements of one level at a time: most of the finest grid is never looked at.
        needed = np.unique(np.concatenate([np.concatenate([at, at + stride]) for at in unsettled.values()]))
        placed = link_placements(clearance.robot, q[needed])
        at_moment = [placements(solid, placed) for solid in clearance.solids]
        left: dict[int, AnyArray] = {}
        for k, begin in unsettled.items():
            L = (moments.path[begin + stride] - moments.path[begin]) @ weights[k]
            least = _settle(clearance, k, at_moment, needed, (begin, begin + stride), L, known[k])
            if least.min() < 0 and (stride == 1 or np.nanmin(known[k]) <= clearance.kept[k]):
                return Nearest(
                    min(float(least.min()), float(np.nanmin(known[k])) - clearance.kept[k]), clearance.words(k)
                )
            if (least < 0).any():
                again = begin[least < 0]
                left[k] = np.concatenate([again, again + stride // 2])
        unsettled, stride = left, stride // 2
    return Nearest(np.inf, "")


def _settle(
    clearance: Clearance,
    k: int,
    at_moment: list[Array],
    needed: AnyArray,
    ends: tuple[AnyArray, AnyArray],
    L: Array,
    known: Array,
) -> Array:
    """(intervals,) lower bounds of how far a pair stays beyond what it keeps; exact distances go into `known`."""
    i, j = clearance.pairs[k]
    first, second = clearance.solids[i], clearance.solids[j]
    begin, end = (np.searchsorted(needed, at) for at in ends)
    # Balls around the solids first, as in a search: they settle most intervals without an exact distance.
    apart = np.linalg.norm(_centres(second, at_moment[j]) - _centres(first, at_moment[i]), axis=1)
    least = np.where(np.isnan(known[needed]), apart - first.radius - second.radius, known[needed])
    beyond = (least[begin] + least[end] - L) / 2 - clearance.kept[k]
    open_ = beyond <= 0
    ask = np.unique(np.concatenate([begin[open_], end[open_]]))
    ask = ask[np.isnan(known[needed[ask]])]
    known[needed[ask]] = measured_distances(first, second, at_moment[i], at_moment[j], ask).distance
    exact = np.where(np.isnan(known[needed]), least, known[needed])
    result: Array = (exact[begin] + exact[end] - L) / 2 - clearance.kept[k]
    return result


def _centres(solid: Solid, at: Array) -> Array:
    centres: Array = at[:, :3, :3] @ solid.centre + at[:, :3, 3]
    return centres


def _weights(clearance: Clearance, k: int, moments: Moments) -> Array:
    """(n,) how far a unit of each joint moves the solids of a pair against each other, at most."""
    robot = clearance.robot
    first, second = (clearance.solids[i] for i in clearance.pairs[k])
    one, other = (_reaches(robot, solid, moments) for solid in (first, second))
    # What carries both moves neither against the other.
    apart = np.where((one > 0) & (other > 0), 0.0, one + other)
    weights: Array = apart @ np.abs(robot.tree_rates)
    return weights


def _reaches(robot: Robot, solid: Solid, moments: Moments) -> Array:
    """(n_bodies,) path of a solid's points per unit of each joint that carries it, at most; zero for others."""
    reaches = np.zeros(robot.n_bodies)
    placement = solid.body_from_solid
    # Distance of the farthest point from the origin of the link's frame, whatever the posture.
    reach = float(np.linalg.norm(placement[:3, :3] @ solid.centre + placement[:3, 3])) + solid.radius
    slid = np.abs(moments.q).max(axis=0) + moments.path[-1] / (len(moments.path) - 1)
    i = solid.body
    while i >= 0:
        joint = robot.joints[i]
        about, along = (abs(x) for x in joint.type.screw)
        reaches[i] = about * reach + along
        # A slide takes the link's origin away from its joint.
        offset = 0.0 if robot.closure is None else float(abs(robot.closure.offset[i]))
        out = float(np.abs(robot.tree_rates[i]) @ slid) + offset
        reach += float(np.linalg.norm(joint.parent_from_joint[:3, 3])) + along * out
        i = joint.parent
    return reaches
