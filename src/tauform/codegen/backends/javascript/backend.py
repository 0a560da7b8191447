"""JavaScript as a target: an ES module without dependencies for browsers and node, and a test that node runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from tauform.codegen.backends.backend import Backend, Request, avoiding, free_prefix, with_names
from tauform.codegen.backends.expressions import Spelling, decimal, statements
from tauform.codegen.backends.reference import DOUBLE, Reference
from tauform.codegen.backends.templating import template
from tauform.codegen.names import c_prefix
from tauform.codegen.program.program import Program
from tauform.escaping.c import comment
from tauform.version import __version__

# Words of JavaScript that C allows as names.
RESERVED = frozenset(
    """
    arguments await class debugger delete eval export extends false finally function import in instanceof interface let
    new null package private protected public super this throw true try typeof var with yield Math Float64Array
    """.split()  # noqa: SIM905
)

_usable = avoiding(RESERVED)

# Math.sign keeps zero and what is not a number, as programs do.
SPELLING = Spelling(
    entry=lambda port, index: f"{port.name}[{index}]",
    number=decimal,
    function=lambda name: f"Math.{name}",
    definition="const {name} = {value};",
)


class JavaScript(Backend):
    """The backend."""

    title = "JavaScript"

    def prefix(self, name: str | None, robot: str) -> str:
        """An identifier, as in C."""
        return free_prefix(c_prefix(name, robot), name, RESERVED, "is a word of JavaScript")

    def files(self, request: Request) -> dict[str, str]:
        """The module and its test."""
        programs = [replace(with_names(program, _usable), name=_usable(program.name)) for program in request.programs]
        names = ", ".join(program.name for program in programs)
        head = f"// {names}; written by tauform {__version__}. SI units; matrices are flat, row by row.\n"
        cases = json.dumps([Reference(program, DOUBLE).case for program in programs])
        test = template(__package__, "test.mjs")
        return {
            f"{request.prefix}.mjs": "\n".join([head, *(function_text(p, p.name) for p in programs)]),
            f"test_{request.prefix}.mjs": test.substitute(prefix=request.prefix, cases=cases),
        }

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The test, run by node."""
        return (("node", f"test_{prefix}.mjs"),)


# Functions of programs in JavaScript.


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


BACKEND = JavaScript()
