"""From a graph to a Program: dead code falls away, signs become operations only where a result needs one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tauform.codegen.graph import Graph, references
from tauform.codegen.program import Instruction, Op, Port, Program
from tauform.codegen.schedule import ordered


def lower(graph: Graph, name: str, outputs: Mapping[str, Any], **about: Any) -> Program:
    """A scheduled program that computes the named output arrays (of scalars) from the graph's inputs."""
    arrays = {key: np.asarray(value, dtype=object) for key, value in outputs.items()}
    wanted = {key: references(graph, array.ravel().tolist()) for key, array in arrays.items()}
    flat = [reference for group in wanted.values() for reference in group]
    instructions: list[Instruction] = []
    value_of: dict[int, int] = {}
    for node in ordered(graph, flat):
        value_of[node] = len(instructions)
        instructions.append(_instruction(graph, node, value_of))

    negated: dict[int, int] = {}
    for reference in flat:
        if reference < 0 and reference not in negated:
            negated[reference] = len(instructions)
            number = graph.number(reference)
            if number is None:
                instructions.append(Instruction(Op.NEGATE, (value_of[-reference],)))
            else:
                instructions.append(Instruction(Op.CONSTANT, number=number))
    results = tuple(tuple(value_of[r] if r > 0 else negated[r] for r in group) for group in wanted.values())
    ports = tuple(Port(key, array.shape) for key, array in arrays.items())
    return Program(name, tuple(graph.inputs), ports, tuple(instructions), results, **about)


def _instruction(graph: Graph, node: int, value_of: Mapping[int, int]) -> Instruction:
    key = graph.nodes[node - 1]
    if key[0] is Op.INPUT:
        return Instruction(Op.INPUT, place=(key[1], key[2]))
    if key[0] is Op.CONSTANT:
        return Instruction(Op.CONSTANT, number=key[1])
    return Instruction(key[0], tuple(value_of[operand] for operand in key[1:]))
