"""Programs over cones, as Clarabel takes them: squares and a slope become least where rows lie in cones.

The matrices are written here: a layer for modelling takes longer to compile such a program than Clarabel to solve it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tauform.arrays import Array
from tauform.errors import MissingExtraError

Cone = Literal["zero", "nonnegative", "second order", "semidefinite"]


@dataclass(frozen=True, eq=False)
class Condition:
    """A z + b lies in a cone; unknowns of a program beyond the columns of A do not matter to it.

    Attributes:
        cone: "second order" is ||(A z + b)[1:]|| <= (A z + b)[0]; "semidefinite" takes the rows of a symmetric matrix.
        A: (m, n) with n the number of unknowns, or less.
        b: (m,).
    """

    cone: Cone
    A: Array
    b: Array


@dataclass(frozen=True, eq=False)
class Solution:
    """z where an objective is least, and whether the solver is sure of it."""

    z: Array
    is_accurate: bool


def semidefinite_solver() -> Any:
    """The package clarabel, an interior-point solver that takes semidefinite cones.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import clarabel
    except ImportError:
        raise MissingExtraError(
            "physically consistent links need a semidefinite solver; install it with: pip install 'tauform[feasible]' "
            "(method 'log_cholesky' of fit.physically_consistent does without one)"
        ) from None
    return clarabel


def least(weights: Array, conditions: Sequence[Condition], slope: Array | None = None) -> Solution | None:
    """z where sum(weights z^2) + slope z is least; None where nothing meets the conditions or the solver gives up.

    Args:
        weights: (n,) of the squares of z, none negative.
        slope: (n,) zero by default.

    Raises:
        MissingExtraError: the extra `feasible` is not installed.
    """
    from scipy import sparse

    clarabel, n = semidefinite_solver(), len(weights)
    taking_part = [_in_triangles(condition) for condition in conditions if len(condition.b)]
    # Clarabel: 1/2 z^T P z + q z is least where b - A z lies in the cones.
    P, q = sparse.diags(2.0 * weights, format="csc"), np.zeros(n) if slope is None else slope
    A = np.vstack([np.pad(-own.A, ((0, 0), (0, n - own.A.shape[1]))) for own in taking_part])
    b = np.concatenate([own.b for own in taking_part])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [_cone(clarabel, own) for own in taking_part]
    found = clarabel.DefaultSolver(P, q, sparse.csc_matrix(A), b, cones, settings).solve()
    status = str(found.status)
    return Solution(np.array(found.x), status == "Solved") if status in ("Solved", "AlmostSolved") else None


def _in_triangles(condition: Condition) -> Condition:
    """The condition with each symmetric matrix as its upper triangle, column by column, scaled to keep its norm."""
    if condition.cone != "semidefinite":
        return condition
    size = math.isqrt(len(condition.b))
    columns, rows = np.tril_indices(size)
    places, scale = size * rows + columns, np.where(rows == columns, 1.0, np.sqrt(2.0))
    return replace(condition, A=scale[:, None] * condition.A[places], b=scale * condition.b[places])


def _cone(clarabel: Any, condition: Condition) -> Any:
    """The cone of Clarabel that the rows of a condition lie in."""
    m = len(condition.b)
    if condition.cone == "semidefinite":
        # m = k (k + 1) / 2 entries of a triangle with k rows.
        return clarabel.PSDTriangleConeT((math.isqrt(8 * m + 1) - 1) // 2)
    kinds = {"zero": "ZeroConeT", "nonnegative": "NonnegativeConeT", "second order": "SecondOrderConeT"}
    return getattr(clarabel, kinds[condition.cone])(m)
