"""JavaScript as a target: an ES module without dependencies for browsers and node, and a test that node runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tauform.codegen.backends.backend import Request, avoiding, with_names
from tauform.codegen.backends.javascript.printer import function_text
from tauform.codegen.backends.reference import DOUBLE, Reference
from tauform.codegen.backends.templating import template
from tauform.codegen.names import c_prefix
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError
from tauform.version import __version__

# Words of JavaScript that C allows as names.
RESERVED = frozenset(
    """
    arguments await class debugger delete eval export extends false finally function import in instanceof interface let
    new null package private protected public super this throw true try typeof var with yield Math Float64Array
    """.split()  # noqa: SIM905
)

_usable = avoiding(RESERVED)


class JavaScript:
    """The backend; see `tauform.codegen.backends.backend.Backend`."""

    title = "JavaScript"
    reals = ("double",)
    has_batch = False
    has_single_header = False

    def prefix(self, name: str | None, robot: str) -> str:
        """An identifier, as in C."""
        found = c_prefix(name, robot)
        if found in RESERVED:
            raise GenerationError(f"name: {found!r} is a word of JavaScript; take another, such as '{found}_arm'")
        return found

    def files(self, request: Request) -> dict[str, str]:
        """The module and its test."""
        programs = [replace(with_names(program, _usable), name=_usable(program.name)) for program in request.programs]
        names = ", ".join(program.name for program in programs)
        head = f"// {names}; written by tauform {__version__}. SI units; matrices are flat, row by row.\n"
        cases = json.dumps([_case(program) for program in programs])
        test = template(__package__, "test.mjs")
        return {
            f"{request.prefix}.mjs": "\n".join([head, *(function_text(p, p.name) for p in programs)]),
            f"test_{request.prefix}.mjs": test.substitute(prefix=request.prefix, cases=cases),
        }

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """Nothing is built."""
        return ()

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The test, run by node."""
        return (("node", f"test_{prefix}.mjs"),)


def _case(program: Program) -> dict[str, Any]:
    """States, the results that belong to them, and what a function may deviate by."""
    reference = Reference(program, DOUBLE)
    inputs = [
        {"shared": port.shared, "values": array.reshape(-1 if port.shared else (len(array), -1)).tolist()}
        for port, array in zip(program.inputs, reference.inputs, strict=True)
    ]
    return {
        "name": program.name,
        "inputs": inputs,
        "outputs": [result.tolist() for result in reference.results],
        "scales": [scale.tolist() for scale in reference.scales],
        "tolerance": reference.tolerance,
    }


BACKEND = JavaScript()
