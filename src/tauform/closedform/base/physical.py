"""Physically consistent links as unknowns of a semidefinite program; the one such program of the package.

A link is physical exactly when its pseudo-inertia, the (4, 4) matrix of its second moments, is positive definite. That
matrix is linear in the ten parameters of the link, and base parameters are linear in them too.
(Wensing, Kim, Slotine 2018)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.errors import MissingExtraError

# Friction and rotor inertias below this, relative to their typical size, are what the solver makes of zero.
SOLVER_ZERO = 1e-8
# (16, 10) entries of a pseudo-inertia by the ten parameters of its link.
ENTRIES = np.column_stack([Inertia(unit).pseudo_inertia.ravel() for unit in np.eye(10)])


@dataclass(frozen=True, eq=False)
class Solution:
    """x where an objective is least, and whether the solver is sure of it."""

    x: Array
    is_accurate: bool


def semidefinite_solver() -> Any:
    """The package cvxpy.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import cvxpy
    except ImportError:
        raise MissingExtraError(
            "physically consistent links need a semidefinite solver; install it with: pip install 'tauform[feasible]' "
            "(method 'log_cholesky' of fit.physically_consistent does without one)"
        ) from None
    return cvxpy


class PhysicalLinks:
    """Standard parameters as unknowns x = parameters / size, with the conditions that physics sets them.

    Attributes:
        x: the unknowns, a variable of cvxpy.
        nonnegative: indices of rotor inertias, viscous and Coulomb friction, which cannot be negative; offsets can.
        fixed: indices of parameters that take no part and stay as in the prior.
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
        """
        self.cp = semidefinite_solver()
        self.base, self.prior, self.size, self.margin = base, prior, size, margin
        self.x: Any = self.cp.Variable(len(prior))
        self.layout = robot.layout
        # Friction and rotors cannot be negative; offsets, springs and couplings can.
        drives = np.setdiff1d(np.arange(self.layout.n)[self.layout.drives], self.layout.signed)
        self.nonnegative = np.intersect1d(drives, base.columns)
        self.fixed = np.setdiff1d(np.arange(len(prior)), base.columns)
        taking_part = self.layout.by_link(np.isin(np.arange(self.layout.n), base.columns))
        self.movable = np.flatnonzero(taking_part.any(axis=1)).tolist()

    def pseudo_inertias(self) -> list[Any]:
        """Matrix of second moments of each movable link, its rows and columns scaled to numbers near one."""
        matrices = []
        for j in self.movable:
            own = self.layout.link(j)
            mass, moment = self.size[self.layout.of_link("m", j)], self.size[self.layout.of_link("mx", j)]
            # A length of the link's own: first moment over mass.
            reach = moment / mass
            # D J D with D of typical sizes is definite exactly when J is, and the margin suits its eigenvalues.
            scale = np.array([1 / reach, 1 / reach, 1 / reach, 1.0]) / np.sqrt(mass)
            entries = np.outer(scale, scale).reshape(16, 1) * ENTRIES * self.size[own]
            matrices.append(self.cp.reshape(entries @ self.x[own], (4, 4), order="C"))
        return matrices

    def equations(self) -> list[Any]:
        """Equations of parameters that take no part (as in the prior) and of base parameters left out (zero)."""
        equations = [self.x[self.fixed] == (self.prior / self.size)[self.fixed]] if len(self.fixed) else []
        if self.base.left_out:
            # Equations in numbers near one; solvers stop at absolute tolerances.
            equations.append(self._scaled_rows_left_out() @ self.x == 0)
        return equations

    def conditions(self) -> list[Any]:
        """The equations, links that are physical, and drives that cannot push."""
        conditions = [matrix >> self.margin * np.eye(4) for matrix in self.pseudo_inertias()]
        if len(self.nonnegative):
            conditions.append(self.x[self.nonnegative] >= 0)
        return [*conditions, *self.equations()]

    def problem(self, objective: Any, conditions: Sequence[Any]) -> Any:
        """The problem of cvxpy whose objective is to become least."""
        return self.cp.Problem(self.cp.Minimize(objective), list(conditions))

    def solved(self, problem: Any) -> Solution | None:
        """x of a problem; None where nothing meets its conditions or the solver gives up."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an inaccurate solution is told by its status
            try:
                # An interior-point solver that takes semidefinite cones.
                problem.solve(solver=self.cp.CLARABEL)
            except self.cp.SolverError:
                return None
        if problem.status not in (self.cp.OPTIMAL, self.cp.OPTIMAL_INACCURATE) or self.x.value is None:
            return None
        return Solution(np.array(self.x.value), problem.status == self.cp.OPTIMAL)

    def least(self, objective: Any, conditions: Sequence[Any]) -> Solution | None:
        """x where an objective is least, as `solved` finds it."""
        return self.solved(self.problem(objective, conditions))

    def parameters(self, x: Array) -> Array:
        """(n_parameters,) parameters of a solution, the solver's tolerance taken off.

        What is fixed, zero or left out is so to rounding: a pivot is part of no other base parameter, so that moving it
        makes a base parameter that was left out zero and changes nothing else.
        """
        settled = np.array(x)
        drives = settled[self.nonnegative]
        # The solver's zero is slightly off; a friction of -1e-12 would be refused later.
        settled[self.nonnegative] = np.where(drives < SOLVER_ZERO, 0.0, drives)
        parameters = settled * self.size
        parameters[self.fixed] = self.prior[self.fixed]
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
