"""The generated self-test: random states, and the results of the program as Python interprets it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.backends.c.config import Real, identifier
from tauform.codegen.backends.c.printer import member_names
from tauform.codegen.backends.c.source import function_name, struct_name
from tauform.codegen.program.program import Port, Program

N_STATES = 8
# Rounding of compiled code may differ from the interpreter's by this factor (order of fused operations, libm).
_MARGIN = 10.0
_SMALL_ENTRY = 0.01


@dataclass(frozen=True)
class Reference:
    """States of a program's inputs and the results that belong to them.

    Inputs are exact in the type of the C code, results are computed in double precision.
    """

    program: Program
    real: Real

    @cached_property
    def inputs(self) -> list[Array]:
        rng = np.random.default_rng(0)
        arrays = []
        for port in self.program.inputs:
            if port.shared:
                given = self._default(port)
                array = np.asarray(given) if given is not None else rng.uniform(0.5, 1.5, port.shape)
            else:
                array = rng.uniform(-3.0, 3.0, (N_STATES, *port.shape))
            arrays.append(array.astype(self.real.dtype).astype(np.float64))
        return arrays

    def _default(self, port: Port) -> Any:
        """Parameters that describe the robot, where the program knows them."""
        defaults = self.program.notes.get("defaults", {})
        setup = self.program.setup
        if setup is not None and port.name == setup.outputs[0].name and all(p.name in defaults for p in setup.inputs):
            return setup(*(defaults[p.name] for p in setup.inputs))
        return defaults.get(port.name)

    def _run(self, dtype: Any) -> list[Array]:
        """Results as (states, entries)."""
        results = self.program(*(array.astype(dtype) for array in self.inputs))
        results = results if isinstance(results, tuple) else (results,)
        pairs = zip(results, self.program.outputs, strict=True)
        return [np.broadcast_to(r, (N_STATES, *p.shape)).astype(np.float64).reshape(N_STATES, p.size) for r, p in pairs]

    @cached_property
    def results(self) -> list[Array]:
        return self._run(np.float64)

    @cached_property
    def scales(self) -> list[Array]:
        """Largest magnitude of each entry, but not less than a hundredth of the output's: zeros hold rounding noise."""
        scales = []
        for result in self.results:
            largest = np.abs(result).max(axis=0)
            scales.append(np.maximum(largest, _SMALL_ENTRY * largest.max() or 1.0))
        return scales

    @cached_property
    def rounding(self) -> float:
        """Largest deviation when the interpreter itself computes in the C code's type, from more exact results."""
        exact = self._run(np.longdouble) if self.real.dtype is np.float64 else self.results
        pairs = zip(self._run(self.real.dtype), exact, self.scales, strict=True)
        return max(float((np.abs(a - b) / scale).max()) for a, b, scale in pairs)

    @property
    def tolerance(self) -> float:
        """What the self-test allows."""
        return max(self.real.tolerance, float(f"{_MARGIN * self.rounding:.1e}"))


def test_text(reference: Reference, prefix: str, batch: bool) -> str:
    """A static function that returns 0 if the program's C function gives the expected results."""
    program, real = reference.program, reference.real
    lines = [f"static int test_{identifier(program.name)}(void)", "{"]
    for port, array in zip(program.inputs, reference.inputs, strict=True):
        lines += _table(program, port, array, real, prefix)
    for port, result, scale in zip(program.outputs, reference.results, reference.scales, strict=True):
        name = port.name
        lines += _rows(f"static const double {name}_expected", result, str)
        lines.append(f"    static const double {name}_scale[{port.size}] = {{{', '.join(map(str, scale.tolist()))}}};")
        lines.append(f"    {real.name} {name}_computed[{port.size}];")
    lines += [
        "    double largest = 0.0;",
        "    int i;",
        f"    for (i = 0; i < {N_STATES}; i++) {{",
        f"        {function_name(program, prefix)}({', '.join(_arguments(program))});",
        *_compare(program),
        "    }",
    ]
    if batch:
        lines += _batch_test(program, real, prefix)
    lines += [
        f'    printf("%-30s largest deviation %.1e, allowed {reference.tolerance:.1e}\\n", "{program.name}", largest);',
        f"    return !(largest <= {reference.tolerance!r});",
        "}",
        "",
    ]
    return "\n".join(lines)


def _arguments(program: Program) -> list[str]:
    inputs = []
    for port in program.inputs:
        name = port.name
        inputs.append(("&" if member_names(program, port) else "") + name if port.shared else f"{name}[i]")
    return inputs + [f"{port.name}_computed" for port in program.outputs]


def _compare(program: Program, column: str = "computed") -> list[str]:
    lines = []
    for port in program.outputs:
        name = port.name
        call = f"deviation({port.size}, {name}_{column}, {name}_expected[i], {name}_scale)"
        lines += ["        {", f"            const double error = {call};"]
        lines += ["            if (!(error <= largest))", "                largest = error;", "        }"]
    return lines


def _rows(declaration: str, array: Array, number: Any) -> list[str]:
    rows = array.reshape(len(array), -1)
    text = [f"    {declaration}[{rows.shape[0]}][{rows.shape[1]}] = {{"]
    text += ["        {" + ", ".join(number(v) for v in row.tolist()) + "}," for row in rows]
    return [*text, "    };"]


def _table(program: Program, port: Port, array: Array, real: Real, prefix: str) -> list[str]:
    if not port.shared:
        return _rows(f"static const {real.name} {port.name}", array, real.number)
    numbers = ", ".join(real.number(v) for v in array.ravel().tolist())
    if member_names(program, port):
        return [f"    static const {struct_name(prefix, port)} {port.name} = {{{numbers}}};"]
    return [f"    static const {real.name} {port.name}[{port.size}] = {{{numbers}}};"]


def _batch_test(program: Program, real: Real, prefix: str) -> list[str]:
    """The batch function on the same states, entry by entry in structure-of-arrays form."""
    lines, arguments, gather = ["    {"], [str(N_STATES)], []
    for port in program.inputs:
        name = port.name
        if port.shared:
            arguments.append(("&" if member_names(program, port) else "") + name)
            continue
        lines.append(f"        {real.name} {name}_all[{port.size * N_STATES}];")
        arguments.append(f"{name}_all")
        gather.append(f"            for (k = 0; k < {port.size}; k++)")
        gather.append(f"                {name}_all[{N_STATES}*k + i] = {name}[i][k];")
    for port in program.outputs:
        lines.append(f"        {real.name} {port.name}_all[{port.size * N_STATES}];")
        arguments.append(f"{port.name}_all")
    loop = f"        for (i = 0; i < {N_STATES}; i++) {{"
    lines += ["        int k;", *([loop, *gather, "        }"] if gather else [])]
    lines += [f"        {function_name(program, prefix)}_batch({', '.join(arguments)});", loop]
    for port in program.outputs:
        name = port.name
        lines.append(f"            for (k = 0; k < {port.size}; k++)")
        lines.append(f"                {name}_computed[k] = {name}_all[{N_STATES}*k + i];")
    return [*lines, *(f"    {line}" for line in _compare(program)), "        }", "    }"]
