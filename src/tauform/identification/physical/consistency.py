"""Physically consistent fits: every link's pseudo-inertia is positive semidefinite, friction cannot push.

The residuals' squares are a quadratic form in the base parameters, which are linear in the standard ones, so the
best fit of links that could be built is a semidefinite program of fixed, small size. (Wensing, Kim, Slotine 2018)
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array, read_only
from tauform.closedform.threads import on_one_thread
from tauform.description.inertia import TENSOR_INDEX, Inertia
from tauform.description.robot import Robot
from tauform.errors import IdentificationError, MissingExtraError
from tauform.identification.fitted.fit import Fit
from tauform.identification.physical.log_cholesky import SmoothProgram, link_parameters
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.estimators import N_FOLDS
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.residuals import HELD_OUT, Errors
from tauform.identification.selection.refit import with_values

ConsistencyMethod = Literal["semidefinite", "log_cholesky"]
# Pull towards the prior, relative to the weight of one row: it decides only what the data leave open.
PRIOR_PULL = 1e-4


@on_one_thread
def physically_consistent(
    fit: Fit, prior: Robot | ArrayLike | None = None, method: ConsistencyMethod = "semidefinite"
) -> Fit:
    """The best fit whose links could be built; the prior decides what the data leave open.

    Args:
        prior: robot or (14 n_bodies,) parameters near which open parameters stay; the fit's robot by default.
        method: "semidefinite" reaches the boundary of what could be built, and any start leads to the best fit;
            "log_cholesky" searches smoothly inside it and needs no solver.

    Raises:
        MissingExtraError: the extra `feasible` is not installed, which "semidefinite" needs.
        IdentificationError: no such method, or the solver finds no solution.
    """
    if method not in ("semidefinite", "log_cholesky"):
        raise IdentificationError(f"method: expected semidefinite or log_cholesky, got {method!r}")
    if prior is None or isinstance(prior, Robot):
        prior = (fit.robot if prior is None else prior).parameters
    mean = fixed_array(prior, fit.robot.parameters.shape, "prior")
    program = (
        Program(fit, mean)
        if method == "semidefinite"
        else SmoothProgram(fit, mean, typical_sizes(fit.robot, mean), PRIOR_PULL)
    )
    weights = fit.weights if fit.weights is not None else 1.0 / fit.sigma
    parameters, values = program.solve(fit.evidence, weights)
    squares = np.zeros(fit.evidence.n_joints)
    for fold in fit.evidence.folds(N_FOLDS):
        others = [k for k in range(len(fit.evidence.counts)) if k not in fold]
        squares += (
            fit.evidence.blocks(fold).residual_squares(program.solve(fit.evidence.blocks(others), weights)[1]).sum(0)
        )
    held_out = Errors.of_squares(squares, fit.evidence.torque_squares, fit.evidence.n_rows, HELD_OUT)
    free = least_squares(fit.evidence, sigma=1.0 / weights)
    sigma = np.sqrt(fit.evidence.residual_squares(values).sum(axis=0) / max(1, fit.evidence.n_rows))
    changed = with_values(fit, values, fit.evidence, replace(free, sigma=np.maximum(sigma, free.sigma)))
    return replace(
        changed,
        physical=read_only(parameters),
        held_out=held_out,
        free_error=fit.held_out.total,
        method=f"{fit.method}, physical links",
    )


class Program:
    """The semidefinite program of a fit, in parameters divided by their typical size."""

    def __init__(self, fit: Fit, prior: Array) -> None:
        try:
            import cvxpy
        except ImportError:
            raise MissingExtraError(
                "physical links need a semidefinite solver; install it with: pip install 'tauform[feasible]' (in "
                "Python, fit.physically_consistent can also do without one)"
            ) from None
        self.cp, self.fit, self.prior = cvxpy, fit, prior
        self.size = typical_sizes(fit.robot, prior)
        self.x: Any = cvxpy.Variable(len(prior))
        self.extra: Any = cvxpy.Variable(max(1, len(fit.terms)))

    def solve(self, evidence: Evidence, weights: Array) -> tuple[Array, Array]:
        """(14 n_bodies,) parameters and (p,) values; ten links' matrices at most, so it takes well under a second."""
        cp, base = self.cp, self.fit.design.base
        p = evidence.n_columns
        R = evidence.stacked(weights)
        scale = np.linalg.norm(R[:, :p], axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        G = base.grouping * self.size
        theta = G @ self.x
        values = cp.hstack([theta, self.extra]) if len(self.fit.terms) else theta
        # The last row of R is what no values explain; it would only add a constant.
        size = np.linalg.norm(R[:, p])
        misfit = (R[:p, :p] / scale / size) @ cp.multiply(scale, values) - R[:p, p] / size
        squares, away = cp.sum_squares(misfit), cp.sum_squares(self.x - self.prior / self.size)
        x, extra, _ = self._least(squares + PRIOR_PULL / size**2 * away)
        if x is None:
            raise IdentificationError("physical links: the solver found no solution; check the recordings")
        # Squares that differ by one are a standard deviation of one value apart, as good as the same to the data. Of
        # such links take those nearest to the prior: masses that hardly show would else be what noise makes of them.
        near, its_extra, is_accurate = self._least(away, [squares <= float(squares.value) + 1.0 / size**2])
        if near is not None and is_accurate:
            x, extra = near, its_extra
        parameters = self._mended(x * self.size)
        return parameters, np.concatenate([base.grouping @ parameters, extra if len(self.fit.terms) else np.zeros(0)])

    def _least(self, objective: Any, further: Sequence[Any] = ()) -> tuple[Array | None, Array | None, bool]:
        """x and further values at the least of an objective, and whether the solver is sure; None where it gave up."""
        problem = self.cp.Problem(self.cp.Minimize(objective), [*self._conditions(), *further])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a solution may be inaccurate; its error on the data is shown anyway
            try:
                problem.solve(solver=self.cp.CLARABEL)
            except self.cp.SolverError:
                return None, None, False
        # where there is no solution, the variables hold none
        return self.x.value, self.extra.value, problem.status == self.cp.OPTIMAL

    def _conditions(self) -> list[Any]:
        robot, base, cp = self.fit.robot, self.fit.design.base, self.cp
        conditions = [
            matrix >> 0 for matrix in pseudo_inertias(cp, cp.multiply(self.size, self.x), self.size, robot.n_bodies)
        ]
        joint = np.arange(10 * robot.n_bodies, 14 * robot.n_bodies).reshape(-1, 4)[:, :3].ravel()
        positive = np.intersect1d(joint, base.columns)
        fixed = np.setdiff1d(np.arange(len(self.prior)), base.columns)
        if len(positive):
            conditions.append(self.x[positive] >= 0)
        if len(fixed):
            conditions.append(self.x[fixed] == (self.prior / self.size)[fixed])
        return conditions

    def _mended(self, parameters: Array) -> Array:
        """Solver tolerance taken off: matrices that are negative by rounding become semidefinite."""
        mended = np.array(parameters)
        n = self.fit.robot.n_bodies
        for j in range(n):
            ten = mended[10 * j : 10 * j + 10]
            matrix = Inertia(ten).pseudo_inertia
            least = np.linalg.eigvalsh(matrix)[0]
            if least < 0:
                ten[:] = link_parameters(matrix + (1e-15 - 1.000001 * least) * np.eye(4))
        joint = mended[10 * n :].reshape(n, 4)
        joint[:, :3] = np.maximum(joint[:, :3], 0.0)
        return mended


def typical_sizes(robot: Robot, prior: Array) -> Array:
    """(14 n_bodies,) a size for each parameter: mass, mass times length, mass times length squared."""
    n = robot.n_bodies
    mass = max(float(prior[: 10 * n : 10].max()), 1.0)
    reach = max(float(np.linalg.norm(joint.parent_from_joint[:3, 3])) for joint in robot.joints) or 0.3
    link = np.concatenate([[mass], np.full(3, mass * reach), np.full(6, mass * reach**2)])
    return np.concatenate([np.tile(link, n), np.ones(4 * n)])


def pseudo_inertias(cp: Any, x: Any, size: Array, n_bodies: int) -> list[Any]:
    """(4, 4) matrix of second moments of each link, its rows and columns scaled to numbers near one."""
    matrices = []
    for j in range(n_bodies):
        ten = x[10 * j : 10 * j + 10]
        mass, reach = size[10 * j], size[10 * j + 1] / size[10 * j]
        trace = ten[4] + ten[6] + ten[9]
        entries = [[trace / 2 * (i == k) - ten[TENSOR_INDEX[i, k]] for k in range(3)] for i in range(3)]
        rows = [[entries[i][k] / (mass * reach**2) for k in range(3)] + [ten[1 + i] / (mass * reach)] for i in range(3)]
        matrices.append(cp.bmat([*rows, [*(ten[1 + k] / (mass * reach) for k in range(3)), ten[0] / mass]]))
    return matrices
