"""C++17 as a target: one header of function templates, a self-test, a Makefile and a CMake package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from textwrap import fill

from tauform.arrays import Array
from tauform.codegen.backends.backend import Backend, Request, avoiding, release, with_names
from tauform.codegen.backends.expressions import Spelling, statements
from tauform.codegen.backends.reference import DOUBLE, N_STATES, SINGLE, Reference
from tauform.codegen.backends.templating import CMakeProject, template
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Op, Program
from tauform.escaping.c import comment, string
from tauform.version import __version__

# Words of C++ up to C++26 that C allows as names, and what we call or name ourselves.
RESERVED = frozenset(
    """
    abs and and_eq asm atan2 bitand bitor catch char8_t char16_t char32_t class co_await co_return co_yield
    compl concept const_cast consteval constinit contract_assert decltype delete detail dynamic_cast explicit
    export friend mutable namespace new noexcept not not_eq operator or or_eq private protected public Real
    reinterpret_cast requires sign static_cast std tanh template this throw try typeid typename using virtual
    wchar_t xor xor_eq
    """.split()  # noqa: SIM905
)

_usable = avoiding(RESERVED)

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


class Cpp(Backend):
    """The backend."""

    title = "C++17"
    # The header takes both; the self-test runs this one.
    reals = ("double", "float")

    def files(self, request: Request) -> dict[str, str]:
        """The header, its test and build files."""
        name, real = request.prefix, {"double": DOUBLE, "float": SINGLE}[request.options.real]
        programs = [replace(with_names(program, _usable), name=_usable(program.name)) for program in request.programs]
        title = ", ".join(dict.fromkeys(program.robot or name for program in programs))
        conventions = dict.fromkeys(line for program in programs for line in program.about.conventions)
        facts = {
            "name": name,
            "real": real.name,
            "version": __version__,
            "release": release(),
            "title": comment(title),
            "conventions": "".join(f" * {comment(line)}".rstrip() + "\n" for line in ("", *conventions)),
            "functions": "\n".join(function_text(program, program.name) for program in programs),
            "tests": "\n".join(test_text(Reference(p, real), f"{name}_dynamics::{p.name}") for p in programs),
            "calls": "\n".join(f"    good &= test_{program.name}();" for program in programs),
        }
        sources = {
            f"{name}.hpp": "header.hpp",
            f"test_{name}.cpp": "test.cpp",
            "Makefile": "Makefile",
        }
        build = CMakeProject(
            name,
            facts["release"],
            "CXX",
            template(__package__, "library.cmake").substitute(facts),
            header=f"{name}.hpp",
            test_sources=f"test_{name}.cpp",
            package_folder="CMAKE_INSTALL_DATADIR",
        ).text
        written = {file: template(__package__, source).substitute(facts) for file, source in sources.items()}
        return {**written, "CMakeLists.txt": build}

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The compiled self-test."""
        return (f"test_{prefix}",)

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The self-test, compiled and run."""
        return (("make", "check"),)


def test_text(reference: Reference, function: str) -> str:
    """A function that returns whether a function template gives the expected results."""
    program, real = reference.program, reference.real.name
    lines = [f"bool test_{program.name}()", "{"]
    for port, values in zip(program.inputs, reference.inputs, strict=True):
        # Shared ports have one row for all states.
        rows = values.reshape(1 if port.shared else len(values), -1)
        lines.append(
            # Two braces: std::array is a struct that holds an array.
            f"    static const {array(port, real)} {port.name}_in[{len(rows)}] = {{{_rows(rows, '{{', '}}')}}};"
        )
    for port, result, scale in zip(program.outputs, reference.results, reference.scales, strict=True):
        lines.append(f"    static const double {port.name}_expected[{N_STATES}][{port.size}] = {{{_rows(result)}}};")
        lines.append(f"    static const double {port.name}_scale[{port.size}] = {_rows(scale.reshape(1, -1)).strip()};")
    lines += ["    double largest = 0.0;", f"    for (int i = 0; i < {N_STATES}; i++) {{"]
    inputs = {port.name: f"{port.name}_in[{0 if port.shared else 'i'}]" for port in program.inputs}
    # Fresh outputs for each state: nothing of the last one can pass for a result.
    lines += [f"        {array(port, real)} {port.name}_out{{}};" for port in program.outputs]
    outputs = {port.name: f"{port.name}_out" for port in program.outputs}

    def call(given: dict[str, str], taken: dict[str, str]) -> list[str]:
        compared = [
            f"        compare(largest, {taken[port.name]}, {port.name}_expected[i], {port.name}_scale);"
            for port in program.outputs
        ]
        return [f"        {function}({', '.join([*given.values(), *taken.values()])});", *compared]

    lines += call(inputs, outputs)
    for k, (source, target) in enumerate(product(program.inputs, program.outputs)):
        # std::array carries its size in its type: only equal ones can be the same array.
        if source.size == target.size:
            both = f"both{k}"
            lines.append(f"        {array(source, real)} {both} = {inputs[source.name]};")
            lines += call({**inputs, source.name: both}, {**outputs, target.name: both})
    return "\n".join(
        [*lines, "    }", f"    return report({string(program.name)}, largest, {reference.tolerance!r});", "}", ""]
    )


def _rows(rows: Array, opening: str = "{", closing: str = "}") -> str:
    return ",".join(f"\n        {opening}{', '.join(map(repr, row))}{closing}" for row in rows.tolist())


# Functions of programs in C++17: templates over the number type, on std::array.


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


BACKEND = Cpp()
