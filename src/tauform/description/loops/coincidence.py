"""Coincidence: a loop closed by two frames that coincide, solved by Newton's method from a start posture.

With the gap r(known, x) between both frames, x follows the start posture along a straight line of the known joints,
in steps so short that no other branch is reached: x <- x - (J^T J)^-1 J^T r with J = dr/dx. Slopes follow from the
same step on jets: each adds one order (the implicit function theorem, G = -J^+ dr/dknown, is the first).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tauform.arrays import Array
from tauform.description.drives.dual import Dual
from tauform.description.loops.algebra import factorized, plus, solved, sum_of, times
from tauform.description.loops.dyad import Dyad, plane_of
from tauform.description.loops.path import Path
from tauform.description.loops.relation import base_value, posture
from tauform.description.values import Value
from tauform.errors import LoopError

Fixes = Literal["point", "frame"]
# Known joints move by at most this on the way from the start posture [rad, or lengths of the loop].
# Short enough that Newton's method does not jump to the other way of assembly.
STEP = 0.2
ITERATIONS_PER_STEP = 3
MAX_ITERATIONS = 30
# Gap that counts as closed, over the size of the loop.
GAP_TOLERANCE = 1e-10
# A closed form may be off by this near a dead centre.
ROUGH_GAP = 1e-6
# Unrolled iterations, cheapest first: steps from the start posture, and iterations of each.
PLANS = tuple(
    sorted(((k, m) for k in (1, 2, 3, 4, 6, 8, 12, 16) for m in (2, 3, 4, 5, 6, 8)), key=lambda p: (p[0] * p[1], p))
)
PLAN_TOLERANCE = 1e-12
# Below this share of its diagonal entry a pivot of J^T J leaves its joint free.
MIN_PIVOT = 1e-10

SolutionPlan = tuple[int, int]
CLOSED_FORM: SolutionPlan = (0, 0)


@dataclass(frozen=True, eq=False)
class Coincidence(Value):
    """Passive joints that keep two frames together.

    Attributes:
        name: of the loop.
        frames: names of the two frames.
        passive: joints that it determines.
        known: the other joints on both paths.
        paths: to the two frames.
        fixes: "point" keeps their origins together, "frame" their axes too.
        start: coordinates of passive and known joints at which the loop is closed; it chooses the branch.
    """

    name: str
    frames: tuple[str, str]
    passive: tuple[str, ...]
    known: tuple[str, ...]
    paths: tuple[Path, Path]
    fixes: Fixes
    start: tuple[tuple[str, float], ...]

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints that it determines."""
        return self.passive

    @property
    def reads(self) -> tuple[str, ...]:
        """Joints that it depends on."""
        return self.known

    def text(self) -> str:
        """The relation, to read."""
        return f"closes loop {self.name!r}"

    @property
    def size(self) -> float:
        """Length of both paths [m]."""
        places = [place for path in self.paths for place in (*(s.placement for s in path.steps), path.end)]
        # 1 m where all frames coincide: the tolerances stay finite.
        return float(sum(np.abs(place[:3, 3]).sum() for place in places)) or 1.0

    def solve(self, values: Mapping[str, Any], order: int, plan: SolutionPlan | None = None) -> dict[str, Any]:
        """Coordinates of `joints`, with slopes up to an order where the known ones have them.

        Args:
            plan: steps and iterations of each, for symbols; None iterates until the loop is closed.

        Raises:
            LoopError: it does not close there; the message says by how much.
        """
        known = {name: base_value(values[name]) for name in self.known}
        if plan == CLOSED_FORM:
            assert self.dyad is not None
            x = self.dyad.solve(known)
            _, inverse, _ = self._newton({**known, **x})
        else:
            x, inverse = self._unrolled(known, plan) if plan is not None else self._closed(known)
        jets: dict[str, Any] = dict(x)
        # Numbers get one step more than slopes need, which takes the rounding of J^T J out of them.
        for _ in range(order + (plan is None)):
            gap = self.gap({**values, **jets})
            # J at the solution serves every order: a step with it adds one order of slopes.
            change = inverse([gap[i] for i in range(len(gap))])
            jets = {name: jets[name] - change[j] for j, name in enumerate(self.passive)}
        return jets

    def check_start(self) -> None:
        """Raise where the loop leaves a passive joint free, or does not close, at the start posture."""
        begin = {name: np.array([value]) for name, value in self.start}
        with np.errstate(all="ignore"):
            _, _, normal = self._slopes(begin)
            pivots = factorized([[np.atleast_1d(x) for x in row] for row in normal])[0]
        for name, pivot, k in zip(self.passive, pivots, range(len(pivots)), strict=True):
            # A pivot near zero: the gap does not notice this joint once the others are fixed.
            if not np.all(pivot > MIN_PIVOT * np.asarray(normal[k][k])):
                raise LoopError(
                    f"loop {self.name!r}: joint {name!r} can move without opening it at the start posture; name it "
                    'among the active joints, fix more (fixes = "frame"), or start away from a dead centre'
                )
        self._closed({name: begin[name] for name in self.known})

    def gap(self, values: Mapping[str, Any]) -> list[Any]:
        """What is left between both frames: a vector [m], and for "frame" half the sine of the turn, times the size."""
        (R, p), (S, r) = (path.placed(values) for path in self.paths)
        rows = [plus(a, -b) for a, b in zip(p, r, strict=True)]
        if self.fixes == "frame":
            # R^T S is the identity where they coincide; its skew part is the turn that is left.
            turn = [[sum_of(times(R[k][i], S[k][j]) for k in range(3)) for j in range(3)] for i in range(3)]
            # Times the size: turns and distances weigh alike in the sum of squares.
            rows += [times(0.5 * self.size, plus(turn[i][j], -turn[j][i])) for i, j in ((2, 1), (0, 2), (1, 0))]
        return rows

    def plan(self, known: Mapping[str, Array]) -> SolutionPlan:
        """A dyad's closed form, else the fewest unrolled iterations that reach the solution at all of these states."""
        if self.dyad is not None:
            return CLOSED_FORM
        # Plans are judged by the iterated solution, not by the gap alone.
        exact, _ = self._closed(known)
        for plan in PLANS:
            with np.errstate(all="ignore"):
                found = self._walked(known, plan)
            if all(np.abs(found[name] - exact[name]).max() <= PLAN_TOLERANCE for name in self.passive):
                return plan
        raise LoopError(
            f"loop {self.name!r}: Newton's method needs more than {PLANS[-1][0] * PLANS[-1][1]} iterations within the "
            "joints' limits; narrow the limits or give the relation as an expression"
        )

    @cached_property
    def dyad(self) -> Dyad | None:
        """The loop as a planar dyad, None where it is none."""
        if self.fixes != "point" or len(self.passive) != 2:
            return None
        plane = plane_of([axis for path in self.paths for axis in path.axes(dict(self.start))])
        sides = [[step.joint for step in path.steps] for path in self.paths]
        turning = {step.joint: step.screw for path in self.paths for step in path.steps}
        # Pure turns or pure slides in the plane; a screw has no closed form here.
        if plane is None or any(turning[name] not in ((1.0, 0.0), (0.0, 1.0)) for name in self.passive):
            return None
        same_side = any(set(self.passive) <= set(side) for side in sides)
        first, second = sorted(self.passive, key=[*sides[0], *sides[1]].index)
        turns = turning[first][0] == 1.0, turning[second][0] == 1.0
        # Two slides leave a linear system, which Newton's method solves in one step.
        if not any(turns):
            return None

        def gap(values: Mapping[str, Any]) -> tuple[Any, Any]:
            rows = self.gap(values)
            x, y = (sum_of(times(float(e), row) for e, row in zip(axis, rows, strict=True)) for axis in plane)
            return x, y

        begin = dict(self.start)
        exact, _ = self._walked_closed({name: begin[name] for name in self.known})
        ways = [Dyad(gap, first, second, turns, same_side, (exact[first], exact[second]), sign) for sign in (1.0, -1.0)]
        # Of both ways of assembly, the one that the start posture is in.
        return min(ways, key=lambda way: self._distance(way.solve({n: begin[n] for n in self.known}), exact))

    def _distance(self, found: Mapping[str, Any], exact: Mapping[str, Any]) -> float:
        return sum(float(np.abs(found[name] - exact[name]).max()) for name in self.passive)

    def _closed(self, known: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        if self.dyad is None:
            return self._walked_closed(known)
        with np.errstate(all="ignore"):
            x = self.dyad.solve(known)
            # Two steps take the cancellation near dead centres out, and carry a complex step.
            for _ in range(2):
                self._check({**known, **x}, ROUGH_GAP)
                x, inverse, _ = self._newton({**known, **x})
        self._check({**known, **x})
        return x, inverse

    def _walked_closed(self, known: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
        begin = dict(self.start)
        # Real parts only: complex steps are tiny and not travelled.
        farthest = max((float(np.abs(np.real(known[name]) - begin[name]).max()) for name in self.known), default=0.0)
        n_steps = max(1, int(np.ceil(farthest / STEP)))
        with np.errstate(all="ignore"):
            x = self._walked(known, (n_steps, ITERATIONS_PER_STEP))
            for _ in range(MAX_ITERATIONS):
                x, inverse, change = self._newton({**known, **x})
                # Changes at the level of rounding: further iterations gain nothing.
                if max(float(np.abs(d).max()) for d in change) <= np.finfo(float).eps * self.size:
                    break
            # A complex step is carried by steps that come after the real part has settled.
            x, inverse, _ = self._newton({**known, **x})
        self._check({**known, **x})
        return x, inverse

    def _unrolled(self, known: Mapping[str, Any], plan: SolutionPlan) -> tuple[dict[str, Any], Any]:
        # The slopes need J at the solution, so it is taken one iteration on.
        x, inverse, _ = self._newton({**known, **self._walked(known, plan)})
        return x, inverse

    def _walked(self, known: Mapping[str, Any], plan: SolutionPlan) -> dict[str, Any]:
        begin = dict(self.start)
        x: dict[str, Any] = {name: begin[name] for name in self.passive}
        n_steps, n_iterations = plan
        for k in range(1, n_steps + 1):
            part = k / n_steps
            # Along a straight line of the known joints, from the start posture.
            way = {name: known[name] * part + begin[name] * (1 - part) for name in self.known}
            for _ in range(n_iterations):
                x, _, _ = self._newton({**way, **x})
        return x

    def _slopes(self, values: Mapping[str, Any]) -> tuple[list[Any], list[list[Any]], list[list[Any]]]:
        """The gap r, J = dr/dx and J^T J."""
        # One direction per passive joint: the slopes of the gap are the columns of J.
        ones = {name: Dual(values[name], {j: 1.0}) for j, name in enumerate(self.passive)}
        rows, n = self.gap({**values, **ones}), len(self.passive)
        J = [[row.slopes.get(j, 0.0) if isinstance(row, Dual) else 0.0 for j in range(n)] for row in rows]
        normal = [[sum_of(times(row[i], row[j]) for row in J) for j in range(n)] for i in range(n)]
        return [row.value if isinstance(row, Dual) else row for row in rows], J, normal

    def _newton(self, values: Mapping[str, Any]) -> tuple[dict[str, Any], Any, list[Any]]:
        """x - (J^T J)^-1 J^T r, the function r -> (J^T J)^-1 J^T r at x, and the change."""
        gap, J, normal = self._slopes(values)
        n = len(self.passive)
        factors = factorized(normal)

        def inverse(r: Sequence[Any]) -> list[Any]:
            # J^T r.
            right = [sum_of(times(row[j], a) for row, a in zip(J, r, strict=True)) for j in range(n)]
            return solved(factors, right)

        change = inverse(gap)
        return {name: values[name] - change[j] for j, name in enumerate(self.passive)}, inverse, change

    def __getstate__(self) -> dict[str, Any]:
        # what was found from the fields is found again elsewhere
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def _check(self, values: Mapping[str, Any], tolerance: float = GAP_TOLERANCE) -> None:
        rows = [np.real(np.asarray(row)) for row in self.gap(values)]
        gaps = np.atleast_1d(np.sqrt(sum(row * row for row in rows)))
        good = gaps <= tolerance * self.size
        if not good.all():
            # NaN and infinite gaps count as the worst.
            worst = int(np.argmax(np.where(np.isfinite(gaps), gaps, np.inf)))
            left = f"{1e3 * gaps[worst]:.3g} mm is left between its frames" if np.isfinite(gaps[worst]) else "singular"
            raise LoopError(
                f"loop {self.name!r} does not close at {posture(values, self.known, worst)}: {left}; stay where it "
                "closes, or limit these joints"
            )
