"""The paper's reduction matrices: rows of P that are unit vectors wherever a coefficient is new.  [Lloyd2021, 2.2.2]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.closedform.generators import Generators
from tauform.portable.factorization import in_order, inverse
from tauform.portable.products import product

# A row that keeps less than this of itself, after the chosen ones are taken out, follows from them.
MIN_INDEPENDENT_SHARE = 1e-9
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Echelon:
    """tau_i = y P_i theta_e with theta_e = sum_i B_i theta_p,i (Lloyd2021 Eq. 28, which holds for the sum).

    Attributes:
        P: (n, p, l) the transposed row-echelon form of the coefficients, joint after joint.
        B: (n, l, p) its pseudoinverse; zero for friction, whose parameters stand last in theta_e, outside P.
        theta_from_base: (l, l) theta_e = theta_from_base @ theta, theta being the model's own base parameters.
        g: the signed component of gravity that terms of gravity carry as a factor, as in the paper; 1 without gravity.
    """

    P: Array
    B: Array
    theta_from_base: Array
    g: float

    def __repr__(self) -> str:
        return f"Echelon(P {self.P.shape}, B {self.B.shape}, g = {self.g:g})"


def echelon_form(reduction: Array, exponents: NDArray[np.int8], gravity: Array, joint_terms: Array) -> Echelon:
    """Echelon form of the coefficients (n, p, l) for theta; the first independent ones become theta_e.

    Where those do not tell all of theta, because friction is no term of theirs, rows of joint_terms (n, 3, l) follow.
    """
    n, n_terms, n_base = reduction.shape
    # The paper writes g as a factor of its own, so that entries of gravity terms are simple numbers too.
    largest = int(np.argmax(np.abs(gravity)))
    g = float(gravity[largest]) if gravity[largest] else 1.0
    # A term without rates is gravity's.
    is_gravity = exponents[Generators(n).rates].max(axis=0) == 0
    rows = np.where(is_gravity[None, :, None], reduction / g, reduction).reshape(n * n_terms, n_base)
    # Friction comes last, so that it is chosen only where nothing else tells it.
    known = np.concatenate([rows, joint_terms.reshape(-1, n_base)])
    theta_from_base = known[_first_independent(known)]
    base_from_theta = inverse(theta_from_base)
    # most terms act on few joints: their other rows are zero, and stay so
    used = np.flatnonzero(rows.any(axis=1))
    left = product(rows[used], base_from_theta)
    # What cancelled in the product is zero in the paper's tables; relative to the terms that cancelled.
    left[np.abs(left) <= ROUNDING * product(np.abs(rows[used]), np.abs(base_from_theta))] = 0.0
    # Dust of the inverse is left alone in entries where nothing cancelled: it is small beside the rest of its row.
    sizes = np.abs(left).max(axis=0, initial=0.0)
    shares = np.abs(left) / np.where(sizes > 0, sizes, 1.0)
    left[shares <= ROUNDING * shares.max(axis=1, keepdims=True, initial=0.0)] = 0.0
    P, B = np.zeros((n * n_terms, n_base)), np.zeros((n_base, n * n_terms))
    P[used] = left
    # Columns of P without any entry are friction's.
    told = np.flatnonzero(left.any(axis=0))  # all but friction
    # P = Q R, so its pseudoinverse is R^-1 Q^T with Q = P R^-1
    from_triangle = inverse(in_order(left[:, told], 0.0).R)
    B[np.ix_(told, used)] = product(from_triangle, product(left[:, told], from_triangle).T)
    return Echelon(P.reshape(n, n_terms, n_base), B.reshape(n_base, n, n_terms).transpose(1, 0, 2), theta_from_base, g)


def _first_independent(rows: Array) -> list[int]:
    """Indices of the first rows that span all."""
    # Columns differ by their units, rows by theirs: without both scalings lengths would decide the rank.
    scale = np.abs(rows).max(axis=0, initial=0.0)
    rest = rows / np.where(scale > 0, scale, 1.0)
    norms = np.linalg.norm(rest, axis=1)
    rest = rest / np.where(norms > 0, norms, 1.0)[:, None]
    # the rows that are not spanned yet; one that is spanned once stays so
    places = np.flatnonzero(norms > 0)
    rest = rest[places]
    chosen: list[int] = []
    # Gram-Schmidt in the order of the rows: the first that is not spanned is the next coefficient of theta_e.
    # As many rows as theta has entries; the rank is full, since theta holds no redundant parameter.
    while len(chosen) < rows.shape[1]:
        sizes = np.linalg.norm(rest, axis=1)
        unspanned = sizes > MIN_INDEPENDENT_SHARE
        rest, places, sizes = rest[unspanned], places[unspanned], sizes[unspanned]
        direction = rest[0] / sizes[0]
        chosen.append(int(places[0]))
        rest, places = rest[1:], places[1:]
        # Each step leaves only what the chosen directions do not span.
        rest = rest - np.outer(product(rest, direction), direction)
    return chosen
