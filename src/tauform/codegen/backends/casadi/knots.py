"""Calls of functions for many states: columns of CasADi's matrices become rows of a few knots, and back."""

from __future__ import annotations

from collections.abc import Sequence

from tauform.codegen.backends.templating import template
from tauform.codegen.program.program import Program

# Knots of one call: a block of C's functions for many states, so that their rows stay in the cache.
AT_ONCE = 16


def knots_definitions() -> str:
    """The functions that the statements call."""
    return template(__package__, "knots.c").template


def knots_call(program: Program, called: str, knots: int, rows: Sequence[int]) -> tuple[list[str], int]:
    """Statements of a call for all knots, and the memory that they want.

    Args:
        called: the function for many states.
        rows: of each output that one knot has in a piece of memory; its further columns stand where those of the
            other knots have ended.
    """
    states = [port for port in program.inputs if not port.shared]
    sizes = [port.size for port in (*states, *program.outputs)]
    places = iter([f"w + {AT_ONCE * sum(sizes[:k])}" for k in range(len(sizes))])
    before, arguments, after = [], [], []
    for k, port in enumerate(program.inputs):
        if port.shared:
            arguments.append(f"arg[{k}] ? arg[{k}] : zeros")
            continue
        arguments.append(next(places))
        before.append(f"    to_rows({port.size}, n, arg[{k}] ? arg[{k}] + {port.size}*i : 0, {arguments[-1]});")
    for k, (port, height) in enumerate(zip(program.outputs, rows, strict=True)):
        arguments.append(next(places))
        sized = f"{height}, {port.size // height}, n, {height * knots}"
        after.append(f"    to_columns({sized}, {arguments[-1]}, res[{k}] ? res[{k}] + {height}*i : 0);")
    shared = [port.size for port in program.inputs if port.shared]
    statements = [
        *([f"static const casadi_real zeros[{max(shared)}] = {{0}};"] if shared else []),
        "size_t i;",
        f"for (i = 0; i < {knots}; i += {AT_ONCE}) {{",
        f"    const size_t n = {knots} - i < {AT_ONCE} ? {knots} - i : {AT_ONCE};",
        *before,
        f"    {called}(n, {', '.join(arguments)});",
        *after,
        "}",
    ]
    return statements, AT_ONCE * sum(sizes)
