"""Steps of a long program in the order they run in: arithmetic, fused where that saves, and rows that are stored.

Results are taken in groups of neighbours in memory, each stored as soon as it is there. The next group is always the
one that needs the fewest values which are not computed yet: so what groups share is made late and used soon.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tauform.codegen.backends.llvm.fusion import fusion
from tauform.codegen.program.program import FREE, Op, Program

# Neighbours in memory that are stored together.
GROUP = 4

_NAMES = {
    Op.ADD: "add",
    Op.SUBTRACT: "sub",
    Op.MULTIPLY: "mul",
    Op.DIVIDE: "div",
    Op.NEGATE: "negate",
    Op.SQRT: "sqrt",
}
KNOWN = frozenset(_NAMES)


@dataclass(frozen=True)
class PlannedStep:
    """One step.

    Attributes:
        op: such as "add"; "fmadd" a b + c, "fmsub" a b - c, "fnmadd" c - a b; "rows" for a group that is stored.
        args: the values it reads.
        value: what it makes; -1 for rows.
        place: output port and first column, for rows.
    """

    op: str
    args: tuple[int, ...]
    value: int = -1
    place: tuple[int, int] = (0, 0)


def planned_steps(program: Program, values: Sequence[int]) -> list[PlannedStep]:
    """Steps that compute some values of a program, the last ones, and store all of its results."""
    own = {k for k in values if program.instructions[k].op not in FREE}
    # Results must exist on their own: their products do not vanish into sums.
    kept = {k for result in program.results for k in result}
    fused = fusion(program, sorted(own), kept)
    absorbed = set(fused.values())
    steps, done = [], set[int]()
    for group in _ordered(program, own):
        for value in _executable(program, group.args, own, done):
            if value not in absorbed:
                steps.append(_arithmetic(program, value, fused.get(value)))
        steps.append(group)
    return steps


def _groups(program: Program) -> list[PlannedStep]:
    """Rows of all outputs; the last group of a port overlaps with the one before it where its size is no multiple."""
    groups = []
    for port, result in enumerate(program.results):
        # A multiple of GROUP ends with a full group; else the last one steps back.
        for column in [*range(0, len(result) - GROUP, GROUP), len(result) - GROUP]:
            groups.append(PlannedStep("rows", result[column : column + GROUP], place=(port, column)))
    return groups


def _ordered(program: Program, own: set[int]) -> list[PlannedStep]:
    """Groups, each time the one with the fewest values that are still to be computed."""
    behind: list[int] = []  # bit k: value k is needed
    # Python's integers as sets: the union of thousands of values is one operation.
    for value, instruction in enumerate(program.instructions):
        needed = 1 << value if value in own else 0
        for operand in instruction.args:
            needed |= behind[operand]
        behind.append(needed)
    waiting = {group: _union(behind, group.args) for group in _groups(program)}
    order, done = [], 0
    while waiting:
        following = min(waiting, key=lambda group: (waiting[group] & ~done).bit_count())
        done |= waiting.pop(following)
        order.append(following)
    return order


def _union(behind: Sequence[int], values: Sequence[int]) -> int:
    needed = 0
    for value in values:
        needed |= behind[value]
    return needed


def _executable(program: Program, wanted: Sequence[int], own: set[int], done: set[int]) -> list[int]:
    """What is left to compute of some values, depth first in the order in which the program has it."""
    order: list[int] = []
    for result in wanted:
        # Without recursion: programs may be deeper than Python's stack.
        stack = [result]
        while stack:
            value = stack[-1]
            waiting = [k for k in program.instructions[value].args if k in own and k not in done]
            if value in own and value not in done and waiting:
                # Reversed, since the stack gives back the last first.
                stack.extend(sorted(waiting, reverse=True))
                continue
            stack.pop()
            if value in own and value not in done:
                done.add(value)
                order.append(value)
    return order


def _arithmetic(program: Program, value: int, product: int | None) -> PlannedStep:
    instruction = program.instructions[value]
    if product is None:
        return PlannedStep(_NAMES[instruction.op], instruction.args, value)
    left, right = instruction.args
    a, b = program.instructions[product].args
    if instruction.op is Op.ADD:
        return PlannedStep("fmadd", (a, b, right if left == product else left), value)
    return PlannedStep("fmsub", (a, b, right), value) if left == product else PlannedStep("fnmadd", (a, b, left), value)
