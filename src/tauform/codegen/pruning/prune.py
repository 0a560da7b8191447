"""prune: leave out operations of a program that hardly matter for the states it will meet.

Greedy: the moves with the least error for each operation saved are made, a few at a time; each new program is
evaluated in full on the states before it is kept. When no move is left, the numbers of the program are refitted
to the exact results, which makes room for more moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.closedform.reduction.streaming import sizes
from tauform.codegen.program.program import Op, Program
from tauform.codegen.pruning.moves import Move, cost, moves
from tauform.codegen.pruning.retrace import Retrace
from tauform.codegen.pruning.rewrite import polished, rewritten
from tauform.codegen.pruning.sensitivity import sensitivity
from tauform.portable.factorization import definite_solved
from tauform.portable.products import gram_matrix

# States on which moves are ranked, times results; the error itself is measured on all.
RANKED_RESULTS, FEWEST_RANKED = 6000, 200
STATES_PER_SLICE, HARDEST_STATES = 8192, 256
# Moves made at once, the share of the error left that they may use up, and single moves tried when that fails.
MOVES_AT_ONCE, MAX_SHARE_OF_ERROR_LEFT, MAX_SINGLE_MOVES = 8, 0.08, 30
MAX_ROUNDS = 4
# Share of an error by which that of the same operations in another order may differ.
ROUNDING = 1e-9
ERROR_OF_NO_NUMBER = 1e100  # an error that no tolerance allows, and that quantiles can interpolate
REFIT_STEPS, REFIT_STATES, REFIT_DAMPINGS = 2, 3000, (1e-2, 1e-4, 1e-6)


@dataclass(frozen=True, eq=False)
class PruningTask:
    """Results that a pruned program must reproduce.

    Attributes:
        states: for each input port (N, size).
        expected: (N, m) exact results, flat.
        weights: (N, m) by which errors are weighed; the error of a state is the norm of its weighed errors.
        confidence: share of the states whose error must stay below a tolerance.
        accepts: a further condition on a program, such as positive definite results.
    """

    states: list[Array]
    expected: Array
    weights: Array
    confidence: float
    accepts: Callable[[Program], bool] = lambda program: True

    def errors(self, program: Program) -> Array:
        """(N,) relative error of each state."""
        return weighed(flat_results(program, self.states), self.expected, self.weights)

    def reached(self, rung: Rung) -> float:
        """The error that the given share of states stays below."""
        return float(np.quantile(rung.errors, self.confidence))

    @property
    def allowed(self) -> float:
        """Number of states that may fail."""
        return (1 - self.confidence) * len(self.expected)

    def refuses(self, results: Array, states: NDArray[np.int64], tolerance: float) -> bool:
        """Whether results at some of the states, right but for rounding, show that a program fails."""
        errors = weighed(results, self.expected[states], self.weights[states])
        # What is no number may be none for the way it was computed.
        failed = (errors > (1 + ROUNDING) * tolerance) & (errors < ERROR_OF_NO_NUMBER)
        return int(np.count_nonzero(failed)) > self.allowed

    def better(self, program: Program, rung: Rung) -> Rung:
        """The program where its error is smaller than that of a rung, else the rung."""
        few, limit = rung.hardest, self.reached(rung)
        results = flat_results(program, [s[few] for s in self.states])
        n_failed = np.count_nonzero(weighed(results, self.expected[few], self.weights[few]) >= limit)
        # np.quantile lies at least at the error that so many reach: the other states need not be tried.
        if n_failed >= len(self.expected) - int(self.confidence * (len(self.expected) - 1)):
            return rung
        tried = Rung.of(program, self)
        return tried if self.reached(tried) < limit else rung

    def errors_within(self, program: Program, tolerance: float) -> Array | None:
        """(N,) errors of a program that stays within a tolerance, None for one that does not."""
        errors, n_failed = np.empty(len(self.expected)), 0
        for part in slices_of(len(errors)):
            results = flat_results(program, [s[part] for s in self.states])
            errors[part] = weighed(results, self.expected[part], self.weights[part])
            n_failed += int(np.count_nonzero(errors[part] > tolerance))
            # More failures than the share allows: the other states need not be tried.
            if n_failed > self.allowed:
                return None
        return errors

    @property
    def doublings(self) -> int:
        """Exponent, as a power of two, of the mean that stands for the quantile when moves are ranked: tails count
        for high confidence."""
        return 3 if self.confidence > 0.99 else 2

    def size(self, error: Array) -> float:
        """Power mean of an error (m, N)."""
        # A power mean instead of the quantile: it is smooth, and predicted changes can be added to it.
        power = (error * error).sum(axis=0)
        for _ in range(1, self.doublings):
            power = power * power
        mean = float(np.mean(power))
        for _ in range(self.doublings):
            mean = sqrt(mean)
        return mean


def relative_weights(expected: Array) -> Array:
    """(N, m) weights that make errors relative to the size of the exact result of each state.  [Lloyd2021, Eq. 67]"""
    return np.broadcast_to(1.0 / sizes(expected)[:, None], expected.shape)


def weighed(found: Array, expected: Array, weights: Array) -> Array:
    """(N,) norm of the weighed errors; what is no number is as wrong as can be."""
    # |dtau| / |tau| at each state, Lloyd2021 (67), where weights are 1 / |tau|.
    errors = np.linalg.norm((found - expected) * weights, axis=1)
    return np.where(np.isfinite(errors), errors, ERROR_OF_NO_NUMBER)


def slices_of(n_states: int) -> list[slice]:
    """States that are interpreted at once: few enough to stay in the cache, enough for NumPy to be worth its calls."""
    return [slice(first, first + STATES_PER_SLICE) for first in range(0, n_states, STATES_PER_SLICE)]


def flat_results(program: Program, states: list[Array]) -> Array:
    """(N, m) all results of a program, interpreted in slices that stay in the cache."""
    parts = []
    for own in slices_of(len(states[0])):
        part = [s[own] for s in states]
        outputs = program(*(s.reshape(len(s), *p.shape) for s, p in zip(part, program.inputs, strict=True)))
        listed = outputs if isinstance(outputs, tuple) else (outputs,)
        parts.append(np.concatenate([array.reshape(len(part[0]), -1) for array in listed], axis=1))
    return np.concatenate(parts)


def prune(
    program: Program, task: PruningTask, tolerance: float, tell: Callable[[Program], None] | None = None
) -> list[Program]:
    """Smaller and smaller programs whose error stays within the tolerance; the first is the one given.

    Args:
        tell: called with each before the next is looked for.
    """
    tell = tell or (lambda smaller: None)
    rung = Rung.of(program, task)
    kept = [program]
    for _ in range(MAX_ROUNDS):
        before = len(kept)
        tell(rung.program)
        while (smaller := _step(rung, task, tolerance)) is not None:
            rung = smaller
            kept.append(rung.program)
            tell(rung.program)
        if len(kept) == before:
            break
        # Numbers fitted anew make room below the tolerance for another round of moves.
        fitted = refitted(rung, task)
        if fitted is not rung and task.accepts(fitted.program):
            rung = fitted
            kept.append(rung.program)
    return kept


@dataclass(frozen=True, eq=False)
class Rung:
    """A program and its error at every state."""

    program: Program
    errors: Array

    @classmethod
    def of(cls, program: Program, task: PruningTask) -> Rung:
        """The program, tried at all states."""
        return cls(program, task.errors(program))

    @cached_property
    def hardest(self) -> NDArray[np.int64]:
        """The states with the largest errors, where most programs that fail do so."""
        # Stable: those of equal error keep their order on every machine.
        return np.argsort(-self.errors, kind="stable")[:HARDEST_STATES]


def _step(rung: Rung, task: PruningTask, tolerance: float) -> Rung | None:
    """A smaller program within the tolerance, or None."""
    program = rung.program
    n_ranked = max(FEWEST_RANKED, RANKED_RESULTS // task.expected.shape[1])
    states, weights = [s[:n_ranked] for s in task.states], task.weights[:n_ranked]
    error = ((flat_results(program, states) - task.expected[:n_ranked]) * weights).T
    present = task.size(error)
    # One linearisation predicts what every move would change.
    linear = sensitivity(program, states, weights)
    ranked = []
    for move in moves(program, linear, error):
        after = task.size(error + move.change)
        # Predicted within it: the others are not even tried.
        if after < tolerance:
            # Cost per operation saved, where the error grows; the most of both where it falls.
            growth = after - present
            ranked.append((growth / move.saved if growth > 0 else growth * move.saved, after, move))
    ranked.sort(key=lambda item: item[0])
    room = present + MAX_SHARE_OF_ERROR_LEFT * max(tolerance - present, 0.0)
    several = _fitting([move for _, after, move in ranked if after <= room], error, task, room)
    near = Retrace.of(program, [s[rung.hardest] for s in task.states])
    # Several moves at once while there is room, single ones near the tolerance, where predictions no longer add up.
    for chosen in ([several] if len(several) > 1 else []) + [[move] for _, _, move in ranked[:MAX_SINGLE_MOVES]]:
        if task.refuses(near.results(chosen), rung.hardest, tolerance):
            continue
        smaller = _applied(program, chosen)
        # Folding may cost as much elsewhere as a move saves; the condition asks fewer states than the errors.
        if cost(smaller) >= cost(program) or not task.accepts(smaller):
            continue
        errors = task.errors_within(smaller, tolerance)
        if errors is not None:
            # sums in another order offer other moves
            return Rung(polished(smaller), errors)
    return None


def _fitting(candidates: list[Move], error: Array, task: PruningTask, room: float) -> list[Move]:
    """The first moves, in order, whose errors together stay within the room."""
    chosen: list[Move] = []
    for move in candidates:
        # Two moves of one instruction exclude each other.
        if all(move.value != other.value for other in chosen) and task.size(error + move.change) <= room:
            chosen.append(move)
            error = error + move.change
            if len(chosen) == MOVES_AT_ONCE:
                break
    return chosen


def _applied(program: Program, chosen: list[Move]) -> Program:
    dropped = {move.value: move.summand for move in chosen if move.summand is not None}
    numbers = {move.value: move.number for move in chosen if move.summand is None}
    return rewritten(program, dropped, numbers)


def refitted(rung: Rung, task: PruningTask) -> Rung:
    """The same program with its numbers fitted to the exact results, where that lowers the error (Gauss-Newton)."""
    states = [s[:REFIT_STATES] for s in task.states]
    weights, expected = task.weights[:REFIT_STATES], task.expected[:REFIT_STATES]
    for _ in range(REFIT_STEPS):
        program = rung.program
        error = ((flat_results(program, states) - expected) * weights).T
        slopes = sensitivity(program, states, weights, wanted={Op.CONSTANT}).slopes
        places = {k: slope for k, slope in enumerate(slopes) if slope is not None}
        # A program without constants has nothing to fit.
        if not places:
            break
        numbers = np.array([program.instructions[k].number for k in places])
        # Columns by relative change of each number, which makes them comparable.
        columns = [slope.ravel() * number for slope, number in zip(places.values(), numbers, strict=True)]
        products = gram_matrix(np.stack([*columns, error.ravel()]).T)
        # Of several dampings that one wins which lowers the error of all states, not the linear prediction.
        steps = [_damped(products, damping) for damping in REFIT_DAMPINGS]
        changes = [dict(zip(places, (numbers * (1 - x)).tolist(), strict=True)) for x in steps]
        fitted = rung
        for change in changes:
            fitted = task.better(rewritten(program, {}, change), fitted)
        if fitted is rung:
            break
        rung = fitted
    return rung


def _damped(products: Array, damping: float) -> Array:
    """Least-squares step from [J r]^T [J r]; directions that the data hardly determine are left alone."""
    normal, right = products[:-1, :-1], products[:-1, -1:]
    # Relative to the mean eigenvalue, so that one damping suits every robot.
    ridge = damping * float(np.trace(normal)) / len(normal) * np.eye(len(normal))
    return definite_solved(normal + ridge, right)[:, 0]
