"""Dry friction and stops within one step, as set-valued laws: joints stick, and nothing chatters.

With the velocity u that smooth torques alone lead to, the velocity after a step of length h is

    v = argmin  (v - u)^T M (v - u) / 2 + h sum_j F_j |v_j|     with  lower_j <= v_j <= upper_j :

where v_j is not zero, friction is F_j against it; where it is zero, friction is whatever holds the joint, up to F_j.
The problem is convex. Coordinate descent finds which joints stick or rest on a stop, each to exactly zero or its bound;
then one factorisation gives the velocities of all others at once. Where joints are strongly coupled, the first guess of
who sticks is often wrong: descent goes on until no joint would move on its own, which for this sum of a smooth function
and one of each velocity alone is the minimum. So it has no fixed length, and takes NumPy.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.drives.groups import JointState, acting
from tauform.description.tree import Tree
from tauform.errors import SimulationError

# Sweeps of coordinate descent before the joints that move are solved for.
DESCENT_SWEEPS = 4
MAX_ROUNDS = 2000
# What a joint may still move on its own, as a share of the largest velocity, or of the smallest that counts [1/s].
MAX_ROUNDING_SHARE, MIN_SPEED = 1e-13, 1e-9


class JointBounds(NamedTuple):
    """Bounds of each joint; None where it has none."""

    lower: list[Any]
    upper: list[Any]


def dry_sizes(tree: Tree, motion: JointState) -> AnyArray:
    """(n, ...) torque of dry friction against the motion of each joint of a tree."""
    assert motion.qd is not None
    sizes = np.zeros(motion.qd.shape, dtype=np.result_type(motion.qd, tree.coefficients))
    for group, coefficients in acting(tree.drive_groups, tree.coefficients):
        if tree.drives[group.columns[0]].is_dry:
            size = group.shape.size(group.own(tree, motion), group.constants)  # type: ignore[attr-defined]
            # Several terms may rub at one joint: their sizes add up.
            sizes[group.joints[0]] = sizes[group.joints[0]] + coefficients * size
    return sizes


def settled(M: Array, u: Array, before: Array, impulses: Array, box: JointBounds) -> Array:
    """Velocities after a step.

    Args:
        M: (n, n, N) mass matrices.
        u: (n, N) velocities that smooth torques lead to.
        before: (n, N) velocities before the step.
        impulses: (n, N) h F.
        box: bounds of the velocities, (N,) each.

    Raises:
        SimulationError: the descent does not end.
    """
    M, u, before, impulses = (np.moveaxis(x, -1, 0) for x in (M, u, before, impulses))
    N = len(u)
    lower = np.stack([np.broadcast_to(-np.inf if x is None else x, N) for x in box.lower], axis=1)
    upper = np.stack([np.broadcast_to(np.inf if x is None else x, N) for x in box.upper], axis=1)
    problem = _Problem(M, (M @ u[..., None])[..., 0], impulses, lower, upper)
    # exact already where every joint goes on as it went
    v = np.clip(u - np.linalg.solve(M, (impulses * np.sign(before))[..., None])[..., 0], lower, upper)
    open_rows = np.arange(N)
    for _ in range(MAX_ROUNDS):
        part = problem.of(open_rows)
        guess = part.swept(v[open_rows])
        solved = part.solved(guess)
        # Signs may flip in the joint solve: it is taken only where the sum falls.
        better = part.objective(solved) <= part.objective(guess)
        guess = np.where(better[:, None], solved, guess)
        v[open_rows] = guess
        # Only states that are not settled yet go on.
        open_rows = open_rows[part.gap(guess) > MAX_ROUNDING_SHARE]
        if not len(open_rows):
            return np.moveaxis(v, 0, -1)
    raise unsettled()


def unsettled() -> SimulationError:
    """The error of velocities that do not settle."""
    return SimulationError(
        f"dry friction and stops found no velocity in {MAX_ROUNDS} rounds; give the friction a width, over which it "
        "changes its sign"
    )


class _Problem(NamedTuple):
    """Rows of problems: M (N, n, n), b = M u, and bounds (N, n)."""

    M: Array
    b: Array
    impulses: Array
    lower: Array
    upper: Array

    def of(self, rows: AnyArray) -> _Problem:
        return _Problem(*(x[rows] for x in self))

    def best(self, v: Array, j: int) -> Array:
        """(N,) velocity of a joint while the others keep theirs: soft threshold, then bounds."""
        # Momentum that joint j alone has to lose or keep, the others' velocities held.
        rest = self.b[:, j] - (self.M[:, j] * v).sum(axis=1) + self.M[:, j, j] * v[:, j]
        # all that friction cannot hold, a true zero where it holds everything
        left = np.sign(rest) * np.maximum(np.abs(rest) - self.impulses[:, j], 0.0)
        return np.clip(left / self.M[:, j, j], self.lower[:, j], self.upper[:, j])

    def swept(self, v: Array) -> Array:
        v = v.copy()
        for _ in range(DESCENT_SWEEPS):
            for j in range(v.shape[1]):
                v[:, j] = self.best(v, j)
        return v

    def solved(self, v: Array) -> Array:
        """The minimum over the joints that move, signs and all others held; within the bounds."""
        # The guess of who moves; what sticks or rests on a stop keeps its velocity.
        moving = (v != 0) & (v > self.lower) & (v < self.upper)
        both = moving[:, :, None] & moving[:, None]
        held = np.where(moving, 0.0, v)
        right = self.b - self.impulses * np.sign(v) - (self.M @ held[..., None])[..., 0]
        # Identity rows for held joints: one shape for all states of the batch.
        reduced = np.where(both, self.M, np.eye(v.shape[1]))
        found = np.linalg.solve(reduced, np.where(moving, right, held)[..., None])[..., 0]
        return np.clip(np.where(moving, found, v), self.lower, self.upper)

    def objective(self, v: Array) -> Array:
        """(N,) v^T M v / 2 - b^T v + sum of h F |v|."""
        smooth = 0.5 * (v * (self.M @ v[..., None])[..., 0]).sum(axis=1) - (self.b * v).sum(axis=1)
        return smooth + (self.impulses * np.abs(v)).sum(axis=1)

    def gap(self, v: Array) -> Array:
        """(N,) how far any joint would move on its own, as a share of the largest velocity."""
        steps = [np.abs(self.best(v, j) - v[:, j]) for j in range(v.shape[1])]
        return np.max(steps, axis=0) / np.maximum(np.abs(v).max(axis=1), MIN_SPEED)
