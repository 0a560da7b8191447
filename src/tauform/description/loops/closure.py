"""Closures: joints of the tree from the coordinates that q holds.

q_tree = f(q),    qd_tree = G qd,    qdd_tree = G qdd + Gdot qd,    tau = G^T tau_tree
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tauform.arrays import AnyArray, Array, read_only
from tauform.description.drives.dual import Dual
from tauform.description.loops.coincidence import Coincidence
from tauform.description.loops.relation import Expressed, Linear, base_value
from tauform.description.values import Value
from tauform.errors import DescriptionError
from tauform.portable.sampling import uniform

LoopRelation = Linear | Expressed | Coincidence
# States at which the iterations of a loop are planned.
PLANNED_STATES = 400
RATE = "t"


class LoopState(NamedTuple):
    """Joints of the tree: positions, their Jacobian G by q, and its rate (None without velocities).

    Arrays carry a batch dimension last where q does: q (n_bodies, ...), G and Gdot (n_bodies, n_joints, ...).
    """

    q: AnyArray
    G: AnyArray
    Gdot: AnyArray | None


@dataclass(frozen=True, eq=False, repr=False)
class GeneralClosure(Value):
    """Explicit loop constraints q_tree = f(q) with the Jacobian G(q): four-bars, slider-cranks.  [Gautier1991, V]

    Attributes:
        names: of the tree's joints.
        active: names of the joints that q holds.
        relations: of the passive joints, in an order in which each reads what is known before.
        ranges: (n_joints, 2) between which the active joints move, where samples are drawn.
        units: (n_bodies,) unit of each coordinate; relations are written in radians and metres.
    """

    names: tuple[str, ...]
    active: tuple[str, ...]
    relations: tuple[LoopRelation, ...]
    ranges: Array
    units: Array

    def __repr__(self) -> str:
        return f"GeneralClosure({len(self.names)} joints, of which {', '.join(self.active)} are active)"

    @property
    def F(self) -> Array:
        """Only loops that are linear in q have one."""
        curved = next(r for r in self.relations if not isinstance(r, Linear))
        raise DescriptionError(
            f"joint {curved.joints[0]!r} follows others by a function; this takes loops that are linear in q only "
            "(dynamics, regressors, base parameters and programs take any)"
        )

    offset = F

    def at(self, q: AnyArray, qd: AnyArray | None = None) -> LoopState:
        """The tree's joints where q has these values; arrays (n, N) of numbers, or (n,) symbols.

        Raises:
            LoopError: a loop does not close there.
        """
        # Symbols cannot iterate until converged: their iterations are planned beforehand.
        plans = self._plans if q.dtype == object else [None] * len(self.relations)
        jets = self._jets(q, qd, plans)
        batch = q.shape[1:]
        scalar = q.dtype if qd is None else np.result_type(q, qd)
        # One array for positions, G and Gdot, joints of q first: filled in place, swapped at the end.
        filled = np.zeros((2 * len(self.active) + 1, len(self.names), *batch), dtype=scalar)
        positions, G, Gdot = filled[0], filled[1 : len(self.active) + 1], filled[len(self.active) + 1 :]
        for b, (name, unit) in enumerate(zip(self.names, self.units.tolist(), strict=True)):
            # A joint that depends on nothing is a plain number.
            jet = jets[name] if isinstance(jets[name], Dual) else Dual(jets[name], {})
            # Relations are in rad and m; the tree's coordinates may have another unit.
            positions[b] = base_value(jet.value) / unit if unit != 1 else base_value(jet.value)
            for k, slope in jet.slopes.items():
                slope = slope / unit if unit != 1 else slope
                G[k, b] = base_value(slope)
                # The slope's own slope by time is its rate.
                Gdot[k, b] = slope.slopes.get(RATE, 0.0) if isinstance(slope, Dual) else 0.0
        return LoopState(positions, np.swapaxes(G, 0, 1), None if qd is None else np.swapaxes(Gdot, 0, 1))

    def inside(self, q: AnyArray) -> AnyArray:
        """Any values of q (..., n) folded into `ranges`, so that random states stay where loops close."""
        low, high = self.ranges.T
        # A triangle wave: continuous, so that neighbours stay neighbours.
        part = np.abs(((q - low) / (high - low) + 1.0) % 2.0 - 1.0)
        return low + (high - low) * part

    def in_units(self, units: Array) -> GeneralClosure:
        """The same for coordinates in these units, one per joint of the tree."""
        active = units[[self.names.index(name) for name in self.active]]
        return replace(self, units=read_only(self.units * units), ranges=read_only(self.ranges / active[:, None]))

    def extended(self, before: Sequence[str], at: int) -> GeneralClosure:
        """The same with free joints, which lead q, at a place of the tree."""
        names = (*self.names[:at], *before, *self.names[at:])
        ranges = np.concatenate([np.tile([-np.pi, np.pi], (len(before), 1)), self.ranges])
        units = np.insert(self.units, [at] * len(before), 1.0)
        return replace(
            self, names=names, active=(*before, *self.active), ranges=read_only(ranges), units=read_only(units)
        )

    def _jets(self, q: AnyArray, qd: AnyArray | None, plans: Sequence[Any]) -> dict[str, Any]:
        """Each joint's position with its slopes by q, and theirs by time."""
        jets: dict[str, Any] = {}
        for k, name in enumerate(self.active):
            unit = float(self.units[self.names.index(name)])
            moving = q[k] if qd is None else Dual(q[k], {RATE: qd[k]})
            # d(position)/dq_k = unit: each active joint moves itself.
            jets[name] = Dual(moving * unit if unit != 1 else moving, {k: unit})
        for relation, plan in zip(self.relations, plans, strict=True):
            # Order 2 where velocities ask for the rate of G.
            jets.update(relation.solve(jets, 1 if qd is None else 2, plan))
        return jets

    @cached_property
    def _plans(self) -> list[Any]:
        # Far beyond the ranges and folded back: the states cover them evenly.
        q = uniform(np.random.default_rng(0), -10.0, 10.0, (PLANNED_STATES, len(self.active)))
        values = self._jets(self.inside(q).T, None, [None] * len(self.relations))
        numbers = {name: np.asarray(base_value(value)) for name, value in values.items()}
        return [
            relation.plan({name: numbers[name] for name in relation.known})
            if isinstance(relation, Coincidence)
            else None
            for relation in self.relations
        ]

    def __getstate__(self) -> dict[str, Any]:
        # Plans are found again from the fields; they are not pickled.
        return {name: getattr(self, name) for name in ("names", "active", "relations", "ranges", "units")}
