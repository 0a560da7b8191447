"""Steps of a trace: candidates that differ in one body share the steps before it.

A search traces hundreds of candidates, each a move away from the last. All are traced on one graph, step by step; a
step that reads the same as it did for the candidate before is not traced again. From the first that differs on, the
graph forgets what it held, so that nodes are numbered as on a graph of the candidate's own: the order of operands, and
with it the text of a program, depends on these numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar

from tauform.codegen.program.graph import Graph, Scalar

Result = TypeVar("Result")


class _Step(NamedTuple):
    """What a step read beside the results of those before, what it gave, and the size of the graph before it."""

    reads: Hashable
    result: Any
    n_nodes: int
    n_inputs: int


class Steps:
    """The steps of the last trace on a graph, and how many of them the present trace repeats.

    All candidates take the same number of steps. Work between two steps is the same for all; what depends on the
    candidate is done in steps, or after the last.

    Args:
        only_counted: no program is made of the graph: steps may be in whatever order shares most of them.
    """

    def __init__(self, graph: Graph, only_counted: bool = False) -> None:
        self.graph, self.only_counted = graph, only_counted
        self._done: list[_Step] = []
        self._repeated = 0

    def begin(self) -> None:
        """Start the trace of another candidate."""
        self._repeated = 0

    def take(self, reads: Hashable, make: Callable[[], Result]) -> Result:
        """The result of the next step: of the last trace if that read the same up to here, else made."""
        done, k = self._done, self._repeated
        self._repeated += 1
        if k < len(done):
            # The same reads after the same steps: the same nodes are already on the graph.
            if done[k].reads == reads:
                result: Result = done[k].result
                return result
            # Everything after the first difference is forgotten, numbers of nodes included.
            self.graph.shrink(done[k].n_nodes, done[k].n_inputs)
            del done[k:]
        size = len(self.graph.nodes), len(self.graph.inputs)
        result = make()
        done.append(_Step(reads, result, *size))
        return result


def content(values: list[Any]) -> tuple[Any, ...]:
    """Numbers and scalars as what tells them apart; a scalar stands for what its reference does."""
    # A tuple tells a reference from a number of the same value.
    return tuple([(value.reference,) if type(value) is Scalar else value for value in values])
