"""Embed a program in a graph: its operations are built again there, to be put together or differentiated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.codegen.program.graph import Graph, Scalar, references
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program


def embedded(graph: Graph, program: Program, inputs: Sequence[Sequence[int]]) -> list[list[int]]:
    """References of each output's entries, from references of each input's entries."""
    values: list[int] = []
    # In their order: operands come before what reads them. The graph folds and shares again on the way.
    for instruction in program.instructions:
        if instruction.op is Op.INPUT:
            port, index = instruction.place
            values.append(inputs[port][index])
        elif instruction.op is Op.CONSTANT:
            values.append(graph.constant(instruction.number))
        else:
            values.append(graph.apply(instruction.op, *(values[k] for k in instruction.args)))
    return [[values[k] for k in result] for result in program.results]


def own_inputs(graph: Graph, program: Program) -> list[list[int]]:
    """References of new inputs of a graph that are like the program's."""
    return [references(graph, graph.input(p.name, *p.shape, ranges=p.ranges).ravel().tolist()) for p in program.inputs]


def whole(program: Program) -> Program:
    """The program with its setup inside: run-time parameters become inputs like the others, one set per state."""
    if program.setup is None:
        return replace(program, inputs=tuple(replace(port, shared=False) for port in program.inputs), wide=None)
    # Parameters count as inputs of every state here: tools like CasADi know no setup.
    graph = Graph()
    state = [port for port in program.inputs if not port.shared]
    arrays = {p.name: references(graph, graph.input(p.name, *p.shape, ranges=p.ranges).ravel().tolist()) for p in state}
    (block,) = embedded(graph, program.setup, own_inputs(graph, program.setup))
    results = embedded(graph, program, [block if port.shared else arrays[port.name] for port in program.inputs])
    outputs = {
        port.name: np.array([Scalar(graph, r) for r in result], dtype=object).reshape(port.shape)
        for port, result in zip(program.outputs, results, strict=True)
    }
    made = lower(graph, program.name, outputs, robot=program.robot, algorithm=program.algorithm)
    return replace(made, certificate=program.certificate, about=program.about)
