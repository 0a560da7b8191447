"""Rust as a target: a crate without std or dependencies, its test, and a Makefile for those without cargo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tauform.arrays import Array
from tauform.codegen.backends.backend import Backend, Request, avoiding, free_prefix, release, with_names
from tauform.codegen.backends.reference import DOUBLE, N_STATES, SINGLE, Reference
from tauform.codegen.backends.rust.printer import array, function_text, math_text
from tauform.codegen.backends.templating import template
from tauform.codegen.names import c_prefix
from tauform.escaping.c import string
from tauform.version import __version__

# Words of Rust that C allows as names, and what we name ourselves.
RESERVED = frozenset(
    """
    abstract as async await become box compare crate dyn f32 f64 final fn gen impl in largest let loop macro match
    math mod move mut override priv pub ref self Self Real super trait try type u32 u64 unsafe unsized use virtual
    where yield
    """.split()  # noqa: SIM905
)
# Crates that are always there.
CRATES = frozenset({"alloc", "core", "proc_macro", "std", "test"})
REALS = {"double": ("f64", DOUBLE), "float": ("f32", SINGLE)}

_usable = avoiding(RESERVED)


class Rust(Backend):
    """The backend."""

    title = "Rust"
    reals = tuple(REALS)

    def prefix(self, name: str | None, robot: str) -> str:
        """An identifier, as in C, that can name a crate."""
        return free_prefix(c_prefix(name, robot), name, RESERVED | CRATES, "cannot name a crate of Rust")

    def files(self, request: Request) -> dict[str, str]:
        """The library, its test, Cargo.toml and a Makefile."""
        name, (real, precision) = request.prefix, REALS[request.options.real]
        # Functions too: names of programs may be words of Rust.
        programs = [replace(with_names(program, _usable), name=_usable(program.name)) for program in request.programs]
        facts = {
            "name": name,
            "real": real,
            "version": __version__,
            # Cargo wants three numbers.
            "version_of_crate": ".".join([*release().split("."), "0", "0"][:3]),
            "functions_named": ", ".join(program.name for program in programs),
            "functions": "\n".join(function_text(program, program.name) for program in programs),
            "math": math_text(precision.bits),
            "tests": "\n".join(_test_text(Reference(program, precision), name) for program in programs),
        }
        sources = {
            f"{name}.rs": "lib.rs",
            f"test_{name}.rs": "test.rs",
            "Cargo.toml": "Cargo.toml",
            "Makefile": "Makefile",
        }
        return {file: template(__package__, source).substitute(facts) for file, source in sources.items()}

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The library and the compiled test."""
        return (f"lib{prefix}.rlib", f"test_{prefix}")

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The test, compiled and run."""
        # Asked first: without a compiler the error is its own, not one of make.
        return (("rustc", "--version"), ("make", "check"))


def _test_text(reference: Reference, crate: str) -> str:
    """A test of one function on its reference states."""
    program = reference.program
    lines = ["#[test]", f"fn {program.name}() {{"]
    for port, values in zip(program.inputs, reference.inputs, strict=True):
        # Shared inputs have one row for all states.
        rows = values.reshape(1 if port.shared else len(values), -1)
        lines.append(f"    let {port.name}: [{array(port)}; {len(rows)}] = [{_rows(rows)}];")
    for port, result, scale in zip(program.outputs, reference.results, reference.scales, strict=True):
        lines.append(f"    let {port.name}_expected: [{array(port, 'f64')}; {N_STATES}] = [{_rows(result)}];")
        # Results are compared in double whatever the crate computes in.
        lines.append(f"    let {port.name}_scale: {array(port, 'f64')} = {scale.tolist()!r};")
    inputs = [f"&{port.name}[{0 if port.shared else 'i'}]" for port in program.inputs]
    outputs = [f"&mut {port.name}_found" for port in program.outputs]
    lines += [
        "    let mut largest = 0.0;",
        f"    for i in 0..{N_STATES} {{",
        *(f"        let mut {port.name}_found = [0.0; {port.size}];" for port in program.outputs),
        f"        {crate}::{program.name}({', '.join([*inputs, *outputs])});",
        *(
            f"        compare(&mut largest, &{port.name}_found, &{port.name}_expected[i], &{port.name}_scale);"
            for port in program.outputs
        ),
        "    }",
        f"    report({string(program.name)}, largest, {reference.tolerance!r});",
        "}",
        "",
    ]
    return "\n".join(lines)


def _rows(rows: Array) -> str:
    return ",".join(f"\n        {row!r}" for row in rows.tolist())


BACKEND = Rust()
