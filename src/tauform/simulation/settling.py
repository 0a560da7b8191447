"""Dry friction and stops within one step, compiled: the problem of `dry.py` on scalars, solved in rounds.

A step is three programs. The first integrates as if nothing rubbed, and guesses the velocity: joints that stood still
stay, the others go on as they went. That is right in nearly every step, and the guess is the minimum. Where a joint
would still move on its own, rounds of the second follow, each with a lower sum than the last, until none would. The
third makes the next state of the velocity. Masks are products of signs, so that what sticks or rests is exactly there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Program
from tauform.description.drives.scalars import absolute, sign
from tauform.rigidbody.sweeps.factorization import factorize, solve
from tauform.simulation.integrators import Integrator

# Sweeps of coordinate descent in a round, before the joints that move are solved for.
SWEEPS = 2
# What a joint may still change on its own, as a share of the momenta that meet in it.
MAX_ROUNDING_SHARE = 1e-12


class Contact(NamedTuple):
    """Joints that rub, and joints with a lower or an upper stop; entries of ports are theirs alone, in this order."""

    n: int
    rubbing: tuple[int, ...]
    lower: tuple[int, ...]
    upper: tuple[int, ...]

    @property
    def shapes(self) -> dict[str, int]:
        """Entries of the problem's ports; M has its lower triangle."""
        sizes = {"M": self.n * (self.n + 1) // 2, "momentum": self.n, "impulses": len(self.rubbing)}
        return {name: k for name, k in (*sizes.items(), ("lower", len(self.lower)), ("upper", len(self.upper))) if k}

    def problem(self, given: Mapping[str, Sequence[Any] | AnyArray]) -> SettlingProblem:
        """The problem of arrays of these ports, entries first."""

        def of(name: str, joints: Sequence[int]) -> list[Any]:
            own = dict(zip(joints, given.get(name, ()), strict=True))
            return [own.get(j) for j in range(self.n)]

        triangle = iter(given["M"])
        M: list[list[Any]] = [[None] * self.n for _ in range(self.n)]
        for i in range(self.n):
            for j in range(i + 1):
                M[i][j] = M[j][i] = next(triangle)
        sides = of("lower", self.lower), of("upper", self.upper)
        return SettlingProblem(M, list(given["momentum"]), of("impulses", self.rubbing), *sides)


class SettlingProblem(NamedTuple):
    """v = argmin v^T M v / 2 - b^T v + sum of impulse |v| within bounds; None where a joint has none."""

    M: list[list[Any]]
    b: list[Any]
    impulses: list[Any]
    lower: list[Any]
    upper: list[Any]

    def best(self, v: Sequence[Any], j: int) -> Any:
        """Velocity of a joint while the others keep theirs."""
        rest = self.b[j] - _sum(self.M[j][k] * v[k] for k in range(len(v)) if k != j)
        if self.impulses[j] is not None:
            over = absolute(rest) - self.impulses[j]
            # What friction cannot hold; a true zero where it holds everything.
            rest = sign(rest) * (is_positive(over) * over)
        return within(rest / self.M[j][j], self.lower[j], self.upper[j])

    def solved(self, v: Sequence[Any], moving: Sequence[Any]) -> list[Any]:
        """The minimum over the joints that move (1) while the others (0) keep their velocity, signs held."""
        n, M = len(v), self.M
        held = [(1.0 - m) * x for m, x in zip(moving, v, strict=True)]
        # Rows of the identity for what is held: one elimination for all patterns.
        R = [[moving[i] * moving[j] * M[i][j] for j in range(n)] for i in range(n)]
        right = []
        for i in range(n):
            R[i][i] = moving[i] * M[i][i] + (1.0 - moving[i])
            felt = self.b[i] - _sum(M[i][j] * held[j] for j in range(n) if j != i)
            rubbed = felt if self.impulses[i] is None else felt - self.impulses[i] * sign(v[i])
            right.append(moving[i] * rubbed + held[i])
        chain = tuple(range(-1, n - 1))
        # A chain: no entry of R is known to be zero.
        found = solve(factorize(_stacked(R), chain), chain, _stacked(right))
        return [within(x, low, high) for x, low, high in zip(found, self.lower, self.upper, strict=True)]

    def moving(self, v: Sequence[Any]) -> list[Any]:
        """1 where a joint neither sticks nor rests on a stop."""
        masks = []
        for j, x in enumerate(v):
            # Ones of the same kind of scalar as x.
            mask = 0.0 * x + 1.0 if self.impulses[j] is None else sign(x) * sign(x)
            if self.lower[j] is not None:
                mask = mask * is_positive(x - self.lower[j])
            masks.append(mask if self.upper[j] is None else mask * is_positive(self.upper[j] - x))
        return masks

    def objective(self, v: Sequence[Any]) -> Any:
        """The sum that is least at the solution."""
        n, M = len(v), self.M
        smooth = _sum(v[i] * (0.5 * _sum(M[i][j] * v[j] for j in range(n)) - self.b[i]) for i in range(n))
        return smooth + _sum(f * absolute(x) for f, x in zip(self.impulses, v, strict=True) if f is not None)

    def unbalanced(self, v: Sequence[Any]) -> Any:
        """Sum of what joints would change on their own; zero at the minimum."""
        total: Any = 0.0
        for j in range(len(v)):
            # As a momentum, so that heavy and light joints are judged alike.
            change = absolute(self.M[j][j] * (self.best(v, j) - v[j]))
            size = absolute(self.b[j]) + _sum(absolute(self.M[j][k] * v[k]) for k in range(len(v)))
            # Rounding is no imbalance: else rounds would never end.
            total = total + is_positive(change - MAX_ROUNDING_SHARE * size) * change
        return total

    def round(self, v: Sequence[Any]) -> list[Any]:
        """Coordinate descent, then all that move at once where that is better."""
        swept = list(v)
        for _ in range(SWEEPS):
            for j in range(len(swept)):
                swept[j] = self.best(swept, j)
        found = self.solved(swept, self.moving(swept))
        # Signs may flip in the joint solve: it is taken only where the sum falls.
        worse = is_positive(self.objective(found) - self.objective(swept))
        return [worse * a + (1.0 - worse) * b for a, b in zip(swept, found, strict=True)]


def is_positive(x: Any) -> Any:
    """1 above zero, else 0; exact, and without a branch on any scalar."""
    s = sign(x)
    # 1, 0 and 0 of the signs 1, 0 and -1.
    return 0.5 * (s * s + s)


def within(x: Any, lower: Any, upper: Any) -> Any:
    """x within its bounds, exactly at one where it would be beyond."""
    for bound, side in ((lower, -1.0), (upper, 1.0)):
        if bound is not None:
            outside = is_positive(side * (x - bound))
            # Products with 0 and 1: the bound itself, to the bit.
            x = (1.0 - outside) * x + outside * bound
    return x


def guessed(
    problem: SettlingProblem,
    contact: Contact,
    qd: Sequence[Any] | AnyArray,
    room: Mapping[str, Sequence[Any] | AnyArray],
) -> list[Any]:
    """Velocities if joints at rest stay, where they rub or stand at a stop, and the others go on as they went.

    Args:
        room: distances to the stops, of joints that have some.
    """
    near = {name: dict(zip(getattr(contact, name), x, strict=True)) for name, x in room.items()}
    moving = []
    for j, rate in enumerate(qd):
        goes = sign(rate) * sign(rate)
        if problem.impulses[j] is None:
            still = 0.0 * rate
            for distance in (side[j] for side in near.values() if j in side):
                # At rest on a stop: neither distance nor rate.
                still = still + (1.0 - sign(distance) * sign(distance))
            # A joint without friction moves unless a stop holds it.
            goes = 1.0 - (1.0 - goes) * still
        moving.append(goes)
    return problem.solved(list(qd), moving)


def round_program(contact: Contact) -> Program:
    """One round: the ports of a contact and the velocities so far; the next ones, and what is left."""
    graph = Graph()
    given = {name: graph.input(name, size) for name, size in contact.shapes.items()}
    problem = contact.problem(given)
    v = problem.round(list(graph.input("v", contact.n)))
    return _program(graph, "settling_round", {"v": v, "open": [problem.unbalanced(v)]})


def last_program(n: int, integrator: Integrator, stops: tuple[list[Any], list[Any]]) -> Program:
    """The next state of the velocity that friction and stops leave, and what was left open in all steps so far."""
    graph = Graph()
    names = ("q", "qd", "u", "v", "mean", *(() if integrator == "semi_implicit" else ("free",)))
    given = {name: graph.input(name, n) for name in names}
    h, open_, before = (graph.input(name, 1) for name in ("step", "open", "unsettled"))
    outputs = finished(integrator, stops, given, h[0])
    return _program(graph, "settled_step", {**outputs, "left": before + open_})


def finished(
    integrator: Integrator, stops: tuple[list[Any], list[Any]], given: Mapping[str, AnyArray], h: Any
) -> dict[str, AnyArray]:
    """The state after a step, and the mean acceleration over it with friction's impulse.

    Args:
        given: by name q and qd before, velocities u of smooth torques alone and v of all, `mean`, the acceleration of
            smooth torques, and `free`, the positions that they lead to.
    """
    q, qd, u, v = (given[name] for name in ("q", "qd", "u", "v"))
    # What rests before and after has not moved, whatever the stages in between saw.
    rests = (1.0 - sign(qd) * sign(qd)) * (1.0 - sign(v) * sign(v))
    moves = 1.0 - rests
    # The integrator's own displacement, corrected by the mean of what friction changed.
    moved = q + (h * v if integrator == "semi_implicit" else moves * (given["free"] - q + 0.5 * h * (v - u)))
    moved = np.array([within(x, low, high) for x, low, high in zip(moved, *stops, strict=True)])
    return {"q_next": moved, "qd_next": v, "qdd": moves * (given["mean"] + (v - u) / h)}


def _program(graph: Graph, name: str, outputs: Mapping[str, Any]) -> Program:
    return lower(graph, name, {key: np.asarray(value, dtype=object) for key, value in outputs.items()})


def _sum(values: Any) -> Any:
    total: Any = 0.0
    for value in values:
        total = total + value
    return total


def _stacked(rows: Any) -> AnyArray:
    """An array of what may be scalars or arrays of states."""
    return np.array(rows)
