"""Search for the frames and the regrouping of parameters that need the fewest operations.

A local search over moves that cost nothing: the origin of a frame along its joint axis, the turn of a last frame
so that a first moment vanishes, which parameters are regrouped on which body, the length that serves as the unit, and
joints that turn by a sum of angles. Each candidate is traced and its operations counted; the first that is cheaper
is kept. No timing enters, so the result is the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from tauform.arrays import Array
from tauform.codegen.minimal.bodies import (
    HX,
    HY,
    HZ,
    IA,
    KXX,
    KXY,
    KXZ,
    KYY,
    KYZ,
    KZZ,
    N_PARAMETERS,
    Bodies,
    M,
    scaled,
    shifted,
    turned,
)
from tauform.codegen.minimal.equivalence import null_vectors, shifted_null_vectors
from tauform.codegen.minimal.regrouping import Freedom
from tauform.description.transform import angle_of
from tauform.portable.products import product

# The order in which parameters are made to vanish, if nothing better is found: by the products they cost.
_WITHIN_BODY = (HZ, M, KZZ, IA, KYZ, KXZ, KXY, KYY, HY, HX, KXX)

# Operations traced in a search, and the least number of candidates that are tried.
_EFFORT = 180_000
_OVERHEAD = 50  # a candidate's frames and regrouping cost about as much as tracing this many operations per body
_MIN_CANDIDATES = 8

# A length this much shorter than the longest is no unit to measure the robot in: numbers would grow out of scale.
SHORTEST_UNIT = 1e-3

Cost = tuple[int, int]  # multiplications, additions


@dataclass(frozen=True)
class Choice:
    """One point of the search.

    Attributes:
        shifts: along its axis, for each body [m].
        turned: bodies whose frame is turned so that hy vanishes.
        order: flat places of parameters, those to vanish first in front.
        unit: length unit [m].
        summed: joints that turn by the sum of their angle and their parent's.
    """

    shifts: tuple[float, ...]
    turned: frozenset[int]
    order: tuple[int, ...]
    unit: float = 1.0
    summed: frozenset[int] = frozenset()


@dataclass
class FrameSearch:
    """Neighbours of a choice, and the bodies that a choice stands for.

    Attributes:
        null: null vectors of the bodies, from `null_vectors`.
        any_unit, sums_angles: whether the algorithm at hand can use those moves.
        prepared: bodies and freedom of shifts so far; a search with other moves may share them.
    """

    bodies: Bodies
    null: Array
    any_unit: bool = True
    sums_angles: bool = True
    prepared: dict[tuple[float, ...], tuple[Bodies, Freedom]] = field(default_factory=dict)

    def start(self) -> Choice:
        """Choice without moved frames or turned links, parameters regrouped from the tip to the base."""
        n = self.bodies.n
        # From the tip: what is moved there travels down to the base, where most of it has no effect.
        order = [N_PARAMETERS * i + place for i in reversed(range(n)) for place in _WITHIN_BODY]
        return Choice((0.0,) * n, frozenset(), tuple(order))

    def realised(self, choice: Choice) -> Bodies:
        """The bodies after all moves of a choice."""
        bodies, freedom = self._shifted(choice.shifts)
        # Sampled anew for the choice that is taken: carried null vectors hold rounding.
        if any(choice.shifts):
            freedom = Freedom(null_vectors(bodies))
        return self._moved(choice, bodies, freedom)

    def candidate(self, choice: Choice) -> Bodies:
        """The same to rounding, quicker: what no torque shows is sampled once, not for each shift."""
        return self._moved(choice, *self._shifted(choice.shifts))

    def _moved(self, choice: Choice, bodies: Bodies, freedom: Freedom) -> Bodies:
        bodies = replace(bodies, parameters=freedom.regrouped(bodies.parameters, choice.order))
        for i in sorted(choice.turned):
            if not bodies.baked[i, HX : HY + 1].all():
                continue  # the angle depends on the load: the tracer turns by it
            hx, hy = bodies.parameters[i, HX : HY + 1, 0]
            bodies = turned(bodies, i, angle_of(hy, hx))
            # The turn leaves a rounding error where zero is meant.
            bodies.parameters[i, HY] = 0.0
        if choice.turned:  # turning mixes second moments, some of which can be regrouped away again
            bodies = replace(bodies, parameters=freedom.regrouped(bodies.parameters, choice.order))
        return scaled(bodies, choice.unit)

    def neighbours(self, choice: Choice) -> Iterator[Choice]:
        """Choices one move away, those that usually pay first."""
        present = self.candidate(choice)
        for i in range(self.bodies.n):
            for shift in self._shift_options(i):
                # The present shift is the choice itself.
                if shift != choice.shifts[i]:
                    yield replace(choice, shifts=(*choice.shifts[:i], shift, *choice.shifts[i + 1 :]))
        for i in self.turnable():
            # Symmetric difference: turned becomes straight, and the other way round.
            yield replace(choice, turned=choice.turned ^ {i})
        for i in self._parallel() if self.sums_angles else ():
            yield replace(choice, summed=choice.summed ^ {i})
        # A length that serves as unit becomes 1, and its products vanish.
        lengths = np.unique(np.abs(present.P[np.nonzero(present.P)]) * present.unit)
        lengths = lengths[lengths > SHORTEST_UNIT * lengths.max(initial=0.0)]
        for length in lengths.tolist() if self.any_unit else ():
            yield replace(choice, unit=length)
        for place in np.flatnonzero((present.parameters != 0).any(axis=-1)).tolist():
            # One parameter to the front: it is made to vanish before all others.
            yield replace(choice, order=(place, *(other for other in choice.order if other != place)))

    def _shifted(self, shifts: tuple[float, ...]) -> tuple[Bodies, Freedom]:
        if shifts not in self.prepared:
            bodies = self.bodies
            for i, shift in enumerate(shifts):
                bodies = shifted(bodies, i, shift) if shift else bodies
            null = shifted_null_vectors(self.null, bodies, shifts) if any(shifts) else self.null
            shared = next((freedom.done for _, freedom in self.prepared.values()), None)
            self.prepared[shifts] = bodies, Freedom(null, shared)
        return self.prepared[shifts]

    def _shift_options(self, i: int) -> list[float]:
        """Shifts to try: none; to where the joint's own offset vanishes; to where a child's does."""
        bodies = self.bodies
        # Where the joint's own offset along its axis vanishes, products with it do.
        options = [0.0, -float(product(bodies.X[i][:, 2], bodies.P[i]))]
        options += [float(bodies.P[child][2]) for child, parent in enumerate(bodies.parents) if parent == i]
        return [option for k, option in enumerate(options) if option not in options[:k]]

    def turnable(self) -> list[int]:
        """Last bodies: nothing else depends on how their frames are turned."""
        bodies = self.bodies
        return [i for i in range(bodies.n) if bodies.turns(i) and not bodies.has_children(i)]

    def _parallel(self) -> list[int]:
        bodies, identity = self.bodies, np.eye(3)
        return [
            i
            for i, parent in enumerate(bodies.parents)
            # Identity between parallel joints: only then do both angles turn about one direction in one frame.
            if parent >= 0 and bodies.turns(i) and bodies.turns(parent) and (bodies.X[i] == identity).all()
        ]


@dataclass
class Prices:
    """What candidates cost. Of the moves a third ends in bodies that were there before, which are not traced again."""

    trace: Callable[[Choice, Bodies], Cost]
    _known: dict[tuple[object, ...], Cost] = field(default_factory=dict)

    def of(self, choice: Choice, bodies: Bodies) -> Cost:
        """Operations of a candidate."""
        content = _content(choice, bodies)
        if content not in self._known:
            self._known[content] = self.trace(choice, bodies)
        return self._known[content]

    def know(self, choice: Choice, bodies: Bodies, cost: Cost) -> None:
        """Take over what a candidate costs."""
        self._known[_content(choice, bodies)] = cost


def _content(choice: Choice, bodies: Bodies) -> tuple[object, ...]:
    # Bit for bit: moves that cancel are not traced twice.
    return choice.turned, choice.summed, bodies.unit, *map(np.ndarray.tobytes, bodies.arrays)


def cheapest(search: FrameSearch, prices: Prices, budget: int = 400) -> tuple[Choice, Bodies]:
    """Descend from the start to a choice that no neighbour beats, within a budget of candidates.

    The budget shrinks as programs grow, so that the search takes about a second for any robot.
    """
    best = search.start()
    lowest = sum(prices.of(best, search.candidate(best)))
    # In operations, not seconds: a slower machine must find the same program.
    budget = min(budget, max(_MIN_CANDIDATES, _EFFORT // (lowest + _OVERHEAD * search.bodies.n)))
    improved = True
    while improved and budget > 0:
        improved = False
        for choice in search.neighbours(best):
            budget -= 1
            price = sum(prices.of(choice, search.candidate(choice)))
            # First improvement: the neighbours of the better choice are tried at once.
            if price < lowest:
                best, lowest, improved = choice, price, True
                break
            if budget <= 0:
                break
    return best, search.realised(best)
