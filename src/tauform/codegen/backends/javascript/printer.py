"""Functions of programs in JavaScript."""

from __future__ import annotations

from tauform.codegen.backends.expressions import Spelling, decimal, statements
from tauform.codegen.program.program import Program
from tauform.escaping.c import comment

# Math.sign keeps zero and what is not a number, as programs do.
SPELLING = Spelling(
    entry=lambda port, index: f"{port.name}[{index}]",
    number=decimal,
    function=lambda name: f"Math.{name}",
    definition="const {name} = {value};",
)


def function_text(program: Program, name: str) -> str:
    """An exported function that takes arrays, fills the output arrays and returns them."""
    inputs = [port.name for port in program.inputs]
    # A default argument: callers in a loop pass their own array and avoid garbage.
    outputs = [f"{port.name} = new Float64Array({port.size})" for port in program.outputs]
    made = [port.name for port in program.outputs]
    returned = made[0] if len(made) == 1 else f"[{', '.join(made)}]"
    body = "\n".join(f"  {line}" for line in [*statements(program, SPELLING), f"return {returned};"])
    return f"{_documented(program)}export function {name}({', '.join([*inputs, *outputs])}) {{\n{body}\n}}\n"


def _documented(program: Program) -> str:
    shapes = [f" * @param {p.name} {' x '.join(map(str, p.shape)) or 1} numbers" for p in program.inputs]
    results = ", ".join(f"{p.name} ({' x '.join(map(str, p.shape)) or 1})" for p in program.outputs)
    summary = program.about.summary or program.name
    return "\n".join(["/**", f" * {comment(summary)}", *shapes, f" * @returns {results}", " */", ""])
