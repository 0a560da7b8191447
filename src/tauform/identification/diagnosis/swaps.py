"""Columns of joints that were exchanged on the way from the robot to the log.

A joint's smoothed position, velocity and acceleration depend on its own column alone, so an exchange is tried on the
states, without filtering anything anew; exchanged torques need not even new columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.identification.diagnosis.explained import MIN_LOG_GAIN, Explained, Order

# Neither error may grow: what helps one joint at the cost of the other makes up for another mistake, such as a wrong
# direction of gravity.
MAX_ERROR_GROWTH = 1.1
# Whether an exchange moves the columns of the motion (positions, velocities), and those of the torques.
KINDS = {"torques": (False, True), "positions": (True, False), "positions and torques": (True, True)}


@dataclass(frozen=True, eq=False)
class Swap:
    """Another order of a log's columns that explains the torques far better.

    Attributes:
        kind: a key of KINDS.
        order: joint by joint, whose columns belong to it.
        before, after: (n,) relative error of each joint's torque.
    """

    kind: str
    order: Order
    before: Array
    after: Array

    def described(self, names: tuple[str, ...]) -> str:
        """A sentence that names the joints."""
        moved = [j for j, k in enumerate(self.order) if j != k]
        joints = ", ".join(names[j] for j in moved[:-1]) + f" and {names[moved[-1]]}"
        before, after = (", ".join(f"{100 * errors[j]:.2g}" for j in moved) for errors in (self.before, self.after))
        gain = f"they leave {after} % of the torque unexplained instead of {before} %"
        if len(moved) == 2:
            return f"the columns of {joints} look swapped ({self.kind}): exchanged, {gain}"
        order = ", ".join(names[k] for k in self.order)
        return f"the columns of {joints} look mixed up ({self.kind}): taken as those of {order}, {gain}"


@on_one_thread
def find_swap(explained: Explained) -> Swap | None:
    """The order of columns that explains the torques far better than the one they have, if there is such an order.

    It is found by exchanging two joints at a time, as long as that makes a great difference.
    """
    as_is, before = explained.as_is, explained.before
    if explained.needs_no_reason or len(as_is) < 2:
        return None
    found = [Swap(kind, *_best_order(explained, kind, before)) for kind in KINDS]
    best = min(found, key=lambda swap: float(np.log(swap.after).sum()))
    best = replace(best, before=np.sqrt(best.before), after=np.sqrt(best.after))
    # Torques of an exchanged column are compared with themselves, wherever they belong.
    column = list(best.order) if KINDS[best.kind][1] else list(as_is)
    moved = np.array(best.order) != as_is
    helps = moved.any() and (best.after <= MAX_ERROR_GROWTH * best.before[column])[moved].all()
    return best if helps else None


def _best_order(explained: Explained, kind: str, before: Array) -> tuple[Order, Array, Array]:
    """An order, and the squares left before and after."""
    order = as_is = tuple(range(len(before)))
    left, (moves_motion, moves_torques) = before, KINDS[kind]
    for _ in as_is:
        trials = [
            (explained.left(motion=other if moves_motion else as_is, torques=other if moves_torques else as_is), other)
            for other in _exchanges(order)
        ]
        after, other = min(trials, key=lambda trial: float(np.log(trial[0]).sum()))
        if np.log(left).sum() - np.log(after).sum() < MIN_LOG_GAIN:
            break
        order, left = other, after
    return order, before, left


def _exchanges(order: Order) -> Iterator[Order]:
    for i, k in itertools.combinations(range(len(order)), 2):
        other = list(order)
        other[i], other[k] = order[k], order[i]
        yield tuple(other)
