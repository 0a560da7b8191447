"""Values of a program at many states and how its results depend on each of them (reverse differentiation)."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.program.program import Instruction, Op, Program
from tauform.portable.elementwise import cos, sin


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """A program linearised at N states.

    Attributes:
        values: of each instruction, a number or (N,).
        slopes: of each instruction, (m, N) derivative of the m results with respect to it; None where there is none.
    """

    values: list[Any]
    slopes: list[Array | None]


def sensitivity(
    program: Program, states: list[Array], weights: Array, wanted: Container[Op] = frozenset(Op)
) -> Sensitivity:
    """Linearise a program.

    Args:
        states: for each input port (N, size).
        weights: (N, m) factor of each result at each state.
        wanted: operations whose slopes are asked for; others are dropped as soon as they have been passed on.
    """
    # All values are kept: slopes need what each operation read.
    values = program.values(states)
    results = [k for result in program.results for k in result]
    slopes: list[Array | None] = [None] * len(values)
    # (results, states) per value, weighted, so that errors of all results count in one unit.
    for row, k in enumerate(results):
        own = np.zeros((len(results), len(weights)))
        own[row] = weights[:, row]
        _add(slopes, k, own)
    # From the last instruction back: all readers of a value have passed their slopes on before it does.
    for k in reversed(range(len(values))):
        slope = slopes[k]
        if slope is not None:
            _spread(program.instructions[k], k, slope, values, slopes)
            if program.instructions[k].op not in wanted:
                slopes[k] = None
    return Sensitivity(values, slopes)


def _spread(instruction: Instruction, k: int, slope: Array, values: list[Any], slopes: list[Array | None]) -> None:
    """Chain rule: from a value to its operands."""
    op, args = instruction.op, instruction.args
    if op in (Op.ADD, Op.SUBTRACT):
        _add(slopes, args[0], slope)
        _add(slopes, args[1], slope if op is Op.ADD else -slope)
    elif op is Op.MULTIPLY:
        _add(slopes, args[0], slope * values[args[1]])
        _add(slopes, args[1], slope * values[args[0]])
    elif op is Op.DIVIDE:
        _add(slopes, args[0], slope / values[args[1]])
        # d(a / b) = da / b - (a / b) db / b
        _add(slopes, args[1], -slope * values[k] / values[args[1]])
    elif op is Op.NEGATE:
        _add(slopes, args[0], -slope)
    elif op is Op.SQRT:
        _add(slopes, args[0], slope * 0.5 / values[k])
    elif op is Op.SIN:
        _add(slopes, args[0], slope * cos(values[args[0]]))
    elif op is Op.COS:
        _add(slopes, args[0], -slope * sin(values[args[0]]))
    elif op is Op.ABS:
        _add(slopes, args[0], slope * np.sign(values[args[0]]))
    elif op is Op.EXP:
        _add(slopes, args[0], slope * values[k])
    elif op is Op.TANH:
        _add(slopes, args[0], slope * (1.0 - values[k] ** 2))


def _add(slopes: list[Array | None], k: int, more: Array) -> None:
    # A value with several readers has the sum of their slopes.
    known = slopes[k]
    slopes[k] = more if known is None else known + more
