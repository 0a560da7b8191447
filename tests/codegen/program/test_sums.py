"""Order of additions: late terms last, nothing counted twice, the longest chain shorter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.program import lower as lowering
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program
from tauform.codegen.program.sums import LATENCY, balanced


def longest_chain(program: Program) -> int:
    """Cycles from the inputs to the last result, a product with the sums that alone read it as one operation."""
    readers: dict[int, list[Op]] = {}
    for instruction in program.instructions:
        for k in instruction.args:
            readers.setdefault(k, []).append(instruction.op)
    results = {k for result in program.results for k in result}
    known: list[int] = []
    fused = set()
    for value, instruction in enumerate(program.instructions):
        start = max((known[k] for k in instruction.args), default=0)
        is_sum = instruction.op in (Op.ADD, Op.SUBTRACT)
        late = [k for k in instruction.args if k in fused and known[k] == start]
        if is_sum and late:  # the latest product is fused, any other one was computed before
            others = [known[k] for k in instruction.args if k != late[0]]
            factors = max(known[k] for k in program.instructions[late[0]].args)
            known.append(max([factors, *others]) + LATENCY[Op.MULTIPLY])
        else:
            known.append(start + LATENCY[instruction.op])
        alone = instruction.op is Op.MULTIPLY and value not in results
        if alone and all(op in (Op.ADD, Op.SUBTRACT) for op in readers[value]):
            fused.add(value)
    return max(known[k] for k in results)


def _unbalanced(robot: tf.Robot, monkeypatch: pytest.MonkeyPatch) -> Program:
    with monkeypatch.context() as patch:
        patch.setattr(lowering, "balanced", lambda program: program)
        return tf.generate(robot, "inverse_dynamics")


@pytest.mark.parametrize("name", ["kr6_r700", "lbr7"])
def test_the_longest_chain_of_an_arm_gets_shorter_and_no_operation_is_added(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = tf.load(name)
    before = _unbalanced(robot, monkeypatch)
    after = balanced(before)
    assert longest_chain(after) < 0.85 * longest_chain(before)
    assert (after.n_multiplications, after.n_additions) == (before.n_multiplications, before.n_additions)
    states = np.random.default_rng(0).uniform(-3, 3, (3, 50, robot.n_joints))
    expected = before(*states)
    assert (np.abs(after(*states) - expected).max(axis=0) <= 1e-14 * np.abs(expected).max(axis=0)).all()


def test_what_arrives_late_is_added_last() -> None:
    graph = Graph()
    a, b, c, d = graph.input("x", 4)
    program = lower(graph, "p", {"y": [((a * b * c * d + a) - b) + c * d]})
    assert program.n_additions == 3
    # the long product is fused with the last addition of the three
    assert longest_chain(program) == 3 * LATENCY[Op.MULTIPLY]


def test_sums_that_begin_alike_share_their_beginning() -> None:
    graph = Graph()
    a, b, c = graph.input("x", 3)
    program = lower(graph, "p", {"y": [a + (b + c.sin()), (a + b) - c.cos()]})
    assert program.n_additions == 3


@pytest.mark.parametrize("seed", range(10))
def test_sums_with_any_signs_keep_their_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = Graph()
    inputs = list(graph.input("x", 6))
    values = rng.normal(size=6)

    def expression(depth: int, x: list[Any], choices: np.random.Generator) -> Any:
        if depth == 0:
            return x[choices.integers(6)]
        left, right = (expression(depth - 1, x, choices) for _ in range(2))
        kind = choices.integers(4)
        return left * right if kind == 0 else left - right if kind < 3 else -(left + right)

    traced = expression(6, inputs, np.random.default_rng(100 + seed))
    expected = expression(6, list(values), np.random.default_rng(100 + seed))
    found = lower(graph, "p", {"y": [traced]})(values)[0]
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)
