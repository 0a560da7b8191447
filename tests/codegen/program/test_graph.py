"""Graphs: each subexpression once, zeros and ones folded, signs carried outside, nothing lost in a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.program.graph import Graph, Scalar
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program
from tauform.codegen.program.sums import MOST_OPENED
from tauform.errors import ShapeError


def program(expression: Callable[..., Any], n_inputs: int = 3) -> Program:
    """The program of an expression in x[0], x[1], ..."""
    graph = Graph()
    x = graph.input("x", n_inputs)
    return lower(graph, "p", {"y": np.array(expression(*x), dtype=object)})


@pytest.mark.parametrize(
    ("expression", "products", "sums"),
    [
        (lambda a, b, c: [a * b + c, c + b * a], 1, 1),
        (lambda a, b, c: [(a - b) * c, (b - a) * c], 1, 2),
        (lambda a, b, c: [-a * b, a * -b], 1, 1),
        (lambda a, b, c: [-a * -b], 1, 0),
        (lambda a, b, c: [0 * a + 1 * b + 0.0], 0, 0),
        (lambda a, b, c: [a - a], 0, 0),
        (lambda a, b, c: [a - (-b)], 0, 1),
        (lambda a, b, c: [2 * (3 * a), 6 * a], 1, 0),
        (lambda a, b, c: [a / c, b / c], 3, 0),
        (lambda a, b, c: [a / 4], 1, 0),
        (lambda a, b, c: [(-a) ** 2 - a**2], 0, 0),
    ],
)
def test_equal_subexpressions_cost_once(expression: Callable[..., Any], products: int, sums: int) -> None:
    found = program(expression)
    assert (found.n_multiplications, found.n_additions) == (products, sums)
    x = np.array([[1.5, -2.0, 0.7], [3.0, 0.25, -1.0]])
    expected = np.stack(np.broadcast_arrays(*map(np.asarray, expression(*x.T))), axis=-1)
    np.testing.assert_allclose(found(x), expected, rtol=1e-15)


def test_sine_is_odd_and_cosine_even_so_each_angle_has_one_pair() -> None:
    found = program(lambda a, b, c: [a.sin(), (-a).sin(), a.cos(), (-a).cos(), (-a).sign() + a.sign()])
    assert found.count(Op.SIN) == found.count(Op.COS) == 1
    assert found.count(Op.SIGN) == 0
    np.testing.assert_array_equal(found([0.3, 0, 0]), [np.sin(0.3), -np.sin(0.3), np.cos(0.3), np.cos(0.3), 0])


def test_functions_of_constants_are_numbers() -> None:
    graph = Graph()
    two = Scalar(graph, graph.constant(2.0))
    for value, expected in ((two.sqrt(), np.sqrt(2)), (two.sin(), np.sin(2)), ((-two).sign(), -1), (two / 4, 0.5)):
        assert graph.number(value.reference) == expected
    assert graph.number((two * 0 - 1).arctan2(0.0).reference) == -np.pi / 2


def test_dead_code_is_left_out() -> None:
    graph = Graph()
    a, b = graph.input("x", 2)
    _ = (a * b).sin() + 3
    assert lower(graph, "p", {"y": [a + b]}).n_operations == 1


def test_operators_beside_arrays_act_on_each_entry() -> None:
    graph = Graph()
    a, b = x = graph.input("x", 2)
    for left, right in ((a * x, x * a), (a + x, x + a), (a - x, -(x - a)), (b / x, 1 / (x / b))):
        assert left.shape == right.shape == (2,)
    assert (a * x)[1].reference == (x * a)[1].reference == (a * b).reference


def random_expression(rng: np.random.Generator, depth: int) -> str:
    """Python text of sums, products, signs and functions of a, b and c."""
    if depth == 0 or rng.random() < 0.1:
        return str(rng.choice(["a", "b", "c", "0.0", "1.0", "-1.0", "2.5"]))
    kind = rng.integers(6)
    if kind == 0:
        return f"(-{random_expression(rng, depth - 1)})"
    if kind == 1:
        return f"{rng.choice(['sin', 'cos', 'sign'])}({rng.choice(['a', 'b', 'c'])})"
    left, right = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    return f"({left} {rng.choice(['+', '-', '*'])} {right})"


def sign(x: Any) -> Any:
    return x.sign() if isinstance(x, Scalar) else np.sign(x)


@pytest.mark.parametrize("seed", range(40))
def test_programs_compute_what_was_written_with_nothing_twice_or_unused(seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = [random_expression(rng, 6) for _ in range(4)]

    def evaluate(a: Any, b: Any, c: Any) -> list[Any]:
        names = {"a": a, "b": b, "c": c, "sin": np.sin, "cos": np.cos, "sign": sign}
        return [eval(text, {}, names) for text in texts]

    found = program(evaluate)
    values = np.array([0.7, -1.3, 2.1])
    expected = np.array(evaluate(*values), dtype=float)
    np.testing.assert_allclose(found(values), expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    assert all(argument < k for k, i in enumerate(found.instructions) for argument in i.args)
    assert len(set(found.instructions)) == len(found.instructions)
    used = {argument for i in found.instructions for argument in i.args} | {k for r in found.results for k in r}
    assert used == set(range(len(found.instructions)))


def live_values(found: Program) -> int:
    """Most values that are computed and still needed at one time."""
    last = {argument: k for k, i in enumerate(found.instructions) for argument in i.args}
    last.update(dict.fromkeys((k for r in found.results for k in r), len(found.instructions)))
    costly = [k for k, i in enumerate(found.instructions) if i.op not in (Op.INPUT, Op.CONSTANT)]
    return max(sum(k <= now < last[k] for k in costly) for now in range(len(found.instructions)))


def test_schedule_keeps_few_values_alive() -> None:
    # a sum of n products needs its partial sums and one product at a time, whatever the order in which it was written
    def dot(*x: Any) -> list[Any]:
        products = [a * b for a, b in zip(x[:20], x[20:], strict=True)]
        total: Any = 0.0
        for product in products:
            total = product + total
        return [total]

    assert live_values(program(dot, 40)) <= MOST_OPENED + 1


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ((np.zeros(2),), r"expected 3 arrays \(q, qd, qdd\), got 1"),
        ((np.zeros(2), np.zeros(3), np.zeros(2)), r"qd: expected shape \(..., 2\), got \(3,\)"),
        ((["a", "b"], np.zeros(2), np.zeros(2)), "q: expected numbers"),
        ((np.zeros((3, 2)), np.zeros((4, 2)), np.zeros(2)), "the leading dimensions do not fit"),
    ],
)
def test_arrays_that_do_not_fit_are_named(arrays: tuple[Any, ...], words: str) -> None:
    with pytest.raises(ShapeError, match=words):
        tf.generate(tf.load("two_link"))(*arrays)
