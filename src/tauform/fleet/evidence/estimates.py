"""Estimates of a unit from its windows: what it is on the whole, and how friction of one window differs from that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.fleet.evidence.condensed import Plan, Window, merged, one_block
from tauform.fleet.evidence.courses import left_of
from tauform.identification.regression.estimate import Estimate, least_squares
from tauform.identification.regression.evidence import Evidence

# Links of a unit are the fleet's within this share, where its own logs do not say otherwise.
LIKELY_SPREAD = 0.1


def held_of(windows: Sequence[Window], plan: Plan) -> Estimate:
    """See `held_in`."""
    return held_in(one_block(merged([window.evidence for window in windows])), plan)


def held_in(evidence: Evidence, plan: Plan) -> Estimate:
    """(p + n) what a unit is on the whole, which is held over time: values, and gains beyond 1 of its joints.

    Its own values, near the fleet's where logs leave them open. Without its gains, a constant fault of a drive would
    look like another change with every motion.
    """
    n, p = len(plan.weights), len(plan.values)
    triangles = evidence.triangles.copy()
    for j in range(n):
        # Of the predicted torques, a joint has the gain of its own.
        triangles[:, j, :, [p + k for k in range(n) if k != j]] = 0.0
    spread = np.maximum(LIKELY_SPREAD * np.abs(plan.values), plan.deviations)
    near = np.append(plan.values, np.zeros(n)), np.append(spread, np.full(n, LIKELY_SPREAD))
    return least_squares(replace(evidence, triangles=triangles), prior=near)


def friction_columns(plan: Plan) -> tuple[int, ...]:
    """Columns of viscous and Coulomb friction."""
    return tuple(k for k in plan.colour.moving if plan.source.design.kinds[k][0] != "Fo")


def friction_of(window: Window, held: Array, plan: Plan, noise: Array, columns: Sequence[int]) -> tuple[Array, Array]:
    """(k,) how values of some columns differ in a window from those on the whole, and their deviations.

    Args:
        held: (p + n) of the unit as a whole.
        noise: (n,) standard deviation of its rows, as if they were independent.
    """
    A, left = left_in(window, held, len(plan.values), noise)
    return changes(A, left, np.eye(len(plan.values))[:, list(columns)])


def left_in(window: Window, held: Array, p: int, noise: Array) -> tuple[Array, Array]:
    """(n, rows, p) A and (n, rows) what is left of the torques once the unit as a whole is taken off; of unit noise."""
    R = window.evidence.triangles[0]
    return R[:, :, :p] / noise[:, None, None], left_of(R, held, p) / noise[:, None]


def changes(A: Array, left: Array, directions: Array) -> tuple[Array, Array]:
    """Sizes of some directions of the values, and their deviations."""
    A, left = (A @ directions).reshape(-1, directions.shape[1]), left.reshape(-1)
    change, *_ = np.linalg.lstsq(A, left, rcond=None)
    # Pseudo-inverse: a window in which a joint rests leaves its friction open.
    variances = np.diag(np.linalg.pinv(A.T @ A))
    return np.asarray(change, dtype=np.float64), np.sqrt(np.maximum(variances, 0.0))
