"""Functions of programs in MATLAB and Octave: matrices are matrices, vectors are columns."""

from __future__ import annotations

import numpy as np

from tauform.codegen.backends.expressions import Spelling, decimal, statements
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.escaping.c import comment


def function_text(program: Program, name: str) -> str:
    """The file of one function, with its help text; what cannot be real is an error."""
    outputs = ", ".join(port.name for port in program.outputs)
    inputs = ", ".join(port.name for port in program.inputs)
    # Made before it is filled, so that its size is known to MATLAB Coder and Simulink.
    made = [f"{port.name} = zeros({', '.join(map(str, size(port)))});" for port in program.outputs]
    lines = [f"function [{outputs}] = {name}({inputs})", *_help(program, name), "%#codegen", *made]
    return "\n".join([*lines, *statements(program, SPELLING), "end", ""])


def size(port: Port) -> tuple[int, ...]:
    """Rows, columns and further dimensions of an array."""
    # MATLAB has no arrays of fewer than two dimensions.
    return (*port.shape, 1, 1)[: max(2, len(port.shape))]


def _entry(port: Port, index: int) -> str:
    """Entries are counted from one; a vector may be a row or a column."""
    # One subscript per dimension of the port: one alone is right for rows and columns alike.
    place = [int(k) + 1 for k in np.unravel_index(index, port.shape)] or [1]
    return f"{port.name}({','.join(map(str, place))})"


def _help(program: Program, name: str) -> list[str]:
    shapes = [
        f"%   {kind} {port.name}: {' x '.join(map(str, size(port)))}"
        for kind, ports in (("in ", program.inputs), ("out", program.outputs))
        for port in ports
    ]
    return [f"%{name.upper()} {comment(program.about.summary or program.name)}. SI units.", *shapes]


# sqrt of a negative number would be complex, and go on unnoticed.
SPELLING = Spelling(
    entry=_entry,
    number=decimal,
    function=lambda name: "realsqrt" if name == "sqrt" else name,
    definition="{name} = {value};",
)
