"""Conditions beyond accuracy that a reduced program must keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.program import Op, Program, evaluate_instruction
from tauform.codegen.pruning.prune import relative_weights


def guard(function: str, states: list[Array]) -> Callable[[Program], bool]:
    """The condition on programs of a function: positive definite mass matrices, pivots that keep their sign.

    Args:
        states: inputs at which it must hold; all are used.
    """
    if function == "mass_matrix":
        return lambda program: positive_definite(program(*states))
    if function == "forward_dynamics":
        return lambda program: steady_pivots(program, states)
    return lambda program: True


def result_weights(function: str, expected: Array) -> Array:
    """(N, m) weights that make errors of a function's flat results relative.

    Errors of a mass matrix are measured against the diagonal, D_ij / sqrt(D_ii D_jj), so that light joints count.
    """
    if function != "mass_matrix":
        return relative_weights(expected)
    n = int(np.sqrt(expected.shape[1]))
    diagonal = expected[:, :: n + 1]
    scale = 1.0 / np.sqrt(diagonal[:, :, None] * diagonal[:, None, :]).reshape(expected.shape)
    weights: Array = scale * relative_weights(expected * scale)
    return weights


def positive_definite(matrices: Array) -> bool:
    """Whether all matrices (..., n, n) are symmetric and positive definite."""
    if not np.array_equal(matrices, np.swapaxes(matrices, -1, -2)):
        return False
    try:
        np.linalg.cholesky(matrices)
    except np.linalg.LinAlgError:
        return False
    return True


def steady_pivots(program: Program, states: list[Array]) -> bool:
    """Whether what the program divides by, or takes the root of, keeps one sign over all states.

    The pivots of a factorization are positive exactly where the mass matrix is positive definite.
    """
    values: list[Any] = []
    for instruction in program.instructions:
        values.append(evaluate_instruction(instruction, values, states))
    divisors = [values[i.args[-1]] for i in program.instructions if i.op in (Op.DIVIDE, Op.SQRT)]
    return all(bool(np.all(x > 0) or np.all(x < 0)) for x in divisors)
