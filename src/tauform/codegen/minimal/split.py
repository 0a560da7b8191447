"""Split a graph by what it depends on: work on parameters alone is done once, in a setup program of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tauform.codegen.minimal.tracing import state_dependent
from tauform.codegen.program.graph import Graph, Scalar, references
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program


def lowered(graph: Graph, name: str, outputs: Mapping[str, Any], **about: Any) -> Program:
    """A program of the outputs; with shared inputs, `program.setup` computes the block that it reads."""
    # Nothing comes at run time but the state.
    if not any(port.shared for port in graph.inputs):
        return lower(graph, name, outputs, **about)
    arrays = {key: np.asarray(value, dtype=object) for key, value in outputs.items()}
    flat = {key: references(graph, array.ravel().tolist()) for key, array in arrays.items()}
    # References of graphs are signed: a negative one is the negated node.
    results = [reference for group in flat.values() for reference in group]
    dependent = state_dependent(graph, results)
    frontier = _frontier(graph, results, dependent)

    main = Graph()
    copies = _state_inputs(graph, main)
    setup = None
    if frontier:  # where nothing depends on the parameters (kinematics), there is nothing to set up
        setup = _setup(graph, name, frontier)
        block = main.input("block", len(frontier), shared=True)
        copies.update(zip(frontier, references(main, list(block)), strict=True))
    # Nodes are numbered in the order they were made, operands first.
    for node in sorted(dependent):
        if node not in copies:
            copies[node] = _copied(graph, main, node, copies)

    def moved(reference: int) -> Scalar:
        number = graph.number(reference)
        if number is not None:
            return Scalar(main, main.constant(number))
        return Scalar(main, copies[abs(reference)] if reference > 0 else -copies[abs(reference)])

    moved_outputs = {
        key: np.array([moved(r) for r in flat[key]], dtype=object).reshape(array.shape) for key, array in arrays.items()
    }
    return lower(main, name, moved_outputs, setup=setup, **about)


def _setup(graph: Graph, name: str, frontier: list[int]) -> Program:
    block = np.array([Scalar(graph, node) for node in frontier], dtype=object)
    program = lower(graph, f"{name}_setup", {"block": block})
    # The setup reads shared inputs only, by the choice of its results.
    return _with_inputs(program, tuple(k for k, port in enumerate(program.inputs) if port.shared))


def _frontier(graph: Graph, results: list[int], dependent: set[int]) -> list[int]:
    """Parameter-only values that state-dependent nodes or the results read."""
    # Only what the state's side reads crosses over: the block is as short as it can be.
    read = {abs(operand) for node in dependent for operand in graph.operands(node)} | {abs(r) for r in results}
    # Constants are written into either program; they need no place in the block.
    return [node for node in sorted(read - dependent) if graph.nodes[node - 1][0] is not Op.CONSTANT]


def _state_inputs(graph: Graph, main: Graph) -> dict[int, int]:
    copies = {}
    for k, port in enumerate(graph.inputs):
        if not port.shared:
            for index, scalar in enumerate(main.input(port.name, *port.shape).ravel().tolist()):
                copies[graph.node((Op.INPUT, k, index))] = scalar.reference
    return copies


def _copied(graph: Graph, main: Graph, node: int, copies: dict[int, int]) -> int:
    op, *operands = graph.nodes[node - 1]
    moved = []
    for operand in operands:
        number = graph.number(operand)
        moved.append(main.constant(number) if number is not None else _signed(copies, operand))
    # A value that was hidden from algebra has done its work: from here on it is itself.
    return moved[0] if op is Op.SAME else main.apply(op, *moved)


def _signed(copies: dict[int, int], reference: int) -> int:
    return copies[reference] if reference > 0 else -copies[-reference]


def _with_inputs(program: Program, kept: tuple[int, ...]) -> Program:
    """The program without inputs that it never reads."""
    place = {old: new for new, old in enumerate(kept)}
    instructions = tuple(
        replace(i, place=(place[i.place[0]], i.place[1])) if i.op is Op.INPUT else i for i in program.instructions
    )
    return replace(program, inputs=tuple(program.inputs[k] for k in kept), instructions=instructions)
