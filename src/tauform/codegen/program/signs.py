"""Minus signs moved to where they cost nothing.

A negation that no operation absorbed disappears if what it negates can be computed with the other sign: a difference
with its terms exchanged, a product by one of its factors, a sum as a difference. Only values that nothing else reads
can change their sign.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from tauform.codegen.program.program import Instruction, Op, Program


def without_negations(program: Program) -> Program:
    """The program with as few negations as possible."""
    flipped = _flipped(program)
    # Decided first, written second: a reader must know the sign of what it reads.
    code = _SignedCode(program, flipped)
    for value in range(len(program.instructions)):
        code.define(value)
    results = tuple(tuple(code.operand(k) for k in result) for result in program.results)
    return replace(program, instructions=tuple(code.instructions), results=results)


def _flipped(program: Program) -> set[int]:
    """Values that are to be computed with the other sign; a constant among them keeps its sign for other readers."""
    free = _free_to_flip(program)
    flipped: set[int] = set()
    # Readers first: what they want turned is known when a value is reached.
    for value in reversed(range(len(program.instructions))):
        instruction = program.instructions[value]
        turned = value in flipped
        if instruction.op is Op.NEGATE and not turned and instruction.args[0] in free:
            flipped.add(instruction.args[0])
        elif turned and instruction.op in (Op.ADD, Op.MULTIPLY):
            flipped.add(_changed_operand(program, instruction, free))
    return flipped


def _free_to_flip(program: Program) -> set[int]:
    """Constants, and values with one reader that can change their sign without another operation."""
    readers = Counter(k for instruction in program.instructions for k in instruction.args)
    # Counted twice, so that a result never has a single reader.
    readers.update(k for result in program.results for k in (*result, *result))  # results keep their sign
    free: set[int] = set()
    for value, instruction in enumerate(program.instructions):
        easy = instruction.op in (Op.SUBTRACT, Op.NEGATE)
        by_operand = instruction.op in (Op.ADD, Op.MULTIPLY) and any(k in free for k in instruction.args)
        if instruction.op is Op.CONSTANT or (readers[value] == 1 and (easy or by_operand)):
            free.add(value)
    return free


def _changed_operand(program: Program, instruction: Instruction, free: set[int]) -> int:
    """The operand whose sign changes with that of a sum or product: a constant if there is one."""
    candidates = [k for k in instruction.args if k in free]
    # A constant with the other sign costs nothing, and changes nothing further up.
    return min(candidates, key=lambda k: program.instructions[k].op is not Op.CONSTANT)


@dataclass
class _SignedCode:
    """Instructions so far, the new value of each old one, and constants, which appear where they are read."""

    old: Program
    flipped: set[int]
    new: dict[int, int] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    constants: dict[float, int] = field(default_factory=dict)

    def define(self, value: int) -> None:
        instruction = self.old.instructions[value]
        # Made where they are read, with the sign that is wanted there.
        if instruction.op is Op.CONSTANT:
            return
        # The negation disappears: its operand has the other sign already, or the reader wants it without.
        if instruction.op is Op.NEGATE and (value in self.flipped or instruction.args[0] in self.flipped):
            self.new[value] = self.operand(instruction.args[0])
        elif value in self.flipped:
            self.new[value] = self._append(self._turned(instruction))
        else:
            args = tuple([self.operand(k) for k in instruction.args])
            # Most stay as they are, and searches lower thousands of programs.
            kept = args == instruction.args
            self.new[value] = self._append(instruction if kept else replace(instruction, args=args))

    def operand(self, value: int, sign: float = 1.0) -> int:
        """The new value of an old one; a constant with the sign that is asked for."""
        instruction = self.old.instructions[value]
        if instruction.op is not Op.CONSTANT:
            return self.new[value]
        number = sign * instruction.number
        if number not in self.constants:
            self.constants[number] = self._append(Instruction(Op.CONSTANT, number=number))
        return self.constants[number]

    def _turned(self, instruction: Instruction) -> Instruction:
        """The same operation with the other sign."""
        a, b = instruction.args
        if instruction.op is Op.SUBTRACT:
            return Instruction(Op.SUBTRACT, (self.operand(b), self.operand(a)))
        # a + b with the other sign is (-a) - b, where -a costs nothing.
        if _changed_operand(self.old, instruction, self.flipped) == b:
            a, b = b, a
        op = Op.MULTIPLY if instruction.op is Op.MULTIPLY else Op.SUBTRACT
        return Instruction(op, (self.operand(a, -1.0), self.operand(b)))

    def _append(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        return len(self.instructions) - 1
