"""Functions of programs in C++17: templates over the number type, on std::array."""

from __future__ import annotations

from textwrap import fill

from tauform.codegen.backends.expressions import Spelling, statements
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Op, Program
from tauform.escaping.c import comment

# Looked up beside the number type first, so that types of automatic differentiation bring their own.
_FOUND = (Op.SIN, Op.COS, Op.SQRT, Op.ABS, Op.EXP, Op.TANH, Op.ATAN2)
SPELLING = Spelling(
    entry=lambda port, index: f"{port.name}[{index}]",
    # Real(...) also for types that do not convert from double by themselves.
    number=lambda value: f"Real({float(value)!r})",
    # The standard library has no sign; ours is in the header's namespace detail.
    function=lambda name: "detail::sign" if name == "sign" else name,
    definition="const Real {name} = {value};",
)


def function_text(program: Program, name: str) -> str:
    """A function template with its documentation."""
    arguments = [
        *(f"const {array(port)} &{port.name}" for port in program.inputs),
        *(f"{array(port)} &{port.name}" for port in program.outputs),
    ]
    # Inputs that do not matter for this robot are cast to void: no warnings.
    read = {program.inputs[i.place[0]].name for i in program.instructions if i.op is Op.INPUT}
    lines = [
        # `using std::...` in the function: names of other number types are found by their arguments.
        *(f"using std::{op.value};" for op in _FOUND if program.count(op)),
        *(f"static_cast<void>({port.name});" for port in program.inputs if port.name not in read),
        *statements(program, SPELLING),
    ]
    body = "\n".join(f"    {line}" for line in lines)
    head = fill(f"void {name}({', '.join(arguments)})", 116, subsequent_indent=" " * 4, break_long_words=False)
    return f"{_documented(program)}template <class Real>\n{head}\n{{\n{body}\n}}\n"


def array(port: Port, real: str = "Real") -> str:
    """Type of a port; matrices are flat, row by row."""
    return f"std::array<{real}, {port.size}>"


def _documented(program: Program) -> str:
    lines = [comment(program.about.summary or program.name), ""]
    for kind, ports in (("in ", program.inputs), ("out", program.outputs)):
        lines += [f"{kind} {port.name}: {' x '.join(map(str, port.shape)) or 1}" for port in ports]
    for port in program.inputs:
        if port.name in program.about.entries:
            lines.append(f"{port.name}: {comment(', '.join(program.about.entries[port.name]))}")
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */", ""])
