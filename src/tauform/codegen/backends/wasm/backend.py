"""WebAssembly as a target, through C: clang compiles it, a module of JavaScript loads and calls it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tauform.codegen.backends.backend import Backend, Request, with_names
from tauform.codegen.backends.interfaces import plain_c
from tauform.codegen.backends.reference import DOUBLE, SINGLE, Reference
from tauform.codegen.backends.templating import template
from tauform.codegen.program.embed import whole
from tauform.codegen.program.program import Program
from tauform.escaping.c import identifier
from tauform.version import __version__

REALS = {"double": DOUBLE, "float": SINGLE}


class WebAssembly(Backend):
    """The backend."""

    title = "WebAssembly"
    reals = tuple(REALS)

    def files(self, request: Request) -> dict[str, str]:
        """C with what it needs of a C library, a Makefile that compiles it, the module and its test."""
        name, inner, real = request.prefix, f"{request.prefix}_plain", REALS[request.options.real]
        setups = {program.setup.name for program in request.programs if program.setup is not None}
        programs = [with_names(whole(p), identifier) for p in request.programs if p.name not in setups]
        # The C's own test needs a C library; that of the module runs the same states.
        code = {file: text for file, text in plain_c(request, inner).items() if file != f"test_{inner}.c"}
        facts = {
            "name": name,
            "inner": inner,
            "version": __version__,
            "array": f"Float{real.bits}Array",
            "signatures": json.dumps({program.name: _sizes(program) for program in programs}, indent=2),
            "exports": " ".join(f"-Wl,--export={inner}_{identifier(program.name)}" for program in programs),
            "cases": json.dumps([Reference(program, real).case for program in programs]),
        }
        return {
            **code,
            # Two headers in place of a C library, which clang has none of for this target.
            **{f"freestanding/{file}": template(__package__, file).template for file in ("math.h", "string.h")},
            f"{name}.mjs": template(__package__, "module.mjs").substitute(facts),
            f"test_{name}.mjs": template(__package__, "test.mjs").substitute(facts),
            "Makefile": template(__package__, "Makefile").substitute(facts),
        }

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The compiled module."""
        return (f"{prefix}.wasm",)

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The module, compiled by clang and run by node."""
        return (("wasm-ld", "--version"), ("clang", "--version"), ("node", "--version"), ("make", "check"))


def _sizes(program: Program) -> dict[str, list[int]]:
    return {
        "inputs": [port.size for port in program.inputs],
        "outputs": [port.size for port in program.outputs],
    }


BACKEND = WebAssembly()
