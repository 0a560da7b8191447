"""Physically consistent links as unknowns of a semidefinite program; the one such program of the package.

A link is physical exactly when its pseudo-inertia, the (4, 4) matrix of its second moments, is positive definite. That
matrix is linear in the ten parameters of the link, and base parameters are linear in them too.
(Wensing, Kim, Slotine 2018)
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.conic import Condition, semidefinite_solver
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot

# Friction and rotor inertias below this, relative to their typical size, are what the solver makes of zero.
SOLVER_ZERO = 1e-8
# (16, 10) entries of a pseudo-inertia by the ten parameters of its link.
ENTRIES = np.column_stack([Inertia(unit).pseudo_inertia.ravel() for unit in np.eye(10)])


class PhysicalLinks:
    """Standard parameters as unknowns x = parameters / size, with the conditions that physics sets them.

    The unknowns y of a program are the changes of x that takes part: what takes no part stays as in the prior, and the
    squares of y are the squared distance from it.

    Attributes:
        columns: (n,) indices of the parameters that take part.
        nonnegative: indices of rotor inertias, viscous and Coulomb friction, which cannot be negative; offsets can.
        movable: links of which a parameter takes part.
    """

    def __init__(self, robot: Robot, base: BaseParameters, prior: Array, size: Array, margin: float = 0.0) -> None:
        """Set up the unknowns.

        Args:
            base: what takes part, and which of its base parameters are zero.
            prior: (n_parameters,) gives what takes no part.
            size: (n_parameters,) typical sizes, such that x is near one.
            margin: least eigenvalue of the scaled pseudo-inertias; one well above the solver's tolerance keeps links
                physical when its last digits are put right.

        Raises:
            MissingExtraError: the extra `feasible` is not installed.
        """
        # Called for its error: better now than when everything is prepared.
        semidefinite_solver()
        self.base, self.prior, self.size, self.margin = base, prior, size, margin
        self.layout = robot.layout
        self.columns = np.array(sorted(base.columns), dtype=int)
        # Friction and rotors cannot be negative; offsets, springs and couplings can.
        drives = np.setdiff1d(np.arange(self.layout.n)[self.layout.drives], self.layout.signed)
        self.nonnegative = np.intersect1d(drives, self.columns)
        taking_part = self.layout.by_link(np.isin(np.arange(self.layout.n), self.columns))
        self.movable = np.flatnonzero(taking_part.any(axis=1)).tolist()

    def x(self, y: Array) -> Array:
        """(n_parameters,) x of a solution."""
        x = self.prior / self.size
        x[self.columns] += y
        return x

    def rows(self, of_x: Array) -> tuple[Array, Array]:
        """A, b with of_x @ x = A y + b."""
        return of_x[:, self.columns], of_x @ (self.prior / self.size)

    def pseudo_inertias(self) -> list[Array]:
        """(16, n_parameters) by x, of each movable link: second moments, scaled to numbers near one."""
        matrices = []
        for j in self.movable:
            own = self.layout.link(j)
            mass, moment = self.size[self.layout.of_link("m", j)], self.size[self.layout.of_link("mx", j)]
            # A length of the link's own: first moment over mass.
            reach = moment / mass
            # D J D with D of typical sizes is definite exactly when J is, and the margin suits its eigenvalues.
            scale = np.array([1 / reach, 1 / reach, 1 / reach, 1.0]) / np.sqrt(mass)
            of_x = np.zeros((16, self.layout.n))
            of_x[:, own] = np.outer(scale, scale).reshape(16, 1) * ENTRIES * self.size[own]
            matrices.append(of_x)
        return matrices

    def equations(self) -> list[Condition]:
        """Base parameters that were left out are zero."""
        if not self.base.left_out:
            return []
        # Equations in numbers near one; solvers stop at absolute tolerances.
        return [Condition("zero", *self.rows(self._scaled_rows_left_out()))]

    def conditions(self) -> list[Condition]:
        """The equations, links that are physical, and drives that cannot push."""
        definite = [self.rows(matrix) for matrix in self.pseudo_inertias()]
        least = self.margin * np.eye(4).ravel()
        unit = np.eye(self.layout.n)
        return [
            *(Condition("semidefinite", A, b - least) for A, b in definite),
            Condition("nonnegative", *self.rows(unit[self.nonnegative])),
            *self.equations(),
        ]

    def parameters(self, x: Array) -> Array:
        """(n_parameters,) parameters of a solution, the solver's tolerance taken off.

        What is fixed, zero or left out is so to rounding: a pivot is part of no other base parameter, so that moving it
        makes a base parameter that was left out zero and changes nothing else.
        """
        settled = np.array(x)
        drives = settled[self.nonnegative]
        # The solver's zero is slightly off; a friction of -1e-12 would be refused later.
        settled[self.nonnegative] = np.where(drives < SOLVER_ZERO, 0.0, drives)
        parameters = np.array(self.prior)
        parameters[self.columns] = (settled * self.size)[self.columns]
        if self.base.whole is not None:
            left_out = list(self.base.left_out)
            pivots = [self.base.whole.pivots[k] for k in left_out]
            parameters[pivots] -= self.base.whole.grouping[left_out] @ parameters
        return parameters

    def _scaled_rows_left_out(self) -> Array:
        assert self.base.whole is not None
        rows = self.base.whole.grouping[list(self.base.left_out)] * self.size
        # Each equation divided by its largest entry.
        return rows / np.abs(rows).max(axis=1, keepdims=True)
