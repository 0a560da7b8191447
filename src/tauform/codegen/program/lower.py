"""Lowering of a graph to a Program: dead code falls away, signs become operations only where something needs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tauform.codegen.program.graph import Graph, references
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Instruction, Op, Program
from tauform.codegen.program.schedule import ordered, reachable
from tauform.codegen.program.signs import without_negations
from tauform.codegen.program.sums import balanced


def lower(graph: Graph, name: str, outputs: Mapping[str, Any], **about: Any) -> Program:
    """A scheduled program that computes the named output arrays (of scalars) from the graph's inputs."""
    return balanced(_lowered(graph, name, outputs, ordered, about))


def draft(graph: Graph, name: str, outputs: Mapping[str, Any], **about: Any) -> Program:
    """The same operations in the order in which they were written: for a program on the way to another one."""
    return _lowered(graph, name, outputs, reachable, about)


def _lowered(
    graph: Graph, name: str, outputs: Mapping[str, Any], order: Callable[[Graph, list[int]], list[int]], about: Any
) -> Program:
    arrays = {key: np.asarray(value, dtype=object) for key, value in outputs.items()}
    wanted = {key: references(graph, array.ravel().tolist()) for key, array in arrays.items()}
    code = _Code(graph)
    for node in order(graph, [reference for group in wanted.values() for reference in group]):
        code.define(node)
    results = tuple(tuple(code.value(reference) for reference in group) for group in wanted.values())
    ports = tuple(Port(key, array.shape) for key, array in arrays.items())
    program = Program(name, tuple(graph.inputs), ports, tuple(code.instructions), results, **about)
    # Last: which signs are left over is known only when every reference has become a value.
    return without_negations(program)


@dataclass
class _Code:
    """Instructions so far, and the value that each reference has become."""

    graph: Graph
    instructions: list[Instruction] = field(default_factory=list)
    values: dict[int, int] = field(default_factory=dict)

    def define(self, node: int) -> None:
        op, *operands = self.graph.nodes[node - 1]
        if op is Op.INPUT:
            self._append(node, Instruction(op, place=(operands[0], operands[1])))
        elif op is Op.UNIT:
            self._append(node, Instruction(op, place=(0, operands[0])))
        elif op is Op.SAME:
            self.values[node] = self.value(operands[0])
        elif op is not Op.CONSTANT:  # constants appear, with their sign, where they are read
            self._append(node, Instruction(op, tuple(self.value(operand) for operand in operands)))

    def value(self, reference: int) -> int:
        """The value of a reference; a minus that nothing absorbed becomes a negation."""
        if reference not in self.values:
            number = self.graph.number(reference)
            if number is None:
                self._append(reference, Instruction(Op.NEGATE, (self.values[-reference],)))
            else:
                self._append(reference, Instruction(Op.CONSTANT, number=number))
        return self.values[reference]

    def _append(self, reference: int, instruction: Instruction) -> None:
        self.values[reference] = len(self.instructions)
        self.instructions.append(instruction)
