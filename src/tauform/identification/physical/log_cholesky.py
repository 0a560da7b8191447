"""Physically consistent links as a smooth map from free numbers: no conditions are left to keep.

A link's matrix of second moments is J = U U^T with U = e^a [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3],
[0, 0, 0, 1]], which is positive definite whatever the ten numbers are. (Rucker, Wensing 2022) Rotors and friction are
exponentials. Least squares on these numbers needs no semidefinite solver; values on the boundary, such as a link
without mass, are approached but never reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauform.arrays import Array
from tauform.description.inertia import Inertia
from tauform.errors import IdentificationError
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import Evidence

# Rows and columns of U that hold d1, d2, d3, s12, s23, s13, t1, t2, t3, in that order after a.
ROWS, FACTOR_COLUMNS = [0, 1, 2, 0, 1, 0, 0, 1, 2], [0, 1, 2, 1, 2, 2, 3, 3, 3]
# What a prior without mass, or a joint without friction, starts from, relative to its typical size.
MIN_STARTING_SIZE = 1e-3
# Where the search ends: relative change of the squares, what cannot be explained included, and of the numbers.
SQUARES_SETTLED, NUMBERS_SETTLED = 1e-10, 1e-13
MOST_EVALUATIONS = 1000
UNSETTLED = (
    f"the search for physical links had not settled after {MOST_EVALUATIONS} evaluations: others may explain the "
    "recordings better, which fit.physically_consistent() finds with the extra feasible"
)
# A trial step of the search may reach far; nothing in a robot is that many times its typical size.
LARGEST_NUMBER = 40.0
# What a value that should be small pays, relative to the torque it makes.
SMALLNESS_WEIGHT = 1.0


def link_map(numbers: Array) -> tuple[Array, Array]:
    """(10,) link parameters of ten free numbers, and (10, 10) their slopes by these."""
    # Beyond e^40 a trial step would overflow; the clip is far outside anything a robot has.
    numbers = np.clip(numbers, -LARGEST_NUMBER, LARGEST_NUMBER)
    a, d = numbers[0], np.exp(numbers[1:4])
    U = np.eye(4)
    U[ROWS, FACTOR_COLUMNS] = np.concatenate([d, numbers[4:]])
    U *= np.exp(a)
    steps = np.zeros((10, 4, 4))
    steps[0] = U
    steps[np.arange(1, 10), ROWS, FACTOR_COLUMNS] = np.exp(a) * np.concatenate([d, np.ones(6)])
    # d(U U^T) = dU U^T + (dU U^T)^T
    half = steps @ U.T
    return link_parameters(U @ U.T), link_parameters(half + np.swapaxes(half, 1, 2)).T


def link_numbers(parameters: Array) -> Array:
    """(10,) free numbers of (10,) parameters of a link whose matrix of second moments is positive definite."""
    # Upper triangular U from the Cholesky factor of the matrix with its order turned round.
    U = np.linalg.cholesky(Inertia(parameters).pseudo_inertia[::-1, ::-1])[::-1, ::-1]
    entries = (U / U[3, 3])[ROWS, FACTOR_COLUMNS]
    return np.concatenate([[np.log(U[3, 3])], np.log(entries[:3]), entries[3:]])


def link_parameters(J: Array) -> Array:
    """(..., 10) link parameters of (..., 4, 4) matrices of second moments."""
    # I = tr(S) 1 - S, with S = sum m r r^T the upper left block of J.
    second = J[..., :3, :3]
    tensor = np.trace(second, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - second
    six = tensor[..., [0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return np.concatenate([J[..., 3, 3:], J[..., :3, 3], six], axis=-1)


class PhysicalSolution(NamedTuple):
    """Links that were found.

    Attributes:
        parameters: (n_parameters,) physically consistent ones.
        values: (p,) of the design's columns, for these.
        doubt: why they may not be the best, in words; empty where they are.
    """

    parameters: Array
    values: Array
    doubt: str = ""


class SmoothProgram:
    """The same problem as `semidefinite.SemidefiniteFit`, on free numbers."""

    def __init__(self, design: Design, prior: Array, size: Array, pull: float, small: Sequence[int] = ()) -> None:
        """Set up the free numbers.

        Args:
            pull: towards the prior, relative to the weight of one row.
            small: columns whose values are kept as small as the data allow.
        """
        self.design, self.prior, self.size, self.pull, self.small = design, prior, size, pull, list(small)
        self.layout = design.robot.layout
        own = np.intersect1d(np.arange(self.layout.n)[self.layout.drives], design.base.columns)
        signed = np.isin(own, self.layout.signed)
        self.positive, self.free = own[~signed], own[signed]
        self.start = self._started()

    def solve(self, evidence: Evidence, weights: Array) -> PhysicalSolution:
        """The links that the search ends at.

        Raises:
            IdentificationError: the search leads nowhere.
        """
        from scipy.optimize import least_squares

        p, base = evidence.n_columns, self.design.base
        R = evidence.stacked(weights)
        scale = np.linalg.norm(R[:, p])
        # Values that should be small pay for the torque they make, on top of what that does to the residuals.
        toll = SMALLNESS_WEIGHT * np.diag(np.linalg.norm(R[:, :p], axis=0))[self.small]
        A, b = np.vstack([R[:p, :p], toll]) / scale, np.append(R[:p, p], np.zeros(len(toll))) / scale
        unexplained = R[p:, p] / scale
        pull = np.sqrt(self.pull) / scale / self.size
        n_own = len(self.start) - (p - base.n)

        def residual(x: Array) -> Array:
            parameters, _ = self._mapped(x[:n_own])
            values = np.concatenate([base.grouping @ parameters, x[n_own:]])
            return np.concatenate([A @ values - b, pull * (parameters - self.prior), unexplained])

        def jacobian(x: Array) -> Array:
            _, slopes = self._mapped(x[:n_own])
            upper = np.hstack([A[:, : base.n] @ base.grouping @ slopes, A[:, base.n :]])
            lower = np.hstack([pull[:, None] * slopes, np.zeros((len(pull), p - base.n))])
            return np.vstack([upper, lower, np.zeros((1, len(x)))])

        found = least_squares(
            residual, self.start, jacobian, method="lm", ftol=SQUARES_SETTLED, xtol=NUMBERS_SETTLED, gtol=1e-15,
            max_nfev=MOST_EVALUATIONS,
        )  # fmt: skip
        if not np.isfinite(found.x).all():
            raise IdentificationError("physical links: the search did not settle; check the recordings")
        parameters, _ = self._mapped(found.x[:n_own])
        # A search that was cut short ends at physical links all the same, which are judged as they are.
        doubt = "" if found.success else UNSETTLED
        return PhysicalSolution(parameters, np.concatenate([base.grouping @ parameters, found.x[n_own:]]), doubt)

    def _mapped(self, x: Array) -> tuple[Array, Array]:
        """(n_parameters,) parameters and their slopes by the free numbers."""
        parameters, slopes = np.array(self.prior), np.zeros((self.layout.n, len(x)))
        for k in range(self.layout.n_bodies):
            # The link's ten numbers keep the link's own slice, so that x and parameters share the layout up to here.
            own = self.layout.link(k)
            ten, by = link_map(x[own])
            parameters[own], slopes[own, own] = self.size[own] * ten, self.size[own, None] * by
        first = self.layout.links.stop
        for place, exponential in ((self.positive, True), (self.free, False)):
            columns = np.arange(first, first + len(place))
            values = np.exp(np.clip(x[columns], -LARGEST_NUMBER, LARGEST_NUMBER)) if exponential else x[columns]
            parameters[place] = self.size[place] * values
            slopes[place, columns] = self.size[place] * (values if exponential else 1.0)
            first += len(place)
        return parameters, slopes

    def _started(self) -> Array:
        """Free numbers near the prior, moved inside where that is on the boundary."""
        scaled = self.prior / self.size
        inside = MIN_STARTING_SIZE * np.array([1, 0, 0, 0, 2, 0, 2, 0, 0, 2])
        links = []
        for ten in self.layout.by_link(scaled) + inside:
            # A prior on the boundary has no finite logarithm: a small ball of mass is added until it has one.
            while not _is_definite(ten):
                ten = ten + (1 + np.abs(ten).max()) * inside
            links.append(link_numbers(ten))
        positive = np.log(np.maximum(scaled[self.positive], MIN_STARTING_SIZE))
        return np.concatenate([*links, positive, scaled[self.free], np.zeros(len(self.design.terms))])


def _is_definite(ten: Array) -> bool:
    try:
        link_numbers(ten)
    except np.linalg.LinAlgError:
        return False
    return True
