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
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.filters import grid_of

# States that decide, and samples that are read from a segment for them.
N_STATES, MOST_SAMPLES = 300, 50_000
# Largest relative error of a joint that needs no explanation.
EXPLAINED = 0.1
# An exchange is far better where it makes the errors of two joints half as large, or more, and neither larger: what
# helps one joint at the cost of the other makes up for another mistake, such as a wrong direction of gravity.
FAR_BETTER, NOT_WORSE = 2 * np.log(4.0), 1.1
N_PASSES, RIDGE, NEGLIGIBLE = 4, 1e-6, 1e-6
# Whether an exchange moves the columns of the motion (positions, velocities), and those of the torques.
KINDS = {"torques": (False, True), "positions": (True, False), "positions and torques": (True, True)}

Order = tuple[int, ...]


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


class Explained:
    """What the base parameters leave of the torques, whichever column is whose."""

    def __init__(self, design: Design, states: tuple[Array, Array, Array], tau: Array) -> None:
        self.design, self.states, self.tau = design.with_terms(()), states, tau
        self.known: dict[Order, tuple[Array, Array]] = {}

    def left(self, motion: Order, torques: Order) -> Array:
        """(n,) share of each joint's squares that is left, each joint weighted by its own."""
        products, sides = self._products(motion)
        sides = sides[np.arange(len(torques)), :, torques]
        whole = (self.tau**2).sum(axis=0)[list(torques)]
        # Weights of the first pass: every joint by its own torque, as if nothing were explained.
        left = whole
        # Re-weighted ridge on normal equations: rough, but thousands of orders are compared.
        for _ in range(N_PASSES):
            S, b = np.tensordot(1 / left, products, axes=1), (1 / left) @ sides
            size = np.sqrt(np.maximum(np.diag(S), 1e-300))
            values = np.linalg.solve(S / np.outer(size, size) + RIDGE * np.eye(len(b)), b / size) / size
            left = np.maximum(values @ products @ values - 2 * sides @ values + whole, NEGLIGIBLE * whole)
        return left / whole

    def _products(self, motion: Order) -> tuple[Array, Array]:
        """(n, p, p) of a joint's columns with each other, (n, p, n) with the torque of every joint."""
        if motion not in self.known:
            q, qd, qdd = (x[:, motion] for x in self.states)
            A = np.moveaxis(self.design.columns(q, qd, qdd), 1, 0)
            self.known[motion] = A.swapaxes(1, 2) @ A, A.swapaxes(1, 2) @ self.tau
        return self.known[motion]


@on_one_thread
def find_swap(source: RowSource) -> Swap | None:
    """The order of columns that explains the torques far better than the one they have, if there is such an order.

    It is found by exchanging two joints at a time, as long as that makes a great difference.
    """
    states, tau = _smoothed(source)
    as_is = tuple(range(tau.shape[1]))
    explained = Explained(source.design, states, tau)
    # Logs of a single joint, or of fewer numbers than unknowns, allow any order.
    if len(as_is) < 2 or len(tau) * len(as_is) < 4 * explained.design.n_columns:
        return None
    before = explained.left(as_is, as_is)
    if before.max() < EXPLAINED**2:
        return None
    found = [Swap(kind, *_best_order(explained, kind, before)) for kind in KINDS]
    best = min(found, key=lambda swap: float(np.log(swap.after).sum()))
    best = replace(best, before=np.sqrt(best.before), after=np.sqrt(best.after))
    # Torques of an exchanged column are compared with themselves, wherever they belong.
    column = list(best.order) if KINDS[best.kind][1] else list(as_is)
    moved = np.array(best.order) != as_is
    helps = moved.any() and (best.after <= NOT_WORSE * best.before[column])[moved].all()
    return best if helps else None


def _best_order(explained: Explained, kind: str, before: Array) -> tuple[Order, Array, Array]:
    """An order, and the squares left before and after."""
    order = as_is = tuple(range(len(before)))
    left, (moves_motion, moves_torques) = before, KINDS[kind]
    for _ in as_is:
        trials = [
            (explained.left(other if moves_motion else as_is, other if moves_torques else as_is), other)
            for other in _exchanges(order)
        ]
        after, other = min(trials, key=lambda trial: float(np.log(trial[0]).sum()))
        if np.log(left).sum() - np.log(after).sum() < FAR_BETTER:
            break
        order, left = other, after
    return order, before, left


def _exchanges(order: Order) -> Iterator[Order]:
    for i, k in itertools.combinations(range(len(order)), 2):
        other = list(order)
        other[i], other[k] = order[k], order[i]
        yield tuple(other)


def _smoothed(source: RowSource) -> tuple[tuple[Array, Array, Array], Array]:
    """States and torques of the same bandwidth, at times spread over the segments."""
    # Both sides as smooth as the torques of the rows: the columns then need no filter.
    filters = None if source.filters is None else replace(source.filters, position=source.filters.torque)
    parts = []
    for segment in source.segments:
        part = slice(0, min(segment.n_samples, MOST_SAMPLES))
        grid = grid_of(segment.rate, filters)
        q, qd, qdd = source.smoother.states(segment, part, filters, grid.states)
        torque = np.asarray(segment.tau[part], dtype=np.float64)
        tau = source.smoother.derived(torque, 1, segment.rate, filters, grid.states)[0]
        inner = grid.settled(len(q), max(1, -(-len(q) * len(source.segments) // N_STATES)))
        parts.append([x[inner] for x in (q, qd, qdd, tau)])
    q, qd, qdd, tau = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return (q, qd, qdd), tau
