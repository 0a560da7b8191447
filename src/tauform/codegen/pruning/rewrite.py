"""Rewrite a program with summands left out and values replaced by numbers; dead code and folded constants fall away."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tauform.codegen.program.graph import Graph, Scalar
from tauform.codegen.program.lower import draft, lower
from tauform.codegen.program.program import Instruction, Op, Program


def polished(program: Program) -> Program:
    """The program with its operations in a good order."""
    return rewritten(program, {}, {}, lower)


def rewritten(
    program: Program,
    dropped: Mapping[int, int],
    numbers: Mapping[int, float],
    lowering: Callable[..., Program] = draft,
) -> Program:
    """The program after changes, as a draft.

    Args:
        dropped: for a sum (index of its instruction), which of its two summands is left out.
        numbers: values (indices of instructions) that become numbers.
    """
    # Built anew: the graph folds constants and drops what nobody reads any more.
    graph = Graph()
    inputs = [[s.reference for s in graph.input(p.name, *p.shape, shared=p.shared).ravel()] for p in program.inputs]
    made: list[int] = []
    for value, instruction in enumerate(program.instructions):
        if value in numbers:
            made.append(graph.constant(numbers[value]))
        elif value in dropped:
            kept = 1 - dropped[value]
            # a - b without a leaves -b; signs are free in a graph.
            sign = -1 if instruction.op is Op.SUBTRACT and kept == 1 else 1
            made.append(sign * made[instruction.args[kept]])
        else:
            made.append(_copied(graph, instruction, inputs, made))
    outputs = {
        port.name: np.array([Scalar(graph, made[k]) for k in result], dtype=object).reshape(port.shape)
        for port, result in zip(program.outputs, program.results, strict=True)
    }
    about = {"robot": program.robot, "algorithm": program.algorithm, "about": program.about}
    return lowering(graph, program.name, outputs, **about)


def _copied(graph: Graph, instruction: Instruction, inputs: list[list[int]], made: list[int]) -> int:
    op, operands = instruction.op, [made[k] for k in instruction.args]
    if op is Op.INPUT:
        port, index = instruction.place
        return inputs[port][index]
    if op is Op.CONSTANT:
        return graph.constant(instruction.number)
    return graph.apply(op, *operands)
