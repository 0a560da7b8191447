"""The Jacobians that a framework is given with a function, and which of a program's ports they belong to."""

from __future__ import annotations

from tauform.codegen.differentiation.jacobian import jacobian_program
from tauform.codegen.program.embed import whole
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError
from tauform.wording import call


def jacobians_of(program: Program, derivatives: Program | None = None) -> Program:
    """The program of all Jacobians of a whole program, output by output and within each input by input.

    Args:
        program: without shared inputs.
        derivatives: the same made by an algorithm of its own, such as "linearize_inverse"; else the program itself is
            differentiated.

    Raises:
        GenerationError: the derivatives belong to another robot or function.
    """
    if derivatives is None:
        return jacobian_program(program)
    made = whole(derivatives)
    wanted = [(*output.shape, *port.shape) for output in program.outputs for port in program.inputs]
    given = [port.shape for port in made.outputs]
    named = [_named(port, output, len(program.outputs)) for output in program.outputs for port in program.inputs]
    if made.robot != program.robot or made.inputs != program.inputs or given != wanted:
        example = call("generate", "robot, 'linearize_inverse'")
        raise GenerationError(
            f"derivatives: {derivatives.name} of {derivatives.robot} does not hold the Jacobians of {program.name} of "
            f"{program.robot}; {example} has those of inverse dynamics; without any, they are made of the program"
        )
    if [port.name for port in made.outputs] != named:
        raise GenerationError(f"derivatives: expected outputs {', '.join(named)} of {derivatives.name}")
    return made


def _named(port: Port, output: Port, n_outputs: int) -> str:
    return f"d{port.name}" if n_outputs == 1 else f"d_{output.name}_{port.name}"
