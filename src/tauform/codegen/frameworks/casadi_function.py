"""Programs as CasADi functions, made of CasADi's own symbols and so differentiable by it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from tauform.codegen.frameworks.extras import library
from tauform.codegen.program.embed import whole
from tauform.codegen.program.interpret import ARITHMETIC, interpret
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Op, Program
from tauform.messages import no_such

CasadiForm = Literal["SX", "MX"]


def to_casadi(program: Program, form: CasadiForm = "SX") -> Any:
    """The program as a `casadi.Function` with named inputs and outputs.

    Vectors are columns; an array of three dimensions has its last two side by side. Run-time parameters are inputs
    behind the state. CasADi differentiates the function exactly; `tf.write(program, folder, target="casadi")` makes a
    compiled one with Jacobians of our own.

    Args:
        program: of any function.
        form: "SX" builds it of scalars, which is what solvers evaluate fastest; "MX" of CasADi's matrix symbols.

    Raises:
        MissingExtraError: CasADi is not installed.
        UnknownNameError: no such form.
    """
    if form not in ("SX", "MX"):
        raise no_such("form", form, ("SX", "MX"))
    casadi = library("casadi", "casadi")
    program = whole(program)
    symbol = casadi.SX.sym if form == "SX" else casadi.MX.sym
    inputs = [symbol(port.name, *port.matrix_shape) for port in program.inputs]
    operations = {
        **ARITHMETIC,
        Op.SIN: casadi.sin,
        Op.COS: casadi.cos,
        Op.SQRT: casadi.sqrt,
        Op.SIGN: casadi.sign,
        Op.ABS: casadi.fabs,
        Op.EXP: casadi.exp,
        Op.TANH: casadi.tanh,
        Op.ATAN2: casadi.atan2,
    }
    results = interpret(program, [_entries(a, p) for a, p in zip(inputs, program.inputs, strict=True)], operations)
    outputs = [_matrix(casadi, port, result) for port, result in zip(program.outputs, results, strict=True)]
    taken = {port.name for port in program.inputs}
    names = [f"new_{port.name}" if port.name in taken else port.name for port in program.outputs]
    return casadi.Function(program.name, inputs, outputs, [port.name for port in program.inputs], names)


def _entries(matrix: Any, port: Port) -> list[Any]:
    rows, columns = port.matrix_shape
    return [matrix[i, j] for i in range(rows) for j in range(columns)]


def _matrix(casadi: Any, port: Port, entries: Sequence[Any]) -> Any:
    rows, columns = port.matrix_shape
    return casadi.vertcat(*(casadi.horzcat(*entries[columns * i : columns * (i + 1)]) for i in range(rows)))
