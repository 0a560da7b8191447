"""The generated self-test: each function on its reference states, alone, in place of its inputs, and as a batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tauform.arrays import Array
from tauform.codegen.backends.c.config import RealType
from tauform.codegen.backends.c.printer import member_names
from tauform.codegen.backends.c.source import function_name, struct_name
from tauform.codegen.backends.c.templates import template
from tauform.codegen.backends.reference import N_STATES, Reference
from tauform.codegen.looped.program import AnyProgram
from tauform.codegen.program.port import Port
from tauform.escaping.c import identifier, string

# An array that is an input and an output at once, and its form for a batch.
BOTH = "both"


def _batch_size(real: RealType) -> int:
    """States of a batch: several blocks, the last of them not full; the reference states again and again."""
    return 2 * real.batch_block + N_STATES


def test_text(reference: Reference, real: RealType, prefix: str, batch: bool) -> str:
    """A static function that returns 0 if the program's C function gives the expected results."""
    program = reference.program
    # The shared array holds any port, so that one serves for all pairs.
    largest = max(port.size for port in (*program.inputs, *program.outputs))
    lines = [f"static int test_{identifier(program.name)}(void)", "{"]
    for port, array in zip(program.inputs, reference.inputs, strict=True):
        lines += _table(program, port, array, real, prefix)
    for port, result, scale in zip(program.outputs, reference.results, reference.scales, strict=True):
        name = port.name
        # Expected results and scales are double whatever the functions compute in.
        lines += _rows(f"static const double {name}_expected", result, str)
        lines.append(f"    static const double {name}_scale[{port.size}] = {{{', '.join(map(str, scale.tolist()))}}};")
        lines.append(f"    static {real.name} {name}_computed[{port.size}];")
    lines += [
        f"    static {real.name} {BOTH}[{largest}];",
        "    double apart = 0.0, in_place = 0.0;",
        "    int i;",
        f"    for (i = 0; i < {N_STATES}; i++) {{",
        *_one_state(program, prefix),
        "    }",
        *(_batch(program, real, prefix, largest) if batch else []),
        f"    return report({string(program.name)}, apart, in_place, {reference.tolerance!r});",
        "}",
        "",
    ]
    return "\n".join(lines)


def _one_state(program: AnyProgram, prefix: str) -> Iterator[str]:
    """Calls for state i: with all arrays apart, then with each input as each output."""
    inputs = {port.name: _passed(program, port) for port in program.inputs}
    outputs = {port.name: f"{port.name}_computed" for port in program.outputs}
    call = f"        {function_name(program, prefix)}({{}});"
    deviation = "        {0} = larger({0}, deviation({1.size}, 1, {2}, {1.name}_expected[i], {1.name}_scale));"
    yield call.format(", ".join([*inputs.values(), *outputs.values()]))
    for port in program.outputs:
        yield deviation.format("apart", port, outputs[port.name])
    # Every input in turn as every output: callers do pass one array for both.
    for source, target in product(program.inputs, program.outputs):
        # A const pointer to the array that is written: what a caller's aliasing looks like to the function.
        given = {**inputs, source.name: _cast(program, source, BOTH, prefix)}
        taken = {**outputs, target.name: BOTH}
        # Filled again for every state: the last call wrote its results there.
        yield f"        memcpy({BOTH}, {inputs[source.name]}, {source.size}*sizeof {BOTH}[0]);"
        yield call.format(", ".join([*given.values(), *taken.values()]))
        for port in program.outputs:
            yield deviation.format("in_place", port, taken[port.name])


def _batch(program: AnyProgram, real: RealType, prefix: str, largest: int) -> Iterator[str]:
    """The same for the batch function, entry by entry in structure-of-arrays form."""
    states = [port for port in program.inputs if not port.shared]
    inputs = {port.name: f"{port.name}_all" if port in states else _passed(program, port) for port in program.inputs}
    outputs = {port.name: f"{port.name}_all" for port in program.outputs}
    deviation = "        {0} = larger({0}, column_deviation({1.size}, {2}, {1.name}_expected[0], {1.name}_scale));"
    n_batch = _batch_size(real)
    call = f"        {function_name(program, prefix)}_batch({n_batch}, {{}});"
    yield "    {"
    for port in (*states, *program.outputs):
        yield f"        static {real.name} {port.name}_all[{port.size * n_batch}];"
    yield f"        static {real.name} {BOTH}_all[{largest * n_batch}];"
    # Rows of states become columns: entry k of state i stands at [k*count + i].
    for port in states:
        yield f"        to_columns({port.size}, {port.name}[0], {port.name}_all);"
    yield call.format(", ".join([*inputs.values(), *outputs.values()]))
    for port in program.outputs:
        yield deviation.format("apart", port, outputs[port.name])
    for source, target in product(program.inputs, program.outputs):
        given = {**inputs, source.name: _cast(program, source, f"{BOTH}_all", prefix)}
        taken = {**outputs, target.name: f"{BOTH}_all"}
        # A shared port has one value for all states, so it is no column.
        if source.shared:
            yield f"        memcpy({BOTH}_all, {inputs[source.name]}, {source.size}*sizeof {BOTH}_all[0]);"
        else:
            yield f"        to_columns({source.size}, {source.name}[0], {BOTH}_all);"
        yield call.format(", ".join([*given.values(), *taken.values()]))
        for port in program.outputs:
            yield deviation.format("in_place", port, taken[port.name])
    yield "    }"


def batch_functions(real: RealType) -> str:
    """Functions that the tests of batch functions call."""
    return template("test_batch.c").substitute(real=real.name, states=N_STATES, batch=_batch_size(real))


def _passed(program: AnyProgram, port: Port) -> str:
    if not port.shared:
        return f"{port.name}[i]"
    return f"&{port.name}" if member_names(program, port) else port.name


def _cast(program: AnyProgram, port: Port, array: str, prefix: str) -> str:
    """An array as the argument for an input port."""
    return f"(const {struct_name(prefix, port)} *)(const void *){array}" if member_names(program, port) else array


def _rows(declaration: str, array: Array, number: Any) -> list[str]:
    rows = array.reshape(len(array), -1)
    text = [f"    {declaration}[{rows.shape[0]}][{rows.shape[1]}] = {{"]
    text += ["        {" + ", ".join(number(v) for v in row.tolist()) + "}," for row in rows]
    return [*text, "    };"]


def _table(program: AnyProgram, port: Port, array: Array, real: RealType, prefix: str) -> list[str]:
    if not port.shared:
        return _rows(f"static const {real.name} {port.name}", array, real.number)
    numbers = ", ".join(real.number(v) for v in array.ravel().tolist())
    # Initialisers of a struct stand in the order of its members, as the port's entries do.
    if member_names(program, port):
        return [f"    static const {struct_name(prefix, port)} {port.name} = {{{numbers}}};"]
    return [f"    static const {real.name} {port.name}[{port.size}] = {{{numbers}}};"]
