"""Programs as SymPy expressions with their common subexpressions named."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.model import ClosedFormModel
from tauform.codegen.frameworks.extras import library
from tauform.codegen.frameworks.sympy_models import SymbolicTerms
from tauform.codegen.program.embed import whole
from tauform.codegen.program.interpret import ARITHMETIC
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Op, Program
from tauform.messages import no_such


@dataclass(frozen=True, eq=False)
class SymbolicProgram:
    """A program in SymPy.

    Attributes:
        name: of the program.
        inputs: for each port its symbols, as a `sympy.Matrix` of its shape (a vector is a column).
        replacements: (symbol, expression) of values that are read more than once, in the order they are computed.
        outputs: for each output a `sympy.Matrix` in the symbols of inputs and replacements.
    """

    name: str
    inputs: dict[str, Any]
    replacements: tuple[tuple[Any, Any], ...]
    outputs: dict[str, Any]

    def expanded(self, output: str) -> Any:
        """An output in the symbols of the inputs alone; long for more than a few joints.

        Raises:
            UnknownNameError: the program has no such output.
        """
        if output not in self.outputs:
            raise no_such(f"{self.name}: output", str(output), list(self.outputs))
        values: dict[Any, Any] = {}
        for symbol, expression in self.replacements:
            # Earlier symbols are expanded already: one pass is enough.
            values[symbol] = expression.xreplace(values)
        return self.outputs[output].xreplace(values)

    def lambdify(self, modules: str = "numpy") -> Any:
        """A function of one flat sequence per input that returns a list of arrays, one per output."""
        sympy = library("sympy", "sympy")
        symbols = [list(matrix) for matrix in self.inputs.values()]

        # lambdify takes the subexpressions as they are, in place of a search of its own.
        def named(*_: Any, **__: Any) -> tuple[Any, Any]:
            return list(self.replacements), list(self.outputs.values())

        return sympy.lambdify(symbols, list(self.outputs.values()), modules=modules, cse=named)


def to_sympy(program: Program | BoundModel | ClosedFormModel) -> SymbolicProgram:
    """The program in SymPy: symbols, named subexpressions, and the outputs in them.

    Inputs are called after their ports and entries, q1 to qn; run-time parameters have their own names.

    Args:
        program: of any function; or a closed form, whose torques are the sums of its terms: in numbers, or without them
            in base parameters.

    Raises:
        MissingExtraError: SymPy is not installed.
        ModelError: friction of a closed form depends on load, that is on the torques themselves.
    """
    sympy = library("sympy", "sympy")
    if not isinstance(program, Program):
        return _closed_form(sympy, program)
    # Set-ups inside: parameters become symbols of the expressions.
    program = whole(program)
    symbols = [[sympy.Symbol(name, real=True) for name in _entries(program, port)] for port in program.inputs]
    operations = {
        **ARITHMETIC,
        Op.SIN: sympy.sin,
        Op.COS: sympy.cos,
        Op.SQRT: sympy.sqrt,
        Op.SIGN: sympy.sign,
        Op.ABS: sympy.Abs,
        Op.EXP: sympy.exp,
        Op.TANH: sympy.tanh,
        Op.ATAN2: sympy.atan2,
    }
    # Values that are read once stay inside the expression that reads them.
    uses = Counter(k for instruction in program.instructions for k in instruction.args)
    values: list[Any] = []
    replacements: list[tuple[Any, Any]] = []
    for k, instruction in enumerate(program.instructions):
        if instruction.op is Op.INPUT:
            values.append(symbols[instruction.place[0]][instruction.place[1]])
        elif instruction.op is Op.CONSTANT:
            values.append(sympy.Float(instruction.number))  # holds the double exactly
        else:
            value = operations[instruction.op](*(values[a] for a in instruction.args))
            # A symbol or a number needs no other name.
            if uses[k] > 1 and not value.is_Atom:
                replacements.append((sympy.Symbol(f"x{len(replacements)}", real=True), value))
                value = replacements[-1][0]
            values.append(value)
    inputs = {port.name: _matrix(sympy, port, entries) for port, entries in zip(program.inputs, symbols, strict=True)}
    outputs = {
        port.name: _matrix(sympy, port, [values[k] for k in result])
        for port, result in zip(program.outputs, program.results, strict=True)
    }
    return SymbolicProgram(program.name, inputs, tuple(replacements), outputs)


def _closed_form(sympy: Any, source: BoundModel | ClosedFormModel) -> SymbolicProgram:
    if isinstance(source, ClosedFormModel):
        terms = SymbolicTerms(sympy, source)
        inputs = {**terms.inputs, "theta": sympy.Matrix(terms.theta)}
        outputs = {"tau": terms.torques_of_theta()}
        return SymbolicProgram("inverse_dynamics", inputs, tuple(terms.replacements), outputs)
    terms = SymbolicTerms(sympy, source.model)
    warm = terms.temperatures(source)
    inputs = {**terms.inputs, **({"temperature": sympy.Matrix(warm)} if warm else {})}
    outputs = {"tau": terms.torques(source)}
    return SymbolicProgram("inverse_dynamics", inputs, tuple(terms.replacements), outputs)


def _entries(program: Program, port: Port) -> list[str]:
    """Names of a port's entries: those of parameters, else the port's with a number from 1 on."""
    # mxR_2 rather than theta7, where the program knows.
    named = program.about.entries.get(port.name, ())
    if len(named) == port.size:
        return list(named)
    return [f"{port.name}{k + 1}" for k in range(port.size)] if port.shape else [port.name]


def _matrix(sympy: Any, port: Port, entries: list[Any]) -> Any:
    return sympy.Matrix(*port.matrix_shape, entries)
