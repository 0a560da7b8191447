"""Operations left out of programs."""

from __future__ import annotations

import numpy as np

import tauform as tf
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program
from tauform.codegen.pruning.moves import cost, moves
from tauform.codegen.pruning.prune import PruningTask, Rung, flat_results, prune, refitted, relative_weights
from tauform.codegen.pruning.retrace import Retrace
from tauform.codegen.pruning.rewrite import rewritten
from tauform.codegen.pruning.sensitivity import sensitivity


def example() -> Program:
    """r0 = sin(x0) (x1 + 3 x2) - x0 / x1, r1 = sqrt(x1) + x2 cos(x0)."""
    graph = Graph()
    x = graph.input("x", 3)
    return lower(graph, "p", {"r": [x[0].sin() * (x[1] + 3.0 * x[2]) - x[0] / x[1], x[1].sqrt() + x[2] * x[0].cos()]})


def states(n: int = 200) -> list[np.ndarray]:
    return [np.random.default_rng(0).uniform(0.5, 2.0, (n, 3))]


def test_slopes_are_derivatives() -> None:
    program, x = example(), states(5)
    linear = sensitivity(program, x, np.ones((5, 2)))
    for k, instruction in enumerate(program.instructions):
        if instruction.op is Op.INPUT:
            step = np.zeros(3)
            step[instruction.place[1]] = 1e-6
            expected = (program(x[0] + step) - program(x[0] - step)) / 2e-6
            np.testing.assert_allclose(linear.slopes[k].T, expected, rtol=1e-7, atol=1e-7)


def test_rewriting_nothing_changes_nothing() -> None:
    program, x = example(), states()
    np.testing.assert_allclose(rewritten(program, {}, {})(*x), program(*x), rtol=1e-14)


def test_every_move_is_predicted_to_first_order_and_saves_what_it_says() -> None:
    program, x = example(), states()
    expected = program(*x)
    weights = np.ones_like(expected)
    linear = sensitivity(program, x, weights)
    for move in moves(program, linear, np.zeros_like(expected).T):
        dropped = {} if move.summand is None else {move.value: move.summand}
        numbers = {move.value: move.number} if move.summand is None else {}
        changed = rewritten(program, dropped, numbers)
        if move.summand is not None:
            assert cost(program) - cost(changed) >= move.saved - 1  # a sign may need an operation of its own
        if program.instructions[move.value].op in (Op.ADD, Op.SUBTRACT):  # results are linear in their own sums
            np.testing.assert_allclose(flat_results(changed, x) - expected, move.change.T, rtol=0, atol=1e-12)


def test_moves_are_retraced_as_they_are_rewritten() -> None:
    program, x = example(), states()
    weights = np.ones((200, 2))
    listed = list(moves(program, sensitivity(program, x, weights), np.zeros((2, 200))))
    near = Retrace.of(program, x)
    # alone, and together with another of another value
    pairs = [[a, b] for a, b in zip(listed, listed[3:], strict=False) if a.value != b.value]
    for chosen in [*([move] for move in listed), *pairs]:
        dropped = {move.value: move.summand for move in chosen if move.summand is not None}
        numbers = {move.value: move.number for move in chosen if move.summand is None}
        expected = flat_results(rewritten(program, dropped, numbers), x)
        np.testing.assert_allclose(near.results(chosen), expected, rtol=1e-12)
    np.testing.assert_array_equal(np.stack(near.values[-1:]), np.stack(program.values(x)[-1:]))  # as it was


def test_pruning_keeps_the_error_and_saves_operations() -> None:
    robot = tf.load("sr6ia")
    program = tf.generate(robot)
    rng = np.random.default_rng(0)
    x = [rng.uniform(-b, b, (3000, 4)) for b in (np.pi, 0.1, 1.0)]
    expected = program(*x)
    task = PruningTask(x, expected, relative_weights(expected), 0.99)
    told: list[tf.Program] = []
    kept = prune(program, task, 0.01, told.append)
    assert set(map(id, told)) <= set(map(id, kept))
    assert len(told) > 2
    sizes = [cost(p) for p in kept]
    assert sizes == sorted(sizes, reverse=True)
    assert kept[-1].n_operations < program.n_operations
    assert all(task.reached(Rung.of(p, task)) <= 0.01 for p in kept)


def test_a_condition_is_kept() -> None:
    program, x = example(), states()
    expected = program(*x)
    task = PruningTask(x, expected, relative_weights(expected), 0.9, accepts=lambda p: p.count(Op.SQRT) == 1)
    assert prune(program, task, 0.9)[-1].count(Op.SQRT) == 1


def test_refit_finds_the_numbers_again() -> None:
    program, x = example(), states(3000)
    expected = program(*x)
    constant = next(k for k, i in enumerate(program.instructions) if i.op is Op.CONSTANT)
    task = PruningTask(x, expected, relative_weights(expected), 0.99)
    spoiled = Rung.of(rewritten(program, {}, {constant: 2.0}), task)
    assert task.reached(refitted(spoiled, task)) < 0.05 * task.reached(spoiled)
