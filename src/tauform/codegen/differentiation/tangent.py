"""Tangents: the directional derivative of a graph's results, built into the same graph (forward mode).

Derivatives of products and sums of what is already there, so the values of the function itself are shared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tauform.codegen.program.graph import Graph, Scalar, references
from tauform.codegen.program.program import Op
from tauform.codegen.program.schedule import reachable


def tangents(values: Sequence[Any], directions: Mapping[int, int]) -> list[Scalar]:
    """Derivatives of scalars in a direction.

    Args:
        values: scalars of one graph.
        directions: rate of change of inputs, and of intermediate values that count as independent (node: reference).
    """
    # Some values may be plain numbers: torques of joints that nothing acts on.
    graph = next(value.graph for value in values if isinstance(value, Scalar))
    results = references(graph, list(values))
    rates: dict[int, int] = {}
    zero = graph.constant(0.0)
    # Nodes are numbered after their operands, so ascending order meets every operand first.
    for node in reachable(graph, results):
        if node in directions:
            rates[node] = directions[node]
        elif any(rates[abs(operand)] != zero for operand in graph.operands(node)):
            rates[node] = _rate(graph, node, rates)
        else:
            rates[node] = zero
    return [Scalar(graph, rates[r] if r > 0 else -rates[-r]) for r in results]


def _rate(graph: Graph, node: int, rates: Mapping[int, int]) -> int:
    op, *operands = graph.nodes[node - 1]
    a = operands[0]
    # Only roots, exponentials and angles keep the sign of what they read.
    da = rates[a] if a > 0 else -rates[-a]
    if op is Op.SIN:
        return graph.multiply(graph.function(Op.COS, a), da)
    if op is Op.COS:
        return graph.multiply(-graph.function(Op.SIN, a), da)
    # A jump has no derivative: it counts as none, as in the textbook.
    if op is Op.SIGN:
        return graph.constant(0.0)
    # (sqrt a)' = a' / (2 sqrt a): the root is there already. The same holds for e^x.
    if op is Op.SQRT:
        return graph.divide(graph.multiply(graph.constant(0.5), da), node)
    if op is Op.ABS:
        return graph.multiply(graph.function(Op.SIGN, a), da)
    if op is Op.EXP:
        return graph.multiply(node, da)
    if op is Op.TANH:  # 1 - tanh^2
        return graph.multiply(graph.add(graph.constant(1.0), -graph.multiply(node, node)), da)
    b = operands[1]
    db = rates[b] if b > 0 else -rates[-b]
    if op is Op.ADD:
        return graph.add(da, db)
    if op is Op.SUBTRACT:
        return graph.add(da, -db)
    # (a^2)' = 2 a a': one product fewer than the rule for two factors.
    if op is Op.MULTIPLY and a == b:
        return graph.multiply(graph.add(a, a), da)
    if op is Op.MULTIPLY:
        return graph.add(graph.multiply(da, b), graph.multiply(a, db))
    if op is Op.DIVIDE:  # (a / b)' = (a' - (a / b) b') / b
        return graph.divide(graph.add(da, -graph.multiply(node, db)), b)
    if op is Op.ATAN2:  # d atan2(a, b) = (b da - a db) / (a^2 + b^2)
        cross = graph.add(graph.multiply(b, da), -graph.multiply(a, db))
        return graph.divide(cross, graph.add(graph.multiply(a, a), graph.multiply(b, b)))
    raise ValueError(f"{op} has no tangent here")
