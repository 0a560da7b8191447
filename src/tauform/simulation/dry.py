"""Dry friction and stops within one step, as set-valued laws: joints stick, and nothing chatters.

With the velocity u that smooth torques alone lead to, the velocity after a step of length h is

    v = argmin  (v - u)^T M (v - u) / 2 + h sum_j F_j |v_j|     with  lower_j <= v_j <= upper_j :

where v_j is not zero, friction is F_j against it; where it is zero, friction is whatever holds the joint, up to F_j.
The problem is convex. Coordinate descent finds which joints stick or rest on a stop, each to exactly zero or its bound;
then one factorisation gives the velocities of all others at once. Arrays are (n, ...) of any scalar, without branches.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.drives.groups import JointState, acting
from tauform.description.drives.scalars import absolute, sign
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.factorization import factorize, solve

# Sweeps of coordinate descent before the joints that move are solved for, and after it.
SWEEPS, LAST_SWEEPS = 6, 2


class Box(NamedTuple):
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
            sizes[group.joints[0]] = sizes[group.joints[0]] + coefficients * size
    return sizes


def settled(
    M: AnyArray, parents: tuple[int, ...], u: AnyArray, before: AnyArray, impulses: AnyArray, box: Box
) -> AnyArray:
    """Velocities after a step.

    Args:
        M: (n, n, ...) mass matrix.
        parents: whose branches are its zeros.
        u: (n, ...) velocities that smooth torques lead to.
        before: (n, ...) velocities before the step.
        impulses: (n, ...) h F.
        box: bounds of the velocities.
    """
    n = len(parents)
    b = [_dot(M[j], u) for j in range(n)]
    # exact already where every joint goes on as it went
    v = list(u - solve(factorize(M, parents), parents, impulses * sign(before)))
    _sweep(M, b, impulses, box, v, SWEEPS)
    moving = [absolute(sign(v[j])) * _inside(v[j], box.lower[j], box.upper[j]) for j in range(n)]
    held = [(1.0 - moving[j]) * v[j] for j in range(n)]
    reduced = np.array(
        [[M[i, j] * (moving[i] * moving[j]) + (1.0 - moving[i] if i == j else 0.0) for j in range(n)] for i in range(n)]
    )
    right = [moving[j] * (b[j] - impulses[j] * sign(v[j]) - _dot(M[j], held)) + held[j] for j in range(n)]
    v = list(solve(factorize(reduced, parents), parents, np.array(right)))
    _sweep(M, b, impulses, box, v, LAST_SWEEPS)
    return np.array(v)


def clipped(x: Any, lower: Any, upper: Any) -> Any:
    """x within its bounds, exactly at one where it would be beyond."""
    if lower is not None:
        x = lower + _positive(x - lower)
    if upper is not None:
        x = upper - _positive(upper - x)
    return x


def _sweep(M: AnyArray, b: list[Any], impulses: AnyArray, box: Box, v: list[Any], sweeps: int) -> None:
    for _ in range(sweeps):
        for j in range(len(v)):
            others = [v[k] if k != j else 0.0 for k in range(len(v))]
            rest = b[j] - _dot(M[j], others)
            # all that friction cannot hold, a true zero where it holds everything
            left = sign(rest) * _positive(absolute(rest) - impulses[j])
            v[j] = clipped(left / M[j, j], box.lower[j], box.upper[j])


def _inside(x: Any, lower: Any, upper: Any) -> Any:
    """1 strictly between its bounds, 0 at one of them."""
    inside: Any = 1.0
    if lower is not None:
        inside = inside * _positive(sign(x - lower))
    if upper is not None:
        inside = inside * _positive(sign(upper - x))
    return inside


def _positive(x: Any) -> Any:
    return 0.5 * (x + absolute(x))


def _dot(row: AnyArray, values: Any) -> Any:
    total: Any = 0.0
    for x, y in zip(row, values, strict=True):
        if not (isinstance(y, float) and y == 0.0):
            total = total + x * y
    return total
