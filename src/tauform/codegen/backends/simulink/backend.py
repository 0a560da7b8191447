"""Simulink as a target: C MEX S-functions of level 2 over the plain C, and a script that builds a library of blocks.

Simulink itself is not needed for the check: a stand-in for its header drives each S-function as Simulink would, sizes
first, then outputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauform.arrays import Array
from tauform.codegen.backends.backend import Backend, Request, avoiding, with_names
from tauform.codegen.backends.interfaces import plain_c
from tauform.codegen.backends.matlab_names import matlab_name, matlab_prefix
from tauform.codegen.backends.reference import DOUBLE, N_STATES, Reference
from tauform.codegen.backends.templating import template
from tauform.codegen.program.embed import whole
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.escaping.c import comment, identifier, string
from tauform.version import __version__

# Names that stand beside the ports in an S-function.
RESERVED = frozenset({"S", "tid", "i", "j"})


class Simulink(Backend):
    """The backend."""

    title = "Simulink"

    def prefix(self, name: str | None, robot: str) -> str:
        """An identifier, as in C, that leaves room for the names of S-functions."""
        return matlab_prefix(name, robot)

    def files(self, request: Request) -> dict[str, str]:
        """Plain C, an S-function per program, the script that makes the blocks, and a check without Simulink."""
        name, inner = request.prefix, f"{request.prefix}_plain"
        # Set-ups are no blocks: `whole` runs them inside, so that a block takes parameters as an input.
        setups = {program.setup.name for program in request.programs if program.setup is not None}
        # Ports become variables of the S-function beside the functions of the plain C.
        usable = avoiding(RESERVED, prefix=inner)
        programs = [with_names(whole(p), usable) for p in request.programs if p.name not in setups]
        functions = {_function_name(name, program): program for program in programs}
        facts = {
            "name": name,
            "inner": inner,
            "version": __version__,
            "functions": " ".join(functions),
            "tests": " ".join(f"check/test_{own}.c" for own in functions),
            "sources": " ".join(f"{own}.c" for own in functions),
            "prototypes": "\n".join(f"int check_{own}(void);" for own in functions),
            "checks": "\n".join(f"    failed |= check_{own}();" for own in functions),
            "calls": "\n".join(_block(function, program) for function, program in functions.items()),
        }
        texts = {f"{own}.c": _s_function(own, program, inner) for own, program in functions.items()}
        tests = {f"check/test_{own}.c": _test(own, program) for own, program in functions.items()}
        return {
            **plain_c(request, inner),
            **texts,
            **tests,
            # Named as Simulink's own header: the S-functions are checked as they are shipped.
            "check/simstruc.h": template(__package__, "simstruc.h").template,
            "check/simulink.c": template(__package__, "simulink.c").template,
            "check/main.c": template(__package__, "main.c").substitute(facts),
            f"build_{name}.m": template(__package__, "build.m").substitute(facts),
            "Makefile": template(__package__, "Makefile").substitute(facts),
        }

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The compiled self-tests, of the C and of the S-functions."""
        return (f"test_{prefix}", f"test_{prefix}_blocks")

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The self-test of the C, and each S-function driven by the stand-in."""
        return (("make", "check"),)


def _function_name(prefix: str, program: Program) -> str:
    return matlab_name(f"{prefix}_{identifier(program.name)}_sfun")


def _s_function(name: str, program: Program, inner: str) -> str:
    """The S-function: ports in the order of the arguments, matrices column by column."""
    inputs, outputs = list(enumerate(program.inputs)), list(enumerate(program.outputs))
    # Vectors have one layout in both; only matrices pass through a copy.
    matrices = [port for port in program.outputs if len(port.shape) > 1]
    signals = [
        *(f"    const real_T *{p.name} = ssGetInputPortRealSignal(S, {k});" for k, p in inputs),
        *(f"    real_T *{p.name} = ssGetOutputPortRealSignal(S, {k});" for k, p in outputs),
        *(f"    real_T {p.name}_rows[{p.size}];" for p in matrices),
    ]
    arguments = [*(p.name for p in program.inputs)]
    arguments += [f"{p.name}_rows" if p in matrices else p.name for p in program.outputs]
    return template(__package__, "sfun.c").substitute(
        function=name,
        inner=inner,
        version=__version__,
        summary=comment(program.about.summary or program.name),
        n_inputs=len(inputs),
        n_outputs=len(outputs),
        inputs="\n".join(_input(k, port) for k, port in inputs),
        outputs="\n".join(_output(k, port) for k, port in outputs),
        signals="\n".join(signals),
        call=f"    {inner}_{identifier(program.name)}({', '.join(arguments)});",
        columns="\n".join(_columns(port) for port in matrices),
        index="    int i;\n    int j;" if matrices else "",
    )


def _input(k: int, port: Port) -> str:
    """Every output depends on every input at once, which Simulink must know to find algebraic loops."""
    return (
        f"    ssSetInputPortWidth(S, {k}, {port.size}); /* {port.name} */\n"
        # Else a signal may be scattered pointers, which the C function cannot take.
        f"    ssSetInputPortRequiredContiguous(S, {k}, 1);\n"
        f"    ssSetInputPortDirectFeedThrough(S, {k}, 1);"
    )


def _output(k: int, port: Port) -> str:
    # Vectors stay one-dimensional signals: a matrix of one column would not fit other blocks.
    if len(port.shape) < 2:
        return f"    ssSetOutputPortWidth(S, {k}, {port.size}); /* {port.name} */"
    rows, columns = port.matrix_shape
    return f"    if (!ssSetOutputPortMatrixDimensions(S, {k}, {rows}, {columns})) return; /* {port.name} */"


def _columns(port: Port) -> str:
    """Copy of a matrix: C has it row by row, Simulink column by column."""
    rows, columns = port.matrix_shape
    return (
        f"    for (i = 0; i < {rows}; i++) {{\n"
        f"        for (j = 0; j < {columns}; j++) {port.name}[j*{rows} + i] = {port.name}_rows[i*{columns} + j];\n"
        "    }"
    )


def _block(function: str, program: Program) -> str:
    """Call of the script that adds a block with named ports."""
    ports = ", ".join(
        "{" + ", ".join(f"'{port.name}'" for port in group) + "}" for group in (program.inputs, program.outputs)
    )
    return f"add(library, '{identifier(program.name)}', '{function}', {ports});"


def _test(name: str, program: Program) -> str:
    """States and results in the layout of Simulink."""
    # The textbook's results, not those of the C: block and C could be wrong alike.
    reference = Reference(program, DOUBLE)
    inputs = [_numbers(array) for array in reference.inputs]
    expected, scales = [], []
    for result, scale, port in zip(reference.results, reference.scales, program.outputs, strict=True):
        expected.append(_numbers(_by_columns(result, port)))
        scales.append(_numbers(_by_columns(scale[None], port)))
    arrays = {"input": inputs, "expected": expected, "scale": scales}
    constants = [
        f"static const double {kind}_{k}[] = {{{text}}};"
        for kind, texts in arrays.items()
        for k, text in enumerate(texts)
    ]
    return template(__package__, "test.c").substitute(
        function=name,
        title=string(program.name),
        states=N_STATES,
        tolerance=repr(reference.tolerance),
        constants="\n".join(constants),
        **{kind: ", ".join(f"{kind}_{k}" for k in range(len(texts))) for kind, texts in arrays.items()},
        input_widths=", ".join(str(port.size) for port in program.inputs),
        output_widths=", ".join(str(port.size) for port in program.outputs),
    )


def _by_columns(result: Array, port: Port) -> Array:
    """Flat entries of each state, column by column."""
    rows, columns = port.matrix_shape
    return result.reshape(len(result), rows, columns).transpose(0, 2, 1)


def _numbers(array: Array) -> str:
    return ", ".join(map(repr, array.ravel().tolist()))


BACKEND = Simulink()
