"""The functions that CasADi looks up in a library: shapes, names, and calls of the plain C functions.

A function f has f_n_in, f_sparsity_in, f_name_in, f_work and f itself; its derivative is jac_f, which takes the inputs
and the outputs of f and returns one block per pair of output and input. Matrices are dense, column by column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program


@dataclass(frozen=True, eq=False)
class Wrapped:
    """A program and the program of its Jacobians."""

    program: Program
    jacobian: Program


def wrapper_text(wrapped: Sequence[Wrapped], prefix: str, inner: str) -> str:
    """C of CasADi's interface to the functions of the header `inner`."""
    parts = [_HEAD.format(inner=inner)]
    for pair in wrapped:
        program, name = pair.program, f"{prefix}_{pair.program.name}"
        parts.append(_function(program, name, f"{inner}_{program.name}", program.inputs, _matrices(program.outputs)))
        # CasADi hands the results of the function to its derivative, which here needs none of them.
        # Named apart: an output may have the name of an input.
        taken = [Port(f"out_{port.name}", port.shape) for port in program.outputs]
        blocks = [
            (f"jac_{output.name}_{port.name}", (output.size, port.size))
            for output in program.outputs
            for port in program.inputs
        ]
        jacobian = pair.jacobian
        parts.append(_function(jacobian, f"jac_{name}", f"{inner}_{jacobian.name}", [*program.inputs, *taken], blocks))
    return "\n".join(parts)


def _matrices(ports: Sequence[Port]) -> list[tuple[str, tuple[int, int]]]:
    return [(port.name, port.matrix_shape) for port in ports]


def _function(
    program: Program, name: str, called: str, inputs: Sequence[Port], outputs: Sequence[tuple[str, tuple[int, int]]]
) -> str:
    """All that CasADi asks of one function."""
    # Only the program's own inputs are passed on; what CasADi adds is accepted and left.
    read = len(program.inputs)
    zeros = max(port.size for port in program.inputs)
    # CasADi may not want a result, but the plain function writes them all.
    scratch = [f"    casadi_real unused{k}[{rows * columns}];" for k, (_, (rows, columns)) in enumerate(outputs)]
    # CasADi passes a null pointer for what is zero, and for what nobody wants.
    arguments = [f"arg[{k}] ? arg[{k}] : zeros" for k in range(read)]
    results = [f"res[{k}] ? res[{k}] : unused{k}" for k in range(len(outputs))]
    lines = [
        f"CASADI_SYMBOL_EXPORT int {name}(const casadi_real **arg, casadi_real **res, casadi_int *iw, casadi_real *w,",
        "                                 int mem) {",
        f"    static const casadi_real zeros[{zeros}] = {{0}}; /* an argument that is not given is zero */",
        *scratch,
        "    (void)iw;",
        "    (void)w;",
        "    (void)mem;",
        f"    {called}({', '.join([*arguments, *results])});",
        "    return 0;",
        "}",
    ]
    shapes_in = [shape for _, shape in _matrices(inputs)]
    texts = {
        "in": ([port.name for port in inputs], shapes_in),
        "out": ([key for key, _ in outputs], [shape for _, shape in outputs]),
    }
    for side, (names, shapes) in texts.items():
        lines.append(f"CASADI_SYMBOL_EXPORT casadi_int {name}_n_{side}(void) {{ return {len(names)}; }}")
        lines.append(f"CASADI_SYMBOL_EXPORT const char *{name}_name_{side}(casadi_int i) {{")
        quoted = ", ".join(f'"{key}"' for key in names)
        lines.append(f"    static const char *const names[] = {{{quoted}}};")
        lines.append(f"    return i >= 0 && i < {len(names)} ? names[i] : 0;\n}}")
        lines.append(f"CASADI_SYMBOL_EXPORT const casadi_int *{name}_sparsity_{side}(casadi_int i) {{")
        # rows, columns, and a one for "dense"
        dense = ", ".join(f"{{{rows}, {columns}, 1}}" for rows, columns in shapes)
        lines.append(f"    static const casadi_int shapes[][3] = {{{dense}}};")
        lines.append(f"    return i >= 0 && i < {len(names)} ? shapes[i] : 0;\n}}")
    # No work memory: the plain functions keep everything on the stack.
    lines += [
        f"CASADI_SYMBOL_EXPORT int {name}_work(casadi_int *sz_arg, casadi_int *sz_res, casadi_int *sz_iw, "
        "casadi_int *sz_w) {",
        f"    if (sz_arg) *sz_arg = {len(inputs)};",
        f"    if (sz_res) *sz_res = {len(outputs)};",
        "    if (sz_iw) *sz_iw = 0;",
        "    if (sz_w) *sz_w = 0;",
        "    return 0;",
        "}",
        "",
    ]
    return "\n".join(lines)


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
