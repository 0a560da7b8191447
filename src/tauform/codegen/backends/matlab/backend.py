"""MATLAB and Octave as a target: one function file per program, and a function that tests them all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.codegen.backends.backend import Backend, Request, avoiding, with_names
from tauform.codegen.backends.expressions import Spelling, decimal, statements
from tauform.codegen.backends.matlab_names import matlab_name, matlab_prefix
from tauform.codegen.backends.reference import DOUBLE, Reference
from tauform.codegen.backends.templating import template
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.escaping.c import comment, identifier

# Words of either language that C allows as names, and the functions that we call.
RESERVED = frozenset(
    """
    abs atan2 catch classdef codegen cos elseif end end_try_catch end_unwind_protect endclassdef endenumeration
    endevents endfor endfunction endif endmethods endparfor endproperties endswitch endwhile enumeration events exp
    function global methods otherwise parfor persistent properties realsqrt sign sin spmd sqrt tanh try until
    unwind_protect unwind_protect_cleanup zeros
    """.split()  # noqa: SIM905
)

_usable = avoiding(RESERVED)


class Matlab(Backend):
    """The backend."""

    title = "MATLAB"

    def prefix(self, name: str | None, robot: str) -> str:
        """An identifier, as in C, that leaves room for the names of functions."""
        return matlab_prefix(name, robot)

    def files(self, request: Request) -> dict[str, str]:
        """A file per function, and the test."""
        programs = [with_names(program, _usable) for program in request.programs]
        names = [_function_name(request.prefix, program) for program in programs]
        cases = "\n".join(_case(program, name) for program, name in zip(programs, names, strict=True))
        test = template(__package__, "test.m")
        return {
            **{f"{name}.m": function_text(program, name) for program, name in zip(programs, names, strict=True)},
            f"test_{request.prefix}.m": test.substitute(prefix=request.prefix, cases=cases),
        }

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """Nothing is built."""
        return ()

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The test, run by Octave."""
        return (("octave-cli", "--norc", "--no-history", "--quiet", "--eval", f"test_{prefix}"),)


def _function_name(prefix: str, program: Program) -> str:
    return matlab_name(f"{prefix}_{identifier(program.name)}")


def _case(program: Program, name: str) -> str:
    """The call that compares a function with its results, which are stored row by row."""
    reference = Reference(program, DOUBLE)
    inputs = [
        # Shared ports have one row for all states.
        f"{{{_size(port)}, {_matrix(array.reshape(1 if port.shared else len(array), -1))}}}"
        for port, array in zip(program.inputs, reference.inputs, strict=True)
    ]
    outputs = [
        f"{{{_size(port)}, {_matrix(result)}, {_matrix(scale.reshape(1, -1))}}}"
        for port, result, scale in zip(program.outputs, reference.results, reference.scales, strict=True)
    ]
    given, expected = (", ...\n  ".join(cells) for cells in (inputs, outputs))
    return f"passed = compare('{name}', {reference.tolerance!r}, ...\n  {{{given}}}, ...\n  {{{expected}}}) && passed;"


def _size(port: Port) -> str:
    return f"[{' '.join(map(str, size(port)))}]"


def _matrix(rows: Array) -> str:
    lines = [" ".join(map(repr, row)) for row in rows.tolist()]
    return "[" + "; ...\n    ".join(lines) + "]"


# Functions of programs in MATLAB and Octave: matrices are matrices, vectors are columns.


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


BACKEND = Matlab()
