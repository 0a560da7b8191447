"""Interpret a program on the scalars of another library: its symbols, its tensors, or intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tauform.codegen.program.program import Op, Program

Operations = Mapping[Op, Callable[..., Any]]

# Operations that Python's operators stand for, on any scalar that has them.
ARITHMETIC: Operations = {
    Op.ADD: lambda a, b: a + b,
    Op.SUBTRACT: lambda a, b: a - b,
    Op.MULTIPLY: lambda a, b: a * b,
    Op.DIVIDE: lambda a, b: a / b,
    Op.NEGATE: lambda a: -a,
}


def interpret(program: Program, inputs: Sequence[Sequence[Any]], operations: Operations) -> list[list[Any]]:
    """Entries of each output, from the entries of each input; constants stay floats.

    Args:
        inputs: for each port its entries in C order.
        operations: what stands for each operation but INPUT and CONSTANT.
    """
    values: list[Any] = []
    for instruction in program.instructions:
        if instruction.op is Op.INPUT:
            port, index = instruction.place
            values.append(inputs[port][index])
        elif instruction.op is Op.CONSTANT:
            values.append(instruction.number)
        else:
            values.append(operations[instruction.op](*(values[k] for k in instruction.args)))
    return [[values[k] for k in result] for result in program.results]
