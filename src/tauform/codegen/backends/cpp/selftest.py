"""The test of C++ functions: on reference states, with all arrays apart and with an input as output."""

from __future__ import annotations

from itertools import product

from tauform.arrays import Array
from tauform.codegen.backends.cpp.printer import array
from tauform.codegen.backends.reference import N_STATES, Reference
from tauform.escaping.c import string


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
    for source, target in product(program.inputs, program.outputs):
        # std::array carries its size in its type: only equal ones can be the same array.
        if source.size == target.size:
            both = f"{source.name}_{target.name}"
            lines.append(f"        {array(source, real)} {both} = {inputs[source.name]};")
            lines += call({**inputs, source.name: both}, {**outputs, target.name: both})
    return "\n".join(
        [*lines, "    }", f"    return report({string(program.name)}, largest, {reference.tolerance!r});", "}", ""]
    )


def _rows(rows: Array, opening: str = "{", closing: str = "}") -> str:
    return ",".join(f"\n        {opening}{', '.join(map(repr, row))}{closing}" for row in rows.tolist())
