"""Negations: gone wherever another sign costs nothing, kept where it would not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Op, Program


def _program(function: Callable[..., list[Any]]) -> Program:
    graph = Graph()
    return lower(graph, "p", {"y": function(*graph.input("x", 4))})


@pytest.mark.parametrize(
    ("function", "negations"),
    [
        (lambda a, b, c, d: [-(a - b)], 0),
        (lambda a, b, c, d: [-(a * (b - c))], 0),
        (lambda a, b, c, d: [-(2.5 * a)], 0),
        (lambda a, b, c, d: [-(a * b + c * (d - a))], 0),
        (lambda a, b, c, d: [-(2.5 * a) * b, 2.5 * c], 0),
        (lambda a, b, c, d: [-(a + b)], 1),
        (lambda a, b, c, d: [-(a * b)], 1),
        # the difference is wanted with both signs
        (lambda a, b, c, d: [-(a - b), a - b], 1),
    ],
)
def test_negations_that_are_left(function: Callable[..., list[Any]], negations: int) -> None:
    program = _program(function)
    assert program.count(Op.NEGATE) == negations
    values = np.array([0.7, -1.3, 2.1, 0.4])
    np.testing.assert_allclose(program(values), function(*values), rtol=1e-14)
