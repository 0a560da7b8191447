"""Kernels of graphics processors: one printer for OpenCL and CUDA, which differ in a few words.

A kernel computes one state per work item. Entry k of state i stands at [k*count + i], so that neighbouring work items
read neighbouring numbers; entries of shared ports stand at [k].
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any

import numpy as np

from tauform.codegen.backends.backend import Backend, Request, avoiding, with_names
from tauform.codegen.backends.expressions import Spelling, decimal, statements
from tauform.codegen.backends.reference import DOUBLE, N_STATES, SINGLE, Precision, Reference
from tauform.codegen.backends.templating import template
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Op, Program
from tauform.escaping.c import comment
from tauform.version import __version__

_SIGN = """/* Zero and what is not a number stay what they are. */
{device} Real sign_of(const Real x)
{{
    return x > 0 ? (Real)1 : x < 0 ? (Real)-1 : x;
}}

"""
REALS = {"double": DOUBLE, "float": SINGLE}


@dataclass(frozen=True)
class Dialect:
    """Words in which languages of kernels differ.

    Attributes:
        suffix: of the source file.
        head: lines before all functions, by the number type.
        kernel: before the name of a kernel.
        device: before functions that kernels call.
        memory: before the type of an array.
        count: type of the number of states.
        index: number of the work item.
        reserved: words that ports cannot be named by.
        stand_ins: definitions that make a C++ compiler take the source, with the work item as `work_item`.
    """

    suffix: str
    head: dict[str, str]
    kernel: str
    device: str
    memory: str
    count: str
    index: str
    reserved: frozenset[str]
    stand_ins: str


class KernelBackend(Backend):
    """A language of kernels: the same files, built and checked the same way.

    Attributes:
        dialect: its words.
        package: whose templates/ hold device.py, which runs the kernels on what the language is for.
    """

    dialect: Dialect
    package: str | None
    reals = tuple(REALS)

    def files(self, request: Request) -> dict[str, str]:
        """The kernels, and a check that runs them on this processor and, where there is one, on a device."""
        return {**kernel_files(request, self.dialect), "device.py": template(self.package, "device.py.txt").template}

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The kernels as a library of this processor."""
        return ("libhost.so",)

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The kernels, compiled for this processor and by the language's own compiler where it is installed."""
        return (("make", "check"),)


def kernel_files(request: Request, dialect: Dialect) -> dict[str, str]:
    """The source, its stand-in for C++, and a check with stored results."""
    name, real = request.prefix, REALS[request.options.real]
    usable = avoiding(dialect.reserved)
    programs = [replace(with_names(p, usable), name=usable(p.name)) for p in request.programs]
    # Robots by name, each once; several programs of one robot are the usual case.
    title = ", ".join(dict.fromkeys(program.robot or name for program in programs))
    source = template(__package__, "kernels.txt").substitute(
        title=comment(title),
        version=__version__,
        head=dialect.head[real.name],
        real=real.name,
        # A function that nobody calls is a warning.
        sign=_SIGN.format(device=dialect.device) if any(program.count(Op.SIGN) for program in programs) else "",
        kernels="\n".join(kernel_text(program, f"{name}_{program.name}", real, dialect) for program in programs),
    )
    facts = {
        "name": name,
        "suffix": dialect.suffix,
        "real": real.name,
        "stand_ins": dialect.stand_ins,
        "calls": "\n".join(_call(program, f"{name}_{program.name}") for program in programs),
    }
    # As data beside the source: kernels have no place for tables of results.
    references = {f"{name}_{program.name}": _stored(Reference(program, real)) for program in programs}
    return {
        f"{name}.{dialect.suffix}": source,
        "host.cpp": template(__package__, "kernels_host.cpp").substitute(facts),
        "check.py": template(__package__, "kernels_check.py.txt").substitute(facts),
        "check.json": json.dumps(references, indent=0) + "\n",
        "Makefile": template(__package__, "kernels_Makefile").substitute(facts),
    }


def kernel_text(program: Program, name: str, real: Precision, dialect: Dialect) -> str:
    """A kernel with its documentation."""
    arguments = [
        *(f"{dialect.memory}const Real *{port.name}" for port in program.inputs),
        *(f"{dialect.memory}Real *{port.name}" for port in program.outputs),
        f"const {dialect.count} count",
    ]
    lines = [
        f"const {dialect.count} i = {dialect.index};",
        "if (i >= count)",
        "    return;",
        *statements(program, _spelling(real)),
    ]
    body = "\n".join(f"    {line}" for line in lines)
    head = fill(f"{dialect.kernel} void {name}({', '.join(arguments)})", 116, subsequent_indent=" " * 4)
    return f"{_documented(program)}{head}\n{{\n{body}\n}}\n"


def _spelling(real: Precision) -> Spelling:
    suffix = "f" if real.bits == 32 else ""

    def entry(port: Port, k: int) -> str:
        # Parameters are the same for all states; states are stored entry by entry, so that neighbours in a warp read
        # neighbours in memory.
        if port.shared:
            return f"{port.name}[{k}]"
        return f"{port.name}[{f'{k}*count + ' if k else ''}i]"

    def number(value: float) -> str:
        # Digits of the type itself: the compiler would round twice.
        text = decimal(float(np.format_float_scientific(real.dtype(value))))
        return f"{text[:-1]}{suffix})" if text.startswith("(") else f"{text}{suffix}"

    # Their own sign() maps NaN to 0 in OpenCL, and CUDA has none.
    words = {Op.SIGN.value: "sign_of", Op.ABS.value: "fabs"}
    return Spelling(entry, number, lambda word: words.get(word, word), "const Real {name} = {value};")


def _call(program: Program, name: str) -> str:
    pointers = ", ".join(f"a[{k}]" for k in range(len(program.inputs) + len(program.outputs)))
    return f"HOST({name}, {pointers})"


def _stored(reference: Reference) -> dict[str, Any]:
    """States and results as kernels lay them out."""

    def flat(arrays: Sequence[Any], shared: Sequence[bool]) -> list[list[float]]:
        return [
            # Entry by entry, as kernels read them: (entries, states).
            np.ravel(array if alone else np.reshape(array, (N_STATES, -1)).T).tolist()
            for array, alone in zip(arrays, shared, strict=True)
        ]

    program = reference.program
    outputs = [False] * len(program.outputs)
    return {
        "count": N_STATES,
        "inputs": flat(reference.inputs, [port.shared for port in program.inputs]),
        "results": flat(reference.results, outputs),
        "scales": [scale.tolist() for scale in reference.scales],
        "tolerance": reference.tolerance,
    }


def _documented(program: Program) -> str:
    lines = [comment(program.about.summary or program.name), ""]
    for kind, ports in (("in ", program.inputs), ("out", program.outputs)):
        for port in ports:
            shape = " x ".join(map(str, port.shape)) or "1"
            lines.append(f"{kind} {port.name}: {shape}{', the same for all states' if port.shared else ''}")
    return "\n".join(["/*", *(f" * {line}".rstrip() for line in lines), " */", ""])
