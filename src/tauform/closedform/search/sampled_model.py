"""SampledModel: a closed form that was found by sampling a torque function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauform.arguments import checked_methods
from tauform.arrays import Array, fixed_array, read_only
from tauform.closedform.terms.monomials import TermProducts
from tauform.portable.elementwise import sin_cos
from tauform.portable.products import product
from tauform.rigidbody.sweeps.evaluation import batched

STATES_PER_SLICE = 256


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class SampledModel:
    """tau_i = sum_j y_j(q, qd, qdd) coefficients[i, j] @ parameters.  [Lloyd2021, Eqs. 26, 33]

    Attributes:
        parameter_names: (m,) of the function's parameters.
        exponents: (5 n, p) the paper's E over q, sin q, cos q, qd, qdd.
        coefficients: (n, p, m) the paper's Psi_i.
        pivots: parameters that the base parameters grow from.
        grouping: (l, m) base parameters theta = grouping @ parameters.
    """

    parameter_names: tuple[str, ...]
    exponents: NDArray[np.int8]
    coefficients: Array
    pivots: tuple[int, ...]
    grouping: Array

    @property
    def n_joints(self) -> int:
        """Length of q."""
        return len(self.coefficients)

    @property
    def n_terms(self) -> int:
        """The paper's p."""
        return self.exponents.shape[1]

    @property
    def n_base(self) -> int:
        """The paper's l."""
        return len(self.pivots)

    @property
    def reduction(self) -> Array:
        """(n, p, l) the paper's P_i: coefficients of theta."""
        # Columns of the pivots: all others are combinations of them by `grouping`.
        return read_only(self.coefficients[:, :, list(self.pivots)])

    def theta(self, parameters: ArrayLike) -> Array:
        """(l,) base parameters of the function's parameters."""
        return product(self.grouping, fixed_array(parameters, (len(self.parameter_names),), "parameters"))

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """(..., n, l) Y with tau = Y @ theta.

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
        """
        products, P = TermProducts.of(self.exponents), self.reduction

        def core(q: Array, qd: Array, qdd: Array) -> Array:
            y = products.terms(q, qd, qdd)
            return np.stack([product(P[i].T, y) for i in range(self.n_joints)])

        return batched(self.n_joints, core, STATES_PER_SLICE, q=q, qd=qd, qdd=qdd)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, parameters: ArrayLike) -> Array:
        """(..., n) torques.

        Raises:
            ShapeError: a last dimension differs from n, or parameters have another length.
        """
        return product(self.regressor(q, qd, qdd), self.theta(parameters))

    def __repr__(self) -> str:
        return f"SampledModel({self.n_joints} joints, {self.n_terms} terms, {self.n_base} base parameters)"


def values_of(functions: NDArray[np.int8], q: Array) -> Array:
    """(N, f) values of functions (f, n, 3), exponents of q, sin q, cos q, at states (N, n)."""
    s, c = sin_cos(q)
    result = np.ones((len(q), len(functions)))
    for i in range(q.shape[1]):
        for place, x in enumerate((q[:, i], s[:, i], c[:, i])):
            # Powers by repeated products, each once for all functions.
            powers = [np.ones_like(x)]
            for _ in range(int(functions[:, i, place].max(initial=0))):
                powers.append(powers[-1] * x)
            result = result * np.stack(powers, axis=1)[:, functions[:, i, place]]
    return result
