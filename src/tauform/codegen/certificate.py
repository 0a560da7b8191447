"""Certificates: every program is compared with the textbook algorithms before it is handed over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.functions import Function
from tauform.codegen.problem import Problem
from tauform.codegen.program import Certificate, Program
from tauform.errors import GenerationError

STATES = 200


def certified(program: Program, function: Function, problem: Problem) -> Program:
    """The program with its certificate.

    Raises:
        GenerationError: it deviates from the textbook function by more than the function's tolerance.
    """
    robot = problem.robot
    rng = np.random.default_rng(0)
    shapes = function.inputs(robot)
    arrays = [rng.uniform(-np.pi, np.pi, (STATES, *shape)) for shape in shapes.values()]
    expected = _listed(function.reference(robot, *arrays))
    found = _listed(evaluate(program, arrays, problem.defaults))
    error = max(relative_error(a, b) for a, b in zip(found, expected, strict=True))
    certificate = Certificate(STATES, error, function.tolerance, f"textbook {function.name} (NumPy, double precision)")
    if not error <= function.tolerance:
        raise GenerationError(
            f"{program.name} of {robot.name} failed its verification: it is off by {error:.1e}, allowed is "
            f"{function.tolerance:.0e}; no program is handed over"
        )
    return replace(program, certificate=certificate)


def evaluate(program: Program, arrays: list[Array], runtime: tuple[Array, ...]) -> Any:
    """Interpret a program on a batch, its setup run on the run-time parameters first."""
    if program.setup is None:
        return program(*arrays)
    return program(*arrays, program.setup(*runtime))


def relative_error(found: Array, expected: Array) -> float:
    """Largest deviation over the batch, relative to the largest magnitude of that joint's row of the output."""
    deviation = np.abs(found - expected).max(axis=0)
    size = np.abs(expected).max(axis=0)
    row = size.max(axis=tuple(range(1, size.ndim)), keepdims=True)
    # a row that is zero throughout is measured against the others
    scale = np.where(row > 1e-12 * row.max(), row, max(float(row.max()), 1e-300))
    return float((deviation / scale).max())


def _listed(outputs: Any) -> list[Array]:
    return list(outputs) if isinstance(outputs, tuple) else [outputs]
