"""Functions of programs in JavaScript: one constant per value that is read twice, the rest written where it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tauform.codegen.program.port import Port
from tauform.codegen.program.program import FREE, Instruction, Op, Program
from tauform.escaping.c import comment

LINE_LENGTH = 100
_SYMBOL = {Op.ADD: " + ", Op.SUBTRACT: " - ", Op.MULTIPLY: "*", Op.DIVIDE: "/"}
# Math.sign keeps zero and what is not a number, as programs do.
_FUNCTION = {op: f"Math.{op.value}" for op in (Op.SIN, Op.COS, Op.SQRT, Op.SIGN, Op.ABS, Op.EXP, Op.TANH, Op.ATAN2)}


def function_text(program: Program, name: str) -> str:
    """An exported function that takes arrays, fills the output arrays and returns them."""
    inputs = [port.name for port in program.inputs]
    outputs = [f"{port.name} = new Float64Array({port.size})" for port in program.outputs]
    made = [port.name for port in program.outputs]
    returned = made[0] if len(made) == 1 else f"[{', '.join(made)}]"
    lines, expressions = _statements(program)
    stores = [
        f"{port.name}[{k}] = {expressions[value]};"
        for port, values in zip(program.outputs, program.results, strict=True)
        for k, value in enumerate(values)
    ]
    body = "\n".join(f"  {line}" for line in [*lines, *stores, f"return {returned};"])
    return f"{_documented(program)}export function {name}({', '.join([*inputs, *outputs])}) {{\n{body}\n}}\n"


def _statements(program: Program) -> tuple[list[str], dict[int, str]]:
    """Statements that name values, and every value as an expression."""
    uses = Counter(k for instruction in program.instructions for k in instruction.args)
    # A result is read after the first output was stored, and an output may be the array of an input: it gets a name.
    uses.update(k for result in program.results for k in (*result, *result))
    lines: list[str] = []
    expressions: dict[int, str] = {}
    for value, instruction in enumerate(program.instructions):
        text = _text(instruction, [expressions[k] for k in instruction.args], program.inputs)
        if instruction.op is Op.CONSTANT or (uses[value] < 2 and len(text) < LINE_LENGTH):
            is_atom = instruction.op in FREE or instruction.op in _FUNCTION
            expressions[value] = text if is_atom else f"({text})"
        else:
            expressions[value] = f"t{len(lines)}"
            lines.append(f"const {expressions[value]} = {text};")
    return lines, expressions


def _text(instruction: Instruction, operands: Sequence[str], ports: Sequence[Port]) -> str:
    op = instruction.op
    if op is Op.INPUT:
        port, index = instruction.place
        return f"{ports[port].name}[{index}]"
    if op is Op.CONSTANT:
        # The shortest decimal that reads back as this number; brackets keep a sign from meeting an operator.
        return repr(float(instruction.number)) if instruction.number >= 0 else f"({float(instruction.number)!r})"
    if op is Op.NEGATE:
        return f"-{operands[0]}"
    if op in _SYMBOL:
        return _SYMBOL[op].join(operands)
    return f"{_FUNCTION[op]}({', '.join(operands)})"


def _documented(program: Program) -> str:
    shapes = [f" * @param {p.name} {' x '.join(map(str, p.shape)) or 1} numbers" for p in program.inputs]
    results = ", ".join(f"{p.name} ({' x '.join(map(str, p.shape)) or 1})" for p in program.outputs)
    summary = program.about.summary or program.name
    return "\n".join(["/**", f" * {comment(summary)}", *shapes, f" * @returns {results}", " */", ""])
