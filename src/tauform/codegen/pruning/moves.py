"""Moves that make a program smaller at the price of some error: leave out a summand, or put a number for a value.

The error after a move is predicted to first order from the program's slopes, so hundreds of moves are compared for
the price of one evaluation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.program.program import BINARY, FUNCTIONS, Op, Program
from tauform.codegen.pruning.sensitivity import Sensitivity

# What an instruction is worth: a sine costs about as much as this many products.
FUNCTION_COST = 6
COST = {**dict.fromkeys((*BINARY, Op.NEGATE), 1), **dict.fromkeys(FUNCTIONS, FUNCTION_COST)}


@dataclass(frozen=True, eq=False)
class Move:
    """One change of a program.

    Attributes:
        value: the instruction that is changed.
        summand: which summand goes, or None where the value becomes `number`.
        saved: cost of the instructions that fall away.
        change: (m, N) predicted change of the weighted results.
    """

    value: int
    summand: int | None
    number: float
    saved: int
    change: Array

    def left(self, operands: list[Any], op: Op) -> Any:
        """What the value becomes, of the operands that it had."""
        if self.summand is None:
            return self.number
        # a - b without a leaves -b
        return -operands[1] if op is Op.SUBTRACT and self.summand == 0 else operands[1 - self.summand]


def cost(program: Program) -> int:
    """Operations, with sines and roots at their price."""
    return sum(COST.get(instruction.op, 0) for instruction in program.instructions)


def moves(program: Program, linear: Sensitivity, error: Array) -> Iterator[Move]:
    """All moves; `error` (m, N) is the present error of the weighted results."""
    uses = Counter(k for instruction in program.instructions for k in instruction.args)
    # Results are read too: their values never fall away.
    uses.update(k for result in program.results for k in result)
    for k, instruction in enumerate(program.instructions):
        slope = linear.slopes[k]
        if slope is None or instruction.op not in COST:
            continue
        if instruction.op in (Op.ADD, Op.SUBTRACT):
            for place, summand in enumerate(instruction.args):
                # Leaving out b of a - b adds b.
                lost = slope * linear.values[summand]
                change = lost if instruction.op is Op.SUBTRACT and place == 1 else np.negative(lost, out=lost)
                yield Move(k, place, 0.0, 1 + _freed(program, uses, summand), change)
        size = float((slope * slope).sum())
        if size > 0:  # the number that fits best, given the error already there
            number = float((slope * (slope * linear.values[k] - error)).sum()) / size
            yield Move(k, None, number, _freed(program, uses, k, uses[k]), slope * (number - linear.values[k]))


def _freed(program: Program, uses: Counter[int], value: int, gone: int = 1) -> int:
    """Cost of what falls away when some uses of a value go."""
    # Lost as often as it is read: then it is computed for nobody.
    lost = {value: gone - 1}
    total = 0
    stack = [value]
    while stack:
        k = stack.pop()
        lost[k] = lost.get(k, 0) + 1
        if lost[k] == uses[k]:
            total += COST.get(program.instructions[k].op, 0)
            stack.extend(program.instructions[k].args)
    return total
