"""The file that CasADi loads functions from: calls of the plain C functions, for one state and for all knots.

A function f has a derivative jac_f, which takes the inputs and the outputs of f and returns one block per pair of
output and input. Matrices stand column by column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tauform.codegen.backends.casadi.interface import External, Pattern
from tauform.codegen.backends.casadi.knots import knots_call, knots_definitions
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program


@dataclass(frozen=True, eq=False)
class Wrapped:
    """A program and the program of its Jacobians."""

    program: Program
    jacobian: Program


def wrapper_text(wrapped: Sequence[Wrapped], prefix: str, inner: str, knots: int = 0) -> str:
    """C of CasADi's interface to the functions of the header `inner`.

    Args:
        knots: columns of functions over many knots, <prefix>_<name>_knots; 0 writes none.
    """
    externals = [external for pair in wrapped for external in _of_states(pair, prefix, inner)]
    if knots:
        over = [pair for pair in wrapped if not all(port.shared for port in pair.program.inputs)]
        externals += [external for pair in over for external in _of_knots(pair, prefix, inner, knots)]
    ports = [port for external in externals for port in (*external.inputs, *external.outputs)]
    # Each table once, in the order of its first use.
    tables = {pattern.name: pattern.text for _, pattern in ports}
    definitions = knots_definitions() if knots else ""
    return "\n".join([_HEAD.format(inner=inner), *tables.values(), definitions, *(e.text for e in externals)])


def _of_states(pair: Wrapped, prefix: str, inner: str) -> Iterator[External]:
    """The function and its derivative at one state."""
    program, name = pair.program, f"{prefix}_{pair.program.name}"
    inputs, outputs = _matrices(program.inputs), _matrices(program.outputs)
    yield External(name, inputs, outputs, _call(program, f"{inner}_{program.name}"))
    blocks = [
        (f"jac_{output.name}_{port.name}", Pattern(output.size, port.size))
        for output in program.outputs
        for port in program.inputs
    ]
    statements = _call(pair.jacobian, f"{inner}_{pair.jacobian.name}")
    yield External(f"jac_{name}", [*inputs, *_taken(outputs)], blocks, statements)


def _of_knots(pair: Wrapped, prefix: str, inner: str, knots: int) -> Iterator[External]:
    """The same for all knots: arrays of the knots side by side, Jacobians with one block per knot."""
    program, name = pair.program, f"{prefix}_{pair.program.name}_knots"
    inputs, outputs = _matrices(program.inputs, knots), _matrices(program.outputs, knots)
    call = knots_call(program, f"{inner}_{program.name}_batch", knots, [port.size for port in program.outputs])
    yield External(name, inputs, outputs, *call)
    blocks = [
        (
            f"jac_{output.name}_{port.name}",
            # What all knots share is one block of columns, below each other the rows of each knot.
            Pattern(output.size * knots, port.size) if port.shared else Pattern(output.size, port.size, knots),
        )
        for output in program.outputs
        for port in program.inputs
    ]
    rows = [
        output.size if port.shared else output.size * port.size for output in program.outputs for port in program.inputs
    ]
    call = knots_call(pair.jacobian, f"{inner}_{pair.jacobian.name}_batch", knots, rows)
    yield External(f"jac_{name}", [*inputs, *_taken(outputs)], blocks, *call)


def _matrices(ports: Sequence[Port], knots: int = 1) -> list[tuple[str, Pattern]]:
    """Dense matrices, of all knots side by side; what knots share is there once."""
    sizes = [(port.name, port.matrix_shape, 1 if port.shared else knots) for port in ports]
    return [(name, Pattern(rows, columns * count)) for name, (rows, columns), count in sizes]


def _taken(outputs: Sequence[tuple[str, Pattern]]) -> list[tuple[str, Pattern]]:
    """Results of the function, which CasADi hands to its derivative; ours needs none of them."""
    # Named apart: an output may have the name of an input.
    return [(f"out_{name}", pattern) for name, pattern in outputs]


def _call(program: Program, called: str) -> list[str]:
    """Statements that call the plain function with the program's own inputs; what CasADi adds is left."""
    # CasADi passes a null pointer for what is zero, and for what nobody wants; the plain function writes all.
    arguments = [f"arg[{k}] ? arg[{k}] : zeros" for k in range(len(program.inputs))]
    results = [f"res[{k}] ? res[{k}] : unused{k}" for k in range(len(program.outputs))]
    zeros = max(port.size for port in program.inputs)
    return [
        f"static const casadi_real zeros[{zeros}] = {{0}}; /* an argument that is not given is zero */",
        *(f"casadi_real unused{k}[{port.size}];" for k, port in enumerate(program.outputs)),
        f"{called}({', '.join([*arguments, *results])});",
    ]


_HEAD = """/* CasADi's interface to the functions of {inner}.h. */
#include "{inner}.h"

#ifndef casadi_real
#define casadi_real double
#endif
#ifndef casadi_int
#define casadi_int long long int
#endif
#ifndef CASADI_SYMBOL_EXPORT
#if defined(_WIN32)
#define CASADI_SYMBOL_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define CASADI_SYMBOL_EXPORT __attribute__((visibility("default")))
#else
#define CASADI_SYMBOL_EXPORT
#endif
#endif
"""
