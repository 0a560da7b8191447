"""Causes: which fault explains best why a unit deviates: friction, gain or sensor, payload, exchanged columns.

A healthy unit has values x ~ N(mu, T), so that its weighted rows leave r = y - A mu ~ N(0, S) with S = I + A T A^T. A
fault adds D b along known columns D; generalized least squares give b, its covariance, and how much of r it explains.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy import stats

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.fleet.condensed import Plan
from tauform.fleet.summary import UnitSummary
from tauform.fleet.trends import load_directions

# An exchange of columns has the size 1; further off it is no exchange.
MAX_SWAP_OFF = 0.3
# Directions of a fault that show less than this share of the strongest one are open.
MIN_SHOWN = 1e-9


@dataclass(frozen=True)
class Cause:
    """A fault that would explain a unit.

    Attributes:
        name: "friction", "gain", "payload" or "swap".
        joints: of the robot, counted from 0.
        size: relative change of the friction or the gain, mass of the payload [kg], 1 for columns that are exchanged.
        deviation: standard deviation of the size.
        p_value: probability that a healthy unit looks as much like it; one of many causes that were tried.
    """

    name: str
    joints: tuple[int, ...]
    size: float
    deviation: float
    p_value: float

    def __str__(self) -> str:
        where = "all joints" if len(self.joints) > 2 else " and ".join(f"joint {j + 1}" for j in self.joints)
        if self.name == "payload":
            return f"payload {self.size:+.2f} kg"
        if self.name == "swap":
            return f"torques of {where} exchanged"
        return f"{self.name} of {where} {100 * self.size:+.0f} %"


@dataclass(frozen=True, eq=False)
class _Hypothesis:
    """A fault in the coordinates of the table: (columns, k) directions, of which the first is its size."""

    name: str
    joints: tuple[int, ...]
    directions: Array


@on_one_thread
def causes(summary: UnitSummary, mean: Array, between: Array, plan: Plan) -> list[Cause]:
    """All faults that were tried, most likely first; probabilities include that many were tried."""
    p, table = len(mean), summary.table
    A, left = table[:, :p], table[:, -1] - table[:, :p] @ mean
    # S = I + A T A^T
    root = scipy.linalg.cho_factor(np.eye(len(A)) + (A * between**2) @ A.T)
    tried = hypotheses(plan)
    found = [cause for fault in tried if (cause := _tested(fault, table, left, root, len(tried))) is not None]
    # One that takes a few numbers must not lose against one of many only by counting: chance decides.
    return sorted(found, key=lambda cause: cause.p_value)


def _tested(fault: _Hypothesis, table: Array, left: Array, root: tuple[Array, bool], count: int) -> Cause | None:
    D = table[:, :-1] @ fault.directions
    # What the motion does not show of a fault is left out of it; without its first direction nothing is left.
    size = np.linalg.norm(D, axis=0)
    shown = size > MIN_SHOWN * max(float(size.max()), 1e-300)
    if not shown[0]:
        return None
    D, size = D[:, shown], size[shown]
    solved = scipy.linalg.cho_solve(root, D)
    normal = D.T @ solved
    # Of unit columns: a kilogram and a kilogram metre are not comparable.
    covariance = np.linalg.pinv(normal / np.outer(size, size), rcond=MIN_SHOWN, hermitian=True) / np.outer(size, size)
    b = covariance @ (solved.T @ left)
    # Columns are exchanged or they are not: half of it is something else.
    if fault.name == "swap" and abs(b[0] - 1) > MAX_SWAP_OFF:
        return None
    explained = float(b @ normal @ b)
    # A survival function that underflows to zero would make all grave faults alike: it stops at the smallest number.
    p_value = min(1.0, count * max(float(stats.chi2.sf(explained, len(b))), 1e-300 / max(explained, 1.0)))
    return Cause(fault.name, fault.joints, float(b[0]), float(np.sqrt(covariance[0, 0])), p_value)


def hypotheses(plan: Plan) -> list[_Hypothesis]:
    """Friction and gain of each joint, a payload, exchanged torques of each pair."""
    n, p = len(plan.weights), len(plan.values)
    width = p + n * n
    found = [_Hypothesis("gain", (j,), _place(width, {p + n * j + j: 1.0})) for j in range(n)]
    # All at once: another unit of torque, or a supply that gives less.
    found.append(_Hypothesis("gain", tuple(range(n)), _place(width, {p + n * j + j: 1.0 for j in range(n)})))
    kinds = plan.source.design.kinds
    for j in range(n):
        # All friction of a joint by the same share.
        own = {k: plan.values[k] for k, (kind, joints) in enumerate(kinds) if kind in ("Fv", "Fc") and joints == (j,)}
        if any(own.values()):
            found.append(_Hypothesis("friction", (j,), _place(width, own)))
    load = load_directions(plan)
    if load.any():
        found.append(_Hypothesis("payload", (), np.concatenate([load, np.zeros((n * n, load.shape[1]))])))
    # Joint i shows the torque of joint k instead of its own, and the other way round.
    pairs = [(i, k) for i in range(n) for k in range(i + 1, n)]
    for i, k in pairs:
        exchange = {p + n * i + k: 1.0, p + n * i + i: -1.0, p + n * k + i: 1.0, p + n * k + k: -1.0}
        found.append(_Hypothesis("swap", (i, k), _place(width, exchange)))
    return found


def _place(width: int, entries: dict[int, float]) -> Array:
    found = np.zeros((width, 1))
    for row, value in entries.items():
        found[row] = value
    return found
