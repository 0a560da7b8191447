"""The functions of one coordinate that dynamics in closed form are made of, and the matrices that multiply them.

A joint moves ten inertial parameters and wrenches from its link to its joint frame by matrices whose entries are
polynomials in the functions: T(q) = sum_e T_e f_e(q), with the f_e of Lloyd2021 Eqs. 5 and 7 after
sin^2 = 1 - cos^2 is used. The T_e hold small integers, so structural zeros are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array

# The most that any type has: digits of the code of a monomial.
N_DIGITS = 5


@dataclass(frozen=True, eq=False)
class CoordinateFunctions:
    """k functions of a coordinate q.

    Attributes:
        exponents: (N_DIGITS, 3) each function as powers of q, sin q, cos q; unused rows are zero.
        derivative: (k, k) row e, column f: how much of function e is in the derivative of function f.
        ten: (k, 10, 10) inertial parameters, link to joint frame.
        wrench: (j, 6, 6) the same for wrenches (moment, force), of the first functions.
        momentum: (6, 10) wrench of the link when its joint accelerates by one, from the ten.
        values: (k,) the functions at a position.
    """

    exponents: Array
    derivative: Array
    ten: Array
    wrench: Array
    momentum: Array
    values: Callable[[float], Array]


def matrices(size: int, *entries: dict[tuple[int, int], float]) -> Array:
    """Sparse matrices, one for each mapping of places to values."""
    # Written as places of a few ones: the papers' 10 x 10 matrices are mostly zeros.
    result = np.zeros((len(entries), size, size))
    for matrix, places in zip(result, entries, strict=True):
        for place, value in places.items():
            matrix[place] = value
    return result
