"""Programs as statements of any language: values that are read twice get names, others stand where they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tauform.codegen.program.port import Port
from tauform.codegen.program.program import FREE, Op, Program

# Longer expressions get a name, so that lines stay readable.
LINE_LENGTH = 100
_SYMBOL = {Op.ADD: " + ", Op.SUBTRACT: " - ", Op.MULTIPLY: "*", Op.DIVIDE: "/"}
_FUNCTIONS = (Op.SIN, Op.COS, Op.SQRT, Op.SIGN, Op.ABS, Op.EXP, Op.TANH, Op.ATAN2)


@dataclass(frozen=True)
class Spelling:
    """Spelling of straight-line functions in a language.

    Attributes:
        entry: an entry of a port, by its flat index.
        number: a constant, also beside an operator that stands before it.
        function: name of the function for an operation, by that in programs.
        definition: a statement that names a value.
        store: a statement that sets an entry.
    """

    entry: Callable[[Port, int], str]
    number: Callable[[float], str]
    function: Callable[[str], str]
    definition: str
    store: str = "{place} = {value};"


def decimal(value: float) -> str:
    """The shortest decimal that reads back as this number; brackets keep a sign from meeting an operator."""
    return repr(float(value)) if value >= 0 else f"({float(value)!r})"


def statements(program: Program, language: Spelling) -> list[str]:
    """The body of a function; every input is read before the first output is stored, since arrays may be the same."""
    # Inputs count too: an input read twice is loaded once, under a name.
    uses = Counter(k for instruction in program.instructions for k in instruction.args)
    # A result is read after the first output was stored: it gets a name.
    uses.update(k for result in program.results for k in (*result, *result))
    lines: list[str] = []
    expressions: dict[int, str] = {}
    for value, instruction in enumerate(program.instructions):
        op, operands = instruction.op, [expressions[k] for k in instruction.args]
        if op is Op.INPUT:
            text = language.entry(program.inputs[instruction.place[0]], instruction.place[1])
        elif op is Op.CONSTANT:
            text = language.number(instruction.number)
        else:
            text = _operation(op, operands, language)
        # Constants stand where they are read: compilers keep them better than names would.
        if op is Op.CONSTANT or (uses[value] < 2 and len(text) < LINE_LENGTH):
            expressions[value] = text if op in FREE or op in _FUNCTIONS else f"({text})"
        else:
            expressions[value] = f"t{len(lines)}"
            lines.append(language.definition.format(name=expressions[value], value=text))
    stores = [
        language.store.format(place=language.entry(port, k), value=expressions[value])
        for port, values in zip(program.outputs, program.results, strict=True)
        for k, value in enumerate(values)
    ]
    return [*lines, *stores]


def _operation(op: Op, operands: Sequence[str], language: Spelling) -> str:
    if op is Op.NEGATE:
        return f"-{operands[0]}"
    if op in _SYMBOL:
        # Sums and products have two operands each; their order is the planned one.
        return _SYMBOL[op].join(operands)
    return f"{language.function(op.value)}({', '.join(operands)})"
