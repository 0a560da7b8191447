"""C++17 as a target: one header of function templates, a self-test, a Makefile and a CMake package."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tauform.codegen.backends.backend import Request, avoiding, release, with_names
from tauform.codegen.backends.cpp.printer import function_text
from tauform.codegen.backends.cpp.selftest import test_text
from tauform.codegen.backends.reference import DOUBLE, SINGLE, Reference
from tauform.codegen.backends.templating import cmake_lists, template
from tauform.codegen.names import c_prefix
from tauform.escaping.c import comment
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


class Cpp:
    """The backend; see `tauform.codegen.backends.backend.Backend`."""

    title = "C++17"
    # The header takes both; the self-test runs this one.
    reals = ("double", "float")
    has_batch = False
    has_single_header = False

    def prefix(self, name: str | None, robot: str) -> str:
        """An identifier, as in C; the namespace is this and _dynamics, which no word of C++ or macro is."""
        return c_prefix(name, robot)

    def files(self, request: Request) -> dict[str, str]:
        """The header, its test and build files."""
        name, real = request.prefix, {"double": DOUBLE, "float": SINGLE}[request.real]
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
        build = cmake_lists(
            name,
            facts["release"],
            "CXX",
            template(__package__, "library.cmake").substitute(facts),
            header=f"{name}.hpp",
            tests=f"test_{name}.cpp",
            package_folder="CMAKE_INSTALL_DATADIR",
        )
        written = {file: template(__package__, source).substitute(facts) for file, source in sources.items()}
        return {**written, "CMakeLists.txt": build}

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The compiled self-test."""
        return (f"test_{prefix}",)

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The self-test, compiled and run."""
        return (("make", "check"),)


BACKEND = Cpp()
