"""From base parameters back to links that could be built, nearest to a prior.

A link is physical exactly when its pseudo-inertia is positive semidefinite; base parameters are linear in the
standard ones. So the nearest physical set is a semidefinite program. (Wensing, Kim, Slotine 2018)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array, read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.parameters import base_parameters
from tauform.closedform.expansion.dimensionless import parameter_factors, units
from tauform.description.inertia import TENSOR_INDEX
from tauform.description.robot import Robot
from tauform.errors import MissingExtraError, ModelError

# What a link may lack of being physical, relative to the robot's largest link, before it counts as impossible.
TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class FeasibleParameters:
    """A full, physically consistent parameter set.

    Attributes:
        parameters: (14 n_bodies,) standard parameters.
        robot: with these parameters.
        distance: from the prior, relative to its size (lengths over the robot's mean length).
        residual: largest difference to theta, relative to its largest value (in the same units).
    """

    parameters: Array
    robot: Robot
    distance: float
    residual: float


def feasible_parameters(
    robot: Robot, theta: ArrayLike, prior: Robot | ArrayLike | None = None, base: BaseParameters | None = None
) -> FeasibleParameters:
    """The physical parameter set with these base parameters that lies nearest to a prior.

    Args:
        robot: gives geometry, and the prior where none is given.
        theta: (l,) values of base.names.
        prior: a robot or (14 n_bodies,) parameters, such as those of a CAD model; need not be physical.
        base: what theta means; the default is base_parameters(robot).

    Raises:
        ModelError: no physical set has these base parameters; the message names the links that would not be.
        MissingExtraError: the extra `feasible` is not installed.
        ShapeError: theta or prior has another length, or base belongs to a robot of another size.
    """
    base = base_parameters(robot) if base is None else base.of_robot(robot)
    theta = base.checked(theta)
    if prior is None or isinstance(prior, Robot):
        prior = (robot if prior is None else prior).parameters
    prior = fixed_array(prior, robot.parameters.shape, "prior")
    program = _Program(robot, base, theta, prior)
    try:
        parameters = program.nearest()
    except ArithmeticError:
        raise ModelError(program.why_impossible()) from None
    parameters = np.array(parameters)
    untouched = np.setdiff1d(np.arange(len(prior)), base.columns)
    parameters[untouched] = prior[untouched]
    factors = program.factors
    off = (base.grouping @ parameters - theta) * factors[list(base.pivots)]
    size = np.abs(theta * factors[list(base.pivots)]).max(initial=0.0)
    distance = np.linalg.norm((parameters - prior) * factors) / max(float(np.linalg.norm(prior * factors)), 1e-300)
    return FeasibleParameters(
        parameters=read_only(parameters),
        robot=robot.with_parameters(parameters),
        distance=float(distance),
        residual=float(np.abs(off).max(initial=0.0) / size) if size else 0.0,
    )


class _Program:
    """The semidefinite program in dimensionless parameters, divided by the size of theta and the prior."""

    def __init__(self, robot: Robot, base: BaseParameters, theta: Array, prior: Array) -> None:
        try:
            import cvxpy
        except ImportError:
            raise MissingExtraError(
                "feasible_parameters needs a semidefinite solver; install it with: pip install 'tauform[feasible]'"
            ) from None
        self.robot, self.cp = robot, cvxpy
        self.factors = parameter_factors(robot, *units(robot))
        pivots = list(base.pivots)
        sizes = np.abs(np.concatenate([prior * self.factors, theta * self.factors[pivots]]))
        self.scale = float(sizes.max()) or 1.0
        self.x: Any = cvxpy.Variable(len(prior))
        self.prior = prior * self.factors / self.scale
        self.G = base.grouping * self.factors[pivots][:, None] / self.factors
        self.theta = theta * self.factors[pivots] / self.scale
        # Rotors, viscous and Coulomb friction cannot be negative; an offset can.
        joint = np.arange(10 * robot.n_bodies, 14 * robot.n_bodies).reshape(-1, 4)[:, :3].ravel()
        self.nonnegative = np.intersect1d(joint, base.columns)
        self.fixed = np.setdiff1d(np.arange(len(prior)), base.columns)

    def pseudo_inertias(self) -> list[Any]:
        """(4, 4) matrix of second moments of each link."""
        matrices = []
        for ten in (self.x[10 * j : 10 * j + 10] for j in range(self.robot.n_bodies)):
            trace = ten[4] + ten[6] + ten[9]
            entries = [[trace / 2 * (i == j) - ten[TENSOR_INDEX[i, j]] for j in range(3)] for i in range(3)]
            rows = [[*entries[i], ten[1 + i]] for i in range(3)]
            matrices.append(self.cp.bmat([*rows, [ten[1], ten[2], ten[3], ten[0]]]))
        return matrices

    def nearest(self) -> Array:
        """Parameters in their own units; ArithmeticError where there are none."""
        cp = self.cp
        conditions = [matrix >> 0 for matrix in self.pseudo_inertias()]
        if len(self.nonnegative):
            conditions.append(self.x[self.nonnegative] >= 0)
        self._solve(cp.Problem(cp.Minimize(cp.sum_squares(self.x - self.prior)), [*conditions, *self._equations()]))
        x: Array = self.x.value
        # The solver meets the equations to its tolerance; the last digits are one least-squares step away.
        x = x + np.linalg.lstsq(self.G, self.theta - self.G @ x, rcond=None)[0]
        return x * self.scale / self.factors

    def why_impossible(self) -> str:
        """Which links must stay unphysical: the least that has to be added to their second moments."""
        cp = self.cp
        missing = cp.Variable(self.robot.n_bodies, nonneg=True)
        below = cp.Variable(max(len(self.nonnegative), 1), nonneg=True)
        conditions = [matrix + missing[j] * np.eye(4) >> 0 for j, matrix in enumerate(self.pseudo_inertias())]
        if len(self.nonnegative):
            conditions.append(self.x[self.nonnegative] + below >= 0)
        self._solve(cp.Problem(cp.Minimize(cp.sum(missing) + cp.sum(below)), [*conditions, *self._equations()]))
        links = [link.name for link, lack in zip(self.robot.links, missing.value, strict=True) if lack > TOLERANCE]
        negative = [self.robot.parameter_names[k] for k in self.nonnegative if self.x.value[k] < -TOLERANCE]
        places = [f"link {name!r}" for name in links] + negative
        return (
            f"no physically consistent parameters of {self.robot.name} have this theta: "
            f"{', '.join(places) or 'some link'} would need a negative mass or moment; check the estimate's accuracy"
        )

    def _equations(self) -> list[Any]:
        equations = [self.G @ self.x == self.theta]
        return [*equations, self.x[self.fixed] == self.prior[self.fixed]] if len(self.fixed) else equations

    def _solve(self, problem: Any) -> None:
        try:
            problem.solve(solver=self.cp.CLARABEL)
        except self.cp.SolverError as error:
            raise ArithmeticError(str(error)) from None
        if problem.status not in ("optimal", "optimal_inaccurate"):
            raise ArithmeticError(problem.status)
