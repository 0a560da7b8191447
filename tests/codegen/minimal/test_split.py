"""Work on parameters alone is done once: a program and its setup together are the program in one piece."""

from __future__ import annotations

import numpy as np

from tauform.codegen.minimal.split import lowered
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program


def both() -> tuple[Program, Program]:
    """The same function in one piece and split."""
    graph = Graph()
    q = graph.input("q", 2)
    theta = graph.input("theta", 3, shared=True)
    angle = theta[0].arctan2(theta[1])
    ratio = (theta[0] * theta[1] + theta[2]).sqrt()
    outputs = {
        "y": [(q[0] + angle).sin() * ratio - q[1] * ratio, -ratio * q[0] / theta[2], 2.0 * theta[1] + 0 * q[0]],
        "z": [q[1].cos() - (-theta[2]), 4.0],
    }
    return lower(graph, "p", outputs), lowered(graph, "p", outputs)


def test_setup_and_program_together_are_the_whole() -> None:
    whole, split = both()
    rng = np.random.default_rng(0)
    q, theta = rng.uniform(0.5, 2, (10, 2)), rng.uniform(0.5, 2, 3)
    assert split.setup is not None
    for found, expected in zip(split(q, split.setup(theta)), whole(q, theta), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_program_reads_the_block_and_the_setup_the_parameters() -> None:
    _, split = both()
    assert split.setup is not None
    assert [port.name for port in split.inputs] == ["q", "block"]
    assert [port.shared for port in split.inputs] == [False, True]
    assert [port.name for port in split.setup.inputs] == ["theta"]
    assert [port.name for port in split.setup.outputs] == ["block"]
    assert split.setup.name == "p_setup"


def test_program_repeats_no_work_of_the_setup() -> None:
    _, split = both()
    assert split.count(Op.ATAN2, Op.SQRT, Op.DIVIDE) == 0
    on_state: set[int] = set()
    for k, instruction in enumerate(split.instructions):
        if instruction.op is Op.INPUT:
            if not split.inputs[instruction.place[0]].shared:
                on_state.add(k)
        elif instruction.op is not Op.CONSTANT and on_state.intersection(instruction.args):
            on_state.add(k)
        elif instruction.op is not Op.CONSTANT:
            # a sign in front of an entry of the block is all that may remain
            assert instruction.op is Op.NEGATE


def test_without_shared_inputs_there_is_no_setup() -> None:
    graph = Graph()
    q = graph.input("q", 2)
    assert lowered(graph, "p", {"y": [q[0] * q[1]]}).setup is None
