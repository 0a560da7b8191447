"""Conditions beyond accuracy: what multiplies the accelerations must stay positive definite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.program.program import Op, Program
from tauform.codegen.pruning.prune import relative_weights
from tauform.portable.factorization import are_positive_definite

# Functions that are worth nothing without a definite mass matrix.
NEED_DEFINITE = ("mass_matrix", "forward_dynamics")


def guard(function: str, states: list[Array], required: bool, moving: Sequence[int]) -> Callable[[Program], bool]:
    """The condition on programs of a function: definite mass matrices, pivots that keep their sign.

    Args:
        states: inputs at which it must hold; all are used.
        required: whether a mass matrix must be definite where the function could do without (inverse dynamics).
        moving: joints that the mass matrix is about; others are fixed.
    """
    # Torques alone, where nobody inverts the matrix, are free of the condition.
    if not required and function not in NEED_DEFINITE:
        return lambda program: True
    return lambda program: is_sound(program, function, states, is_definite(program, function, states, moving), True)


def is_sound(program: Program, function: str, states: list[Array], definite: bool | None, required: bool) -> bool:
    """Whether a program keeps the condition of `guard`, where it is known whether its mass matrix is definite."""
    if definite is False and (required or function in NEED_DEFINITE):
        return False
    # A pivot that passes zero between two states would divide by it somewhere in between.
    return function != "forward_dynamics" or steady_pivots(program, states)


def is_definite(evaluate: Callable[..., Any], function: str, states: list[Array], moving: Sequence[int]) -> bool | None:
    """Whether the mass matrix that a function stands for is positive definite at all states; None where it has none.

    A mass matrix itself must be symmetric too. Inverse dynamics hold it as the columns tau(q, 0, e_j) - tau(q, 0, 0),
    forward dynamics hold its inverse; single operations left out may cost these their symmetry, and positive definite
    means x^T M x > 0 then.
    """
    if function == "mass_matrix":
        return positive_definite(moving_block(evaluate(*states), moving))
    if function not in ("inverse_dynamics", "forward_dynamics"):
        return None
    N, n = states[0].shape
    # one call for all: at rest, then driven by one joint after the other
    # (n + 1, n): a row of zeros, then the unit vectors.
    q, drive = np.tile(states[0], (n + 1, 1)), np.repeat(np.eye(n + 1, n, -1), N, axis=0)
    temperatures = [np.tile(array, (n + 1, 1)) for array in states[3:]]
    # tau(qdd = e_j) - tau(0) is column j of M, whatever the program has left out.
    rest, *columns = np.asarray(evaluate(q, 0 * q, drive, *temperatures)).reshape(n + 1, N, n)
    matrices = moving_block(np.stack(columns, axis=-1) - rest[..., None], moving)
    # Inverse dynamics need not be symmetric; the energy qdd^T M qdd sees the symmetric part alone.
    return positive_definite(matrices + np.swapaxes(matrices, -1, -2))


def moving_block(matrices: Array, moving: Sequence[int]) -> Array:
    """(..., m, m) entries of joints that are not fixed."""
    return matrices[..., list(moving), :][..., list(moving)]


def result_weights(function: str, expected: Array, joints: Array | None = None) -> Array:
    """(N, m) weights that make errors of a function's flat results relative.

    Errors of a mass matrix are measured against the diagonal, D_ij / sqrt(D_ii D_jj), so that light joints count; a
    fixed joint, whose diagonal is not known, has at least what its other entries imply, D_ff >= D_fj^2 / D_jj.

    Args:
        joints: (m,) weights of the joints, the same at all states, where each joint has a tolerance of its own.
    """
    if joints is not None:
        return np.broadcast_to(joints, expected.shape)
    if function != "mass_matrix":
        return relative_weights(expected)
    # Flat (n, n) matrices.
    n = int(np.sqrt(expected.shape[1]))
    diagonal = expected[:, :: n + 1].copy()
    # An entry that was left out on the diagonal: M_ij^2 <= M_ii M_jj bounds it from below.
    implied = (expected.reshape(-1, n, n) ** 2 / np.where(diagonal > 0, diagonal, np.inf)[:, None]).max(axis=2)
    diagonal = np.where(diagonal > 0, diagonal, implied)
    # A joint without any entry: no scale, and nothing to divide by.
    diagonal[diagonal <= 0] = 1.0
    scale = 1.0 / np.sqrt(diagonal[:, :, None] * diagonal[:, None, :]).reshape(expected.shape)
    weights: Array = scale * relative_weights(expected * scale)
    return weights


def positive_definite(matrices: Array) -> bool:
    """Whether all matrices (..., n, n) are symmetric and positive definite."""
    if not np.array_equal(matrices, np.swapaxes(matrices, -1, -2)):
        return False
    return are_positive_definite(matrices)


def steady_pivots(program: Program, states: list[Array]) -> bool:
    """Whether what the program divides by, or takes the root of, keeps one sign over all states.

    The pivots of a factorization are positive exactly where the mass matrix is positive definite.
    """
    # Interpreted: a kernel keeps nothing of what is inside.
    values = program.values(states)
    divisors = [values[i.args[-1]] for i in program.instructions if i.op in (Op.DIVIDE, Op.SQRT)]
    return all(bool(np.all(x > 0) or np.all(x < 0)) for x in divisors)
