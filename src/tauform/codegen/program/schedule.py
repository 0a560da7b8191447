"""Order of a program's instructions: operands before uses, and few values alive at a time.

Each result is computed depth first, the operand that needs more registers first (Sethi and Ullman 1970); a value is
made just before its first use. Constants and inputs are free and stand right before what reads them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauform.codegen.program.graph import Graph


def ordered(graph: Graph, results: Sequence[int]) -> list[int]:
    """Nodes that the results need, in an executable order."""
    need = _registers_needed(graph, results)
    done: set[int] = set()
    order: list[int] = []
    for result in results:
        stack = [abs(result)]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            waiting = [abs(a) for a in graph.operands(node) if abs(a) not in done]
            if waiting:
                # the heavier operand is evaluated first: it is pushed last
                stack.extend(sorted(waiting, key=lambda a: need[a]))
            else:
                done.add(node)
                order.append(node)
                stack.pop()
    return order


def _registers_needed(graph: Graph, results: Sequence[int]) -> dict[int, int]:
    """Sethi-Ullman number of each node, as if the graph were a tree."""
    need: dict[int, int] = {}
    # Nodes are numbered after their operands, so ascending order is bottom up.
    for node in sorted(reachable(graph, results)):
        counts = sorted((need[abs(a)] for a in graph.operands(node)), reverse=True)
        need[node] = max([1, *(count + k for k, count in enumerate(counts))])
    return need


def reachable(graph: Graph, results: Sequence[int]) -> set[int]:
    """Nodes that the results depend on, themselves included."""
    seen: set[int] = set()
    stack = [abs(result) for result in results]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(abs(a) for a in graph.operands(node))
    return seen
