"""Adjoints: the slopes of a weighted sum of a program's results by each of its inputs (reverse mode).

One sweep from the results back to the inputs costs a few times the program itself, however many inputs there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from tauform.codegen.program.embed import embedded, own_inputs
from tauform.codegen.program.graph import Graph, Scalar, references
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program
from tauform.codegen.program.schedule import reachable


def adjoint_program(program: Program) -> Program:
    """A program of the inputs and a weight for each entry of the outputs; its outputs are `d_<input>`.

    With f = sum(weights * output), d_q = df/dq and so on. The weights are an input `weights`, or one
    `weights_<output>` for each of several outputs.
    """
    graph = Graph()
    inputs = own_inputs(graph, program)
    results = embedded(graph, program, inputs)
    # One output is the usual case, and its weights need no longer name.
    names = ["weights"] if len(results) == 1 else [f"weights_{port.name}" for port in program.outputs]
    weights = [
        references(graph, graph.input(name, *port.shape).ravel().tolist())
        for name, port in zip(names, program.outputs, strict=True)
    ]
    found = _swept(graph, list(chain(*results)), list(chain(*weights)), set(chain(*inputs)))
    slopes = {
        f"d_{port.name}": np.array(
            [Scalar(graph, found.get(r, graph.constant(0.0))) for r in flat], dtype=object
        ).reshape(port.shape)
        for port, flat in zip(program.inputs, inputs, strict=True)
    }
    return lower(graph, f"{program.name}_adjoint", slopes, robot=program.robot, algorithm=program.algorithm)


def adjoints(values: Sequence[Any], weights: Sequence[Any], inputs: Sequence[Scalar]) -> list[Scalar]:
    """Slopes of sum(weights * values) by each input, built into the same graph; the weights are held.

    Args:
        values: scalars of one graph, or numbers.
        inputs: inputs of the graph; whatever does not depend on them counts as constant, so do hidden values.
    """
    graph = inputs[0].graph
    wanted = [scalar.reference for scalar in inputs]
    found = _swept(graph, references(graph, list(values)), references(graph, list(weights)), set(wanted))
    zero = graph.constant(0.0)
    return [Scalar(graph, found.get(reference, zero)) for reference in wanted]


def _swept(graph: Graph, results: Sequence[int], weights: Sequence[int], inputs: set[int]) -> Mapping[int, int]:
    """Slope of the weighted sum by every node between the inputs and the results."""
    between = _dependent(graph, results, inputs)
    slopes: dict[int, int] = {}

    def credit(reference: int, slope: int) -> None:
        # Of a node that several read, slopes add up.
        node = abs(reference)
        # Slopes by constants and held values would be computed for nobody.
        if node in between:
            signed = slope if reference > 0 else -slope
            slopes[node] = graph.add(slopes[node], signed) if node in slopes else signed

    for result, weight in zip(results, weights, strict=True):
        credit(result, weight)
    # Operands have smaller numbers: at its turn a node has been credited by everything that reads it.
    for node in sorted(between, reverse=True):
        if node in slopes and node not in inputs:
            for operand, slope in _shares(graph, node, slopes[node]):
                credit(operand, slope)
    return slopes


def _dependent(graph: Graph, results: Sequence[int], inputs: set[int]) -> set[int]:
    dependent: set[int] = set()
    for node in reachable(graph, results):
        # Hidden values (SAME) end the chain on purpose: they count as independent.
        operands = () if graph.nodes[node - 1][0] is Op.SAME else graph.operands(node)
        if node in inputs or any(abs(operand) in dependent for operand in operands):
            dependent.add(node)
    return dependent


def _shares(graph: Graph, node: int, slope: int) -> list[tuple[int, int]]:
    """(operand, slope by it) of one operation."""
    op, *operands = graph.nodes[node - 1]
    a, b = operands[0], operands[-1]
    if op is Op.SIN:
        return [(a, graph.multiply(slope, graph.function(Op.COS, a)))]
    if op is Op.COS:
        return [(a, -graph.multiply(slope, graph.function(Op.SIN, a)))]
    # As of tangents, a jump counts as no slope.
    if op is Op.SIGN:
        return []
    if op is Op.SQRT:
        return [(a, graph.divide(graph.multiply(graph.constant(0.5), slope), node))]
    if op is Op.ABS:
        return [(a, graph.multiply(slope, graph.function(Op.SIGN, a)))]
    if op is Op.EXP:
        return [(a, graph.multiply(slope, node))]
    if op is Op.TANH:  # 1 - tanh^2
        return [(a, graph.multiply(slope, graph.add(graph.constant(1.0), -graph.multiply(node, node))))]
    if op is Op.ADD:
        return [(a, slope), (b, slope)]
    if op is Op.SUBTRACT:
        return [(a, slope), (b, -slope)]
    if op is Op.MULTIPLY:
        return [(a, graph.multiply(slope, b)), (b, graph.multiply(slope, a))]
    if op is Op.DIVIDE:  # d(a / b) = da / b - (a / b) db / b
        part = graph.divide(slope, b)
        return [(a, part), (b, -graph.multiply(part, node))]
    if op is Op.ATAN2:  # d atan2(a, b) = (b da - a db) / (a^2 + b^2)
        part = graph.divide(slope, graph.add(graph.multiply(a, a), graph.multiply(b, b)))
        return [(a, graph.multiply(part, b)), (b, -graph.multiply(part, a))]
    raise ValueError(f"{op} has no adjoint here")
