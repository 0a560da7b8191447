"""Certificates: every program is compared with the textbook algorithms before it is handed over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.functions import Function
from tauform.codegen.problem import Problem
from tauform.codegen.program import Certificate, Program
from tauform.errors import GenerationError

STATES = 200
# Share of the largest row's magnitude below which a row's errors are measured against that share.
SMALLEST_ROW = 1e-2


def certified(program: Program, function: Function, problem: Problem) -> Program:
    """The program of a robot's function with its certificate.

    Raises:
        GenerationError: it deviates from the textbook function by more than the function's tolerance.
    """
    robot = problem.robot
    return checked(
        program,
        list(function.inputs(robot).values()),
        lambda *arrays: function.reference(robot, *arrays),
        function.tolerance,
        f"textbook {function.name} (NumPy, double precision)",
        problem.defaults,
    )


def checked(
    program: Program,
    shapes: Sequence[tuple[int, ...]],
    reference: Callable[..., Any],
    tolerance: float,
    described: str,
    runtime: tuple[Array, ...] = (),
) -> Program:
    """The program with a certificate of its agreement with a reference function at random states.

    Raises:
        GenerationError: it deviates by more than the tolerance.
    """
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-np.pi, np.pi, (STATES, *shape)) for shape in shapes]
    expected = _listed(reference(*arrays))
    found = _listed(evaluate(program, arrays, runtime))
    error = max(relative_error(a, b, tolerance) for a, b in zip(found, expected, strict=True))
    if not error <= tolerance:
        raise GenerationError(
            f"{program.name} of {program.robot} failed its verification: it is off by {error:.1e}, allowed is "
            f"{tolerance:.0e}; no program is handed over"
        )
    return replace(program, certificate=Certificate(STATES, error, tolerance, described))


def evaluate(program: Program, arrays: list[Array], runtime: tuple[Array, ...]) -> Any:
    """Interpret a program on a batch, its setup run on the run-time parameters first."""
    if program.setup is None:
        return program(*arrays)
    return program(*arrays, program.setup(*runtime))


def relative_error(found: Array, expected: Array, tolerance: float = 1e-12) -> float:
    """Largest deviation over the batch, relative to the largest magnitude of that joint's row of the output."""
    deviation = np.abs(found - expected).max(axis=0)
    size = np.abs(expected).max(axis=0)
    row = size.max(axis=tuple(range(1, size.ndim)), keepdims=True)
    # A row of rounding, too small for the tolerance to resolve, is measured against the others; a small row, such as
    # gravity about an axis that is vertical but for a few microradians, inherits the rounding of the large ones.
    floor = np.where(row > tolerance * row.max(), SMALLEST_ROW * row.max(), row.max())
    return float((deviation / np.maximum(np.maximum(row, floor), 1e-300)).max())


def _listed(outputs: Any) -> list[Array]:
    return list(outputs) if isinstance(outputs, tuple) else [outputs]
