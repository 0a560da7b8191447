"""Feasible parameters: from base parameters back to physically consistent links, nearest to a prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array, read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.conic import Condition, least
from tauform.closedform.base.parameters import base_parameters
from tauform.closedform.base.physical import PhysicalLinks
from tauform.closedform.expansion.dimensionless import parameter_factors, units
from tauform.description.robot import Robot
from tauform.errors import ModelError

# What a link may lack of being physical, relative to the robot's largest link, before it counts as impossible.
TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class FeasibleParameters:
    """A full, physically consistent parameter set.

    Attributes:
        parameters: (n_parameters,) standard parameters.
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
        prior: a robot or (n_parameters,) parameters, such as those of a CAD model; need not be physical.
        base: what theta means; the default is base_parameters(robot).

    Raises:
        ModelError: no physical set has these base parameters; the message names the links that would not be. Or
            friction depends on load, and theta mixes the weight of links with offsets or springs.
        MissingExtraError: the extra `feasible` is not installed.
        ShapeError: theta or prior has another length, or base belongs to a robot of another size.
    """
    base = base_parameters(robot) if base is None else base.of_robot(robot)
    base.refuse_load(robot.further_drives, "feasible_parameters")
    theta = base.checked(theta)
    if prior is None or isinstance(prior, Robot):
        # The robot itself is the nearest guess where no CAD model is given.
        prior = (robot if prior is None else prior).parameters
    prior = fixed_array(prior, robot.parameters.shape, "prior")
    nearest = _Nearest(robot, base, theta, prior)
    parameters = nearest.parameters()
    if parameters is None:
        raise ModelError(nearest.why_impossible())
    factors = nearest.factors
    # In units of each parameter: metres and kilograms must not decide what is accurate.
    off = (base.grouping @ parameters - theta) * factors[list(base.pivots)]
    size = np.abs(theta * factors[list(base.pivots)]).max(initial=0.0)
    residual = float(np.abs(off).max(initial=0.0) / size) if size else 0.0
    _refuse_inaccurate(robot, residual, nearest.lacking(parameters))
    # Relative distance; the floor guards against a prior of zeros.
    distance = np.linalg.norm((parameters - prior) * factors) / max(float(np.linalg.norm(prior * factors)), 1e-300)
    return FeasibleParameters(
        parameters=read_only(parameters),
        robot=robot.with_parameters(parameters),
        distance=float(distance),
        residual=residual,
    )


def _refuse_inaccurate(robot: Robot, residual: float, lacking: float) -> None:
    """A solver may end early and say it has solved: what it found must have this theta and be physical."""
    if not (residual <= TOLERANCE and lacking <= TOLERANCE):
        raise ModelError(
            f"the parameters found for {robot.name} are not accurate: theta is off by {residual:.1e}, links are "
            f"unphysical by {lacking:.1e}; give a prior nearer to the robot"
        )


class _Nearest:
    """The program in parameters without units, divided by the size of theta and the prior."""

    def __init__(self, robot: Robot, base: BaseParameters, theta: Array, prior: Array) -> None:
        self.robot, self.factors = robot, parameter_factors(robot, *units(robot))
        pivots = list(base.pivots)
        # Solvers stop at absolute tolerances: everything is brought near one.
        sizes = np.abs(np.concatenate([prior * self.factors, theta * self.factors[pivots]]))
        # One size for all, then in the unit of each parameter.
        size = (float(sizes.max()) or 1.0) / self.factors
        self.links = PhysicalLinks(robot, base, prior, size)
        self.theta = theta

    def equation(self) -> Condition:
        """The base parameters are theta, each row divided by the size of its pivot."""
        base, size = self.links.base, self.links.size
        own = size[list(base.pivots)]
        A, b = self.links.rows(base.grouping * size / own[:, None])
        return Condition("zero", A, b - self.theta / own)

    def parameters(self) -> Array | None:
        """(n_parameters,) the nearest physical ones with this theta; None where there are none."""
        links = self.links
        found = least(np.ones(len(links.columns)), [*links.conditions(), self.equation()])
        if found is None:
            return None
        parameters, pivots = links.parameters(links.x(found.z)), list(links.base.pivots)
        # The solver meets the equations to its tolerance. A pivot is part of no other base parameter, so that moving it
        # puts the last digits right.
        parameters[pivots] += self.theta - links.base.grouping @ parameters
        return parameters

    def lacking(self, parameters: Array) -> float:
        """Distance of the most unphysical link's second moments below zero, without units."""
        x = parameters / self.links.size
        # The least eigenvalue below zero, over all movable links.
        moments = [(matrix @ x).reshape(4, 4) for matrix in self.links.pseudo_inertias()]
        return max((-float(np.linalg.eigvalsh(matrix)[0]) for matrix in moments), default=0.0)

    def why_impossible(self) -> str:
        """Links that must stay unphysical: the least that has to be added to their second moments."""
        links = self.links
        # Unknowns beside those of the links: the multiple of the identity that each link lacks to be physical, and
        # what each drive lacks to be zero; the least over all together.
        n, n_links, n_drives = len(links.columns), len(links.movable), len(links.nonnegative)
        lacks, conditions = np.eye(n_links + n_drives), [*links.equations(), self.equation()]
        for k, matrix in enumerate(links.pseudo_inertias()):
            A, b = links.rows(matrix)
            conditions.append(Condition("semidefinite", np.hstack([A, np.outer(np.eye(4), lacks[k])]), b))
        A, b = links.rows(np.eye(links.layout.n)[links.nonnegative])
        conditions.append(Condition("nonnegative", np.hstack([A, lacks[n_links:]]), b))
        none = np.zeros((len(lacks), n))
        conditions.append(Condition("nonnegative", np.hstack([none, lacks]), np.zeros(len(lacks))))
        slope = np.append(np.zeros(n), np.ones(len(lacks)))
        found = least(np.zeros(len(slope)), conditions, slope)
        places = []
        if found is not None:
            x, missing = links.x(found.z[:n]), found.z[n : n + n_links]
            lacking = [j for j, lack in zip(links.movable, missing, strict=True) if lack > TOLERANCE]
            places += [f"link {self.robot.links[j].name!r}" for j in lacking]
            places += [self.robot.parameter_names[k] for k in links.nonnegative if x[k] < -TOLERANCE]
        return (
            f"no physically consistent parameters of {self.robot.name} have this theta: "
            f"{', '.join(places) or 'some link'} would need a negative mass or moment; check the estimate's accuracy"
        )
