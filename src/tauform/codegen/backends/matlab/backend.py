"""MATLAB and Octave as a target: one function file per program, and a function that tests them all."""

from __future__ import annotations

from collections.abc import Sequence

from tauform.arrays import Array
from tauform.codegen.backends.backend import Request, avoiding, with_names
from tauform.codegen.backends.matlab.printer import function_text, size
from tauform.codegen.backends.reference import DOUBLE, Reference
from tauform.codegen.backends.templating import template
from tauform.codegen.names import c_prefix
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError
from tauform.escaping.c import identifier
from tauform.escaping.shown import shortened

# Letters of a name that count (namelengthmax), and those of a prefix, so that the longest of our functions fits behind.
LONGEST_NAME, LONGEST_PREFIX = 63, 31

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


class Matlab:
    """The backend; see `tauform.codegen.backends.backend.Backend`."""

    title = "MATLAB"
    reals = ("double",)
    has_batch = False
    has_single_header = False

    def prefix(self, name: str | None, robot: str) -> str:
        """An identifier, as in C, that leaves room for the names of functions."""
        found = c_prefix(name, robot)
        # A robot's own long name is shortened; a name that the user chose is not changed quietly.
        if name is None and len(found) > LONGEST_PREFIX:
            return shortened(found, robot, LONGEST_PREFIX)
        if len(found) > LONGEST_PREFIX:
            raise GenerationError(
                f"name: MATLAB's names have {LONGEST_NAME} letters, of which a prefix may take {LONGEST_PREFIX}, "
                f"not {len(found)}; take a shorter one"
            )
        return found

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
    name = f"{prefix}_{identifier(program.name)}"
    # Letters beyond do not count in MATLAB: two functions could become one.
    if len(name) > LONGEST_NAME:
        raise GenerationError(
            f"write: {name} has {len(name)} letters, MATLAB's names have {LONGEST_NAME}; take a shorter name="
        )
    return name


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


BACKEND = Matlab()
