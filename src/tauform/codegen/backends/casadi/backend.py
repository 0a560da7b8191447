"""CasADi as a target: a shared library of functions with Jacobians of our own, for `casadi.external` and solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.codegen.backends.backend import Backend, Request, with_names
from tauform.codegen.backends.casadi.wrapper import Wrapped, wrapper_text
from tauform.codegen.backends.registry import backend
from tauform.codegen.backends.templating import template
from tauform.codegen.differentiation.jacobian import jacobian_program
from tauform.codegen.program.embed import whole
from tauform.codegen.program.program import Op, Program
from tauform.errors import GenerationError
from tauform.escaping.c import identifier

# Written together, the second is the derivative of the first: fewer operations than the derivative of its program.
LINEARIZATIONS = {"inverse_dynamics": "linearize_inverse", "forward_dynamics": "linearize_forward"}
# Two ways to the same Jacobian, relative to its largest entry: accelerations are known up to the condition of M.
SAME_DERIVATIVES = 1e-7


class CasADi(Backend):
    """The backend."""

    title = "CasADi"
    has_knots = True

    def files(self, request: Request) -> dict[str, str]:
        """C of the functions and their Jacobians with its self-test, CasADi's interface to it, and a Makefile."""
        prefix, inner = request.prefix, f"{request.prefix}_plain"
        # CasADi knows no state between calls: setups are built into their functions.
        setups = {program.setup.name for program in request.programs if program.setup is not None}
        given = {p.name: with_names(_whole(p), identifier) for p in request.programs if p.name not in setups}
        derivatives = {f: given.pop(name) for f, name in LINEARIZATIONS.items() if f in given and name in given}
        functions = list(given.values())
        pairs = [_functions(program, derivatives.get(program.name)) for program in functions]
        wrapped = [Wrapped(*pair) for pair in pairs]
        plain = tuple(program for pair in pairs for program in pair)
        knots = request.options.knots
        options = replace(request.options, batch=knots > 0)
        files = backend("c").files(replace(request, programs=plain, prefix=inner, options=options))
        names = {"prefix": prefix, "inner": inner, "functions": " ".join(p.name for p in functions), "knots": knots}
        return {
            # Build files of the C project are not taken: the Makefile here builds both.
            **{name: text for name, text in files.items() if name.endswith((".c", ".h"))},
            f"{prefix}.c": wrapper_text(wrapped, prefix, inner, knots),
            "Makefile": template(__package__, "Makefile").substitute(names),
            "check.py": template(__package__, "check.py.txt").substitute(names),
        }

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The library and the compiled self-test."""
        return (f"lib{prefix}.so", f"test_{prefix}_plain")

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The self-test of the C, and the library loaded by CasADi and compared with it."""
        return (("make", "check"),)


def _whole(program: Program) -> Program:
    """The program with its setup inside, whose parameters all states share."""
    made = whole(program)
    own = {port.name for port in program.inputs if not port.shared}
    inputs = tuple(replace(port, shared=port.name not in own) for port in made.inputs)
    # Without names of entries the parameters are an array, as CasADi has them, not a struct.
    return replace(made, inputs=inputs, about=replace(made.about, entries={}))


def _columnwise(program: Program, outputs: Sequence[tuple[int, ...]]) -> Program:
    """The program with its arrays stored column by column, as CasADi keeps them.

    Args:
        outputs: shape of each output as CasADi sees it, before its columns are put into one line.
    """
    places = []
    # CasADi stores matrices column by column: each input entry is read from its new place.
    for port in program.inputs:
        order = np.arange(port.size).reshape(port.matrix_shape).ravel(order="F")
        places.append({int(old): new for new, old in enumerate(order)})
    instructions = tuple(
        replace(i, place=(i.place[0], places[i.place[0]][i.place[1]])) if i.op is Op.INPUT else i
        for i in program.instructions
    )
    # Results are only listed in another order; no instruction changes.
    results = tuple(
        tuple(np.array(result).reshape(shape).ravel(order="F").tolist())
        for shape, result in zip(outputs, program.results, strict=True)
    )
    # The form with vectors has the old order of entries: it is dropped.
    return replace(program, instructions=instructions, results=results, wide=None)


def _functions(program: Program, derivatives: Program | None) -> tuple[Program, Program]:
    """The function and its Jacobian as CasADi stores arrays; an entry of a matrix is a row of the Jacobian."""
    # Its inputs are those of the program, which knows what states share.
    jacobian = replace(jacobian_program(program), inputs=program.inputs)
    if derivatives is not None:
        _check_same(program, jacobian, derivatives)
        jacobian = replace(derivatives, outputs=jacobian.outputs, name=jacobian.name)
    outputs, inputs = [p.matrix_shape for p in program.outputs], [p.matrix_shape for p in program.inputs]
    blocks = [(*output, *port) for output in outputs for port in inputs]
    return _columnwise(program, outputs), _columnwise(jacobian, blocks)


def _check_same(program: Program, jacobian: Program, derivatives: Program) -> None:
    """Compare a linearization with the derivative of the program itself, at a state that is nowhere special.

    Raises:
        GenerationError: they belong to different robots or terms of one, such as with and without friction.
    """
    same_ports = derivatives.robot == program.robot and derivatives.inputs == program.inputs
    if same_ports and [p.shape for p in derivatives.outputs] == [p.shape for p in jacobian.outputs]:
        state = [0.3 + 0.1 * np.arange(port.size).reshape(port.shape) for port in program.inputs]
        pairs = list(zip(jacobian(*state), derivatives(*state), strict=True))
        peak = max(float(np.abs(mine).max()) for mine, _ in pairs)
        if max(float(np.abs(mine - other).max()) for mine, other in pairs) <= SAME_DERIVATIVES * peak:
            return
    raise GenerationError(
        f"programs: {derivatives.name} of {derivatives.robot} does not hold the Jacobians of {program.name} of "
        f"{program.robot}; generate both from the same robot with the same options, or leave {derivatives.name} out"
    )


BACKEND = CasADi()
