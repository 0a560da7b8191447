"""Results of a program after moves, at a few states: only what a changed value reaches is computed again.

Most moves fail, and most of these at the hardest states already. Building the program anew for each would take longer
than all evaluations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.program.program import ON_ARRAYS, Op, Program
from tauform.codegen.pruning.moves import Move
from tauform.portable.elementwise import cos, sin

OPERATIONS = {**ON_ARRAYS, Op.SIN: sin, Op.COS: cos}


@dataclass(frozen=True, eq=False)
class Retrace:
    """A program at some states.

    Attributes:
        values: of each instruction, a number or (N,).
    """

    program: Program
    values: list[Any]
    n_states: int

    @classmethod
    def of(cls, program: Program, states: list[Array]) -> Retrace:
        """The program at states, (N, size) for each input port."""
        return cls(program, program.values(states), len(states[0]))

    def results(self, chosen: Sequence[Move]) -> Array:
        """(N, m) all results after moves; equal to those of the rewritten program but for rounding."""
        moved = {move.value: move for move in chosen}
        values, changed = list(self.values), set[int]()
        # Earlier values stay as they are: operands come before what reads them.
        for k in range(min(moved), len(values)):
            instruction = self.program.instructions[k]
            if k in moved:
                values[k] = moved[k].left([values[a] for a in instruction.args], instruction.op)
            elif not changed.isdisjoint(instruction.args):
                values[k] = OPERATIONS[instruction.op](*[values[a] for a in instruction.args])
            else:
                continue
            changed.add(k)
        entries = [np.broadcast_to(values[k], self.n_states) for result in self.program.results for k in result]
        return np.stack(entries, axis=1)
