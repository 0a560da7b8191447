"""Order of a program's instructions: operands before uses, and few values alive at a time.

Each result is computed depth first, the operand that needs more registers first (Sethi and Ullman 1970); a value is
made just before its first use. Constants and inputs are free and stand right before what reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count

from tauform.codegen.program.graph import Graph
from tauform.codegen.program.program import FREE, Op

_ADD, _SUBTRACT, _MULTIPLY = Op.ADD, Op.SUBTRACT, Op.MULTIPLY


def ordered(graph: Graph, results: Sequence[int]) -> list[int]:
    """Nodes that the results need, in an executable order."""
    need = _registers_needed(graph, results)
    done: set[int] = set()
    order: list[int] = []
    # A stack of its own: programs are deeper than Python's recursion limit.
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
    # Operands first: bottom up.
    for node in reachable(graph, results):
        counts = sorted((need[abs(a)] for a in graph.operands(node)), reverse=True)
        # While the k-th operand is computed, k earlier ones wait in registers.
        need[node] = max([1, *(count + k for k, count in enumerate(counts))])
    return need


def reachable(graph: Graph, results: Sequence[int]) -> list[int]:
    """Nodes that the results depend on, themselves included; ascending, so that operands come first."""
    return list(compress(count(1), needed(graph, results)))


def needed(graph: Graph, results: Sequence[int]) -> bytearray:
    """Of each node up to the latest result, whether the results depend on it."""
    latest = max(map(abs, results), default=0)
    found = bytearray(latest + 1)
    for result in results:
        found[abs(result)] = 1
    # nodes are numbered after their operands: downwards, all that need a node come before it
    for node, key in zip(range(latest, 0, -1), reversed(graph.nodes[:latest]), strict=True):
        if found[node]:
            op = key[0]
            if op is _MULTIPLY or op is _ADD or op is _SUBTRACT:  # most are, and have no signs
                found[key[1]] = found[key[2]] = 1
            elif op not in FREE:
                for operand in key[1:]:
                    found[abs(operand)] = 1
    return found[1:]
