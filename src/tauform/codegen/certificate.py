"""Certificates: every program is compared with the textbook algorithms before it is handed over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from tauform.arrays import Array
from tauform.codegen.functions import Function
from tauform.codegen.looped.program import LoopedProgram
from tauform.codegen.minimal.problem import Problem
from tauform.codegen.program.program import Certificate, Program
from tauform.codegen.states import random_inputs
from tauform.description.drives.friction import REFERENCE_TEMPERATURE
from tauform.errors import VerificationError
from tauform.portable.sampling import uniform
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

Checked = TypeVar("Checked", Program, LoopedProgram)

STATES = 200
# Of the torques that base parameters or a closed form give, and what to do where they are off.
EXACT_MODEL = 1e-10
REPORT_IT = "please report the robot's description"
# Share of the largest row's magnitude below which a row's errors are measured against that share.
SMALLEST_ROW = 1e-2


def certified(program: Program, function: Function, problem: Problem, run: Callable[..., Any] | None = None) -> Program:
    """The program of a robot's function with its certificate.

    Args:
        run: what was made of the program, to be compared in its place.

    Raises:
        VerificationError: it deviates from the textbook function by more than the function's tolerance.
    """
    robot, shapes = problem.robot, function.shapes(problem)
    # Some references hold without velocities only: they are tested there.
    still = [name for name in shapes if name == "qd" and function.at_rest]
    mild = np.full(robot.n_joints, REFERENCE_TEMPERATURE)

    def certify(form: Program) -> Program:
        return checked(
            form,
            list(shapes.values()),
            lambda *arrays: function.expected(problem, *arrays),
            function.tolerance,
            f"textbook {function.name} (NumPy, double precision){' at rest' if function.at_rest else ''}",
            problem.defaults,
            # Parts that vanish altogether are measured against the torque they are parts of.
            whole=partial(inverse_dynamics, robot, temperature=mild) if function.may_vanish else None,
            zero=[list(shapes).index(name) for name in still],
            run=run,
        )

    # Both forms are handed over, so both are compared.
    wide = None if program.wide is None else certify(program.wide)
    return replace(certify(program), wide=wide)


def checked(
    program: Checked,
    shapes: Sequence[tuple[int, ...]],
    reference: Callable[..., Any],
    tolerance: float,
    described: str,
    runtime: tuple[Array, ...] = (),
    whole: Callable[..., Any] | None = None,
    zero: Sequence[int] = (),
    run: Callable[..., Any] | None = None,
) -> Checked:
    """The program with a certificate of its agreement with a reference function at random states.

    Args:
        runtime: values of the run-time parameters.
        whole: the torques of q, qd, qdd that the results are parts of, where these may vanish.
        zero: inputs that are zero throughout, since the reference holds there only.
        run: what was made of the program, on the same arrays; None interprets the program.

    Raises:
        VerificationError: it deviates by more than the tolerance.
    """
    rng = np.random.default_rng(0)
    states = random_inputs(program, program.inputs[: len(shapes)], np.pi, STATES, rng)
    # Times False is zero, of the same shape.
    arrays: list[Array] = [array * (k not in zero) for k, array in enumerate(states)]
    expected = _listed(reference(*arrays))
    found = _listed(evaluate(program, arrays, runtime) if run is None else run(*arrays))
    size = 0.0
    if whole is not None:
        size = np.abs(whole(arrays[0], *uniform(rng, -np.pi, np.pi, (2, *arrays[0].shape)))).max()
    error = max(relative_error(a, b, tolerance, size) for a, b in zip(found, expected, strict=True))
    within(error, tolerance, f"{program.name} of {program.robot}", "no program is handed over")
    return replace(program, certificate=Certificate(STATES, error, tolerance, described))


def within(error: float, tolerance: float, what: str, remedy: str) -> None:
    """Refuse an error beyond its tolerance; one that is no number is beyond any.

    Raises:
        VerificationError: the message says what is off by how much.
    """
    # `not <=` also refuses NaN.
    if not error <= tolerance:
        raise VerificationError(f"{what} failed verification: off by {error:.1e}, allowed is {tolerance:.0e}; {remedy}")


def evaluate(program: Program | LoopedProgram, arrays: list[Array], runtime: tuple[Array, ...]) -> Any:
    """Interpret a program on a batch, its setup run on the run-time parameters first."""
    if program.setup is None:
        return program(*arrays)
    return program(*arrays, program.setup(*runtime))


def relative_error(found: Array, expected: Array, tolerance: float = 1e-12, whole: float = 0.0) -> float:
    """Largest deviation over the batch, relative to the largest magnitude of that joint's row of the output.

    Args:
        tolerance: below this share of what is around it a row is rounding.
        whole: size of what the results are a part of.
    """
    deviation = np.abs(found - expected).max(axis=0)
    size = np.abs(expected).max(axis=0)
    row = size.max(axis=tuple(range(1, size.ndim)), keepdims=True)
    # A part that is rounding altogether, such as Coriolis torques of one joint, is measured against the whole.
    largest = row.max() if row.max() > tolerance * whole else whole
    # A row of rounding, too small for the tolerance to resolve, is measured against the others; a small row, such as
    # gravity about an axis that is vertical but for a few microradians, inherits the rounding of the large ones.
    floor = np.where(row > tolerance * largest, SMALLEST_ROW * largest, largest)
    # The smallest divisor keeps an output of zeros from dividing by zero.
    return float((deviation / np.maximum(np.maximum(row, floor), 1e-300)).max())


def _listed(outputs: Any) -> list[Array]:
    return list(outputs) if isinstance(outputs, tuple) else [outputs]
