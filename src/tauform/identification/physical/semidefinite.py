"""The best fit of physically consistent links, as a semidefinite program.

The residuals' squares are a quadratic form in the base parameters, which are linear in the standard ones, so that the
program has a fixed, small size, whatever the length of the recordings.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

from tauform.arrays import Array
from tauform.closedform.base.conic import Condition, Solution, least
from tauform.closedform.base.physical import PhysicalLinks
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.physical.log_cholesky import PhysicalSolution, link_parameters
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import Evidence

# Pull towards the prior, relative to the weight of one row: it decides only what the data leave open.
PRIOR_PULL = 1e-4
# Least eigenvalue of a scaled pseudo-inertia: far below what any recording shows, far above the solver's tolerance.
# Where zeros are chosen it is larger, so that links stay physical when what is almost zero is made exactly so.
MIN_EIGENVALUE, MIN_EIGENVALUE_OF_CHOICE = 1e-6, 1e-5
INACCURATE = "the solver calls the physical links that it found inaccurate: others may explain the recordings better"
# Squares that may be added where values stay left out: 5 % of the error.
MAX_GROWTH_OF_ZEROS = 1.1
# Torque, relative to a joint's peak, below which a value is as good as zero, and from which on more hardly counts.
NO_TORQUE, SMALL_TORQUE = 1e-5, 1e-3
# What the solver may add to a limit of the squares, relative to it.
SQUARES_TOLERANCE = 1e-6
# Passes in which values that have to be there stop holding down each other.
N_PASSES = 2


class SemidefiniteFit:
    """The program of a design, in parameters divided by their typical size; what rows say about it can be exchanged.

    Its unknowns z are the changes of the links' parameters from the prior, then the values of the design's further
    terms; unknowns that only a single objective needs come after them.

    Attributes:
        n_links: unknowns that belong to the links.
        scale: (p,) sizes of the values of the design's columns.
        of_values: A, b with values / scale = A z + b.
        of_residuals: A, b with residuals = A z + b, over the norm of the torque.
    """

    def __init__(self, design: Design, prior: Array, margin: float = MIN_EIGENVALUE) -> None:
        size, terms = typical_sizes(design.robot, prior), len(design.terms)
        self.design, self.links = design, PhysicalLinks(design.robot, design.base, prior, size, margin)
        self.n_links = len(self.links.columns)
        theta = design.base.grouping * size
        self.scale = np.append(np.abs(theta).max(axis=1), np.ones(terms))
        A, b = self.links.rows(theta / self.scale[: design.base.n, None])
        self.of_values = block_diag(A, np.eye(terms)), np.append(b, np.zeros(terms))
        self.of_residuals = self.of_values
        self.pull, self.conditions = 0.0, self.links.conditions()
        # Squared distance from the prior: terms have none.
        self.away = np.append(np.ones(self.n_links), np.zeros(terms))

    def state(self, evidence: Evidence, weights: Array) -> float:
        """Take on what rows say; returns the weighted squares of their torque."""
        p, R = evidence.n_columns, evidence.stacked(weights)
        size = float(np.linalg.norm(R[:, p])) or 1.0
        # The last row of R is what no values explain; it would only add a constant.
        rows, (A, b) = R[:p, :p] * self.scale / size, self.of_values
        self.of_residuals = rows @ A, rows @ b - R[:p, p] / size
        self.pull = PRIOR_PULL / size**2
        return size**2

    def best(self) -> Solution | None:
        """The least sum of squares, with a pull towards the prior."""
        A, b = self.of_residuals
        # Residuals as unknowns of their own: the products A^T A would lose half of the digits.
        defined = Condition("zero", np.hstack([A, -np.eye(len(b))]), b)
        return least(np.append(self.pull * self.away, np.ones(len(b))), [*self.conditions, defined])

    def within(self, squares: float) -> list[Condition]:
        """The conditions, and that the sum of squares is at most this."""
        A, b = self.of_residuals
        ball = Condition("second order", np.vstack([np.zeros(A.shape[1]), A]), np.append(np.sqrt(max(squares, 0.0)), b))
        return [*self.conditions, ball]

    def squares(self, z: Array) -> float:
        """Residuals' squares that values can change, over those of the torque."""
        A, b = self.of_residuals
        return float(np.sum((A @ z[: A.shape[1]] + b) ** 2))

    def values(self, z: Array) -> Array:
        """(p,) values of the design's columns, over their `scale`."""
        A, b = self.of_values
        return A @ z[: A.shape[1]] + b

    def solve(self, evidence: Evidence, weights: Array) -> PhysicalSolution:
        """The best links; the matrices are small, so it takes a hundredth of a second.

        Raises:
            IdentificationError: the solver finds no solution.
        """
        total = self.state(evidence, weights)
        found = self.best()
        if found is None:
            raise IdentificationError("physical links: the solver found no solution; check the recordings")
        doubt = "" if found.is_accurate else INACCURATE
        # Squares that differ by one are a standard deviation of one value apart, as good as the same to the data. Of
        # such links take those nearest to the prior: masses that hardly show would else be what noise makes of them.
        limit = self.squares(found.z) + 1.0 / total
        near = least(self.away, self.within(limit))
        # How near exactly may stay in doubt, as long as the squares are as small as asked for.
        if near is not None and self.squares(near.z) <= limit * (1 + SQUARES_TOLERANCE):
            found, doubt = near, "" if near.is_accurate else doubt
        links, terms = found.z[: self.n_links], found.z[self.n_links : len(self.away)]
        parameters = self._mended(self.links.parameters(self.links.x(links)))
        return PhysicalSolution(parameters, np.append(self.design.base.grouping @ parameters, terms), doubt)

    def _mended(self, parameters: Array) -> Array:
        """Links that an inaccurate solution left unphysical, made physical; the margin spares all others that."""
        mended = np.array(parameters)
        for j in self.links.movable:
            ten = mended[self.design.robot.layout.link(j)]
            matrix = Inertia(ten).pseudo_inertia
            least = np.linalg.eigvalsh(matrix)[0]
            # Lifting all eigenvalues alike keeps the principal axes that the solver found.
            if least < 0:
                ten[:] = link_parameters(matrix + (1e-15 - 1.000001 * least) * np.eye(4))
        return mended


def needed(design: Design, left_out: Sequence[int], prior: Array, evidence: Evidence, weights: Array) -> list[int]:
    """Columns that were left out although no physical links lack them at about the same error.

    Of all physical links that explain the recordings about as well as the best, those are taken whose left-out values
    make the least torque; the sum of absolute torques makes most of them exactly zero.

    Args:
        design, evidence: with all base parameters.
        left_out: columns that are to be zero.
    """
    program, columns = SemidefiniteFit(design, prior, MIN_EIGENVALUE_OF_CHOICE), list(left_out)
    total = program.state(evidence, weights)
    best = program.best()
    if best is None:
        return columns
    p = evidence.n_columns
    kept = [k for k in range(p) if k not in set(columns)]
    unexplained = float(evidence.stacked(weights)[p, p] ** 2 / total)
    without = float(evidence.chosen(kept).stacked(weights)[len(kept), len(kept)] ** 2 / total)
    about = program.within(MAX_GROWTH_OF_ZEROS * max(program.squares(best.z) + unexplained, without) - unexplained)
    peaks = np.abs(evidence.peaks[:, columns]) / np.maximum(evidence.torque_peaks, 1e-300)[:, None]
    reach, torque = program.scale[columns] * peaks.max(axis=0), np.zeros(len(columns))
    for _ in range(N_PASSES):
        # Values that cannot be zero weigh less in the next pass, so that the others become so.
        found = _smallest(program, columns, reach / (1 + torque / SMALL_TORQUE), about)
        if found is None:
            return columns
        torque = reach * np.abs(program.values(found.z)[columns])
    back = [k for k, own in zip(columns, torque, strict=True) if own > NO_TORQUE]
    zeros = [k for k in columns if k not in back]
    # Zeros one by one may each be possible and together not: that is decided by one more program.
    A, b = program.of_values
    exist = not zeros or least(program.away, [*program.conditions, Condition("zero", A[zeros], b[zeros])]) is not None
    return back if exist else columns


def _smallest(
    program: SemidefiniteFit, columns: list[int], weights: Array, conditions: list[Condition]
) -> Solution | None:
    """The least weighted sum of absolute values: their kink at zero makes values exactly zero, as no square does."""
    A, b = (weights[:, None] * program.of_values[0][columns], weights * program.of_values[1][columns])
    n, bounds = A.shape[1], np.eye(len(columns))
    # Unknowns that bound the absolute values from above, and become as small as they can.
    above = Condition("nonnegative", np.block([[-A, bounds], [A, bounds]]), np.append(-b, b))
    slope = np.append(np.zeros(n), np.ones(len(columns)))
    return least(np.zeros(len(slope)), [*conditions, above], slope)


def typical_sizes(robot: Robot, prior: Array) -> Array:
    """(n_parameters,) a size for each parameter: mass, mass times length, mass times length squared."""
    mass = max(float(robot.layout.by_link(prior)[:, 0].max()), 1.0)
    reach = max(float(np.linalg.norm(joint.parent_from_joint[:3, 3])) for joint in robot.joints) or 0.3
    link = np.concatenate([[mass], np.full(3, mass * reach), np.full(6, mass * reach**2)])
    return np.concatenate([np.tile(link, robot.n_bodies), np.ones(robot.layout.n - robot.layout.links.stop)])
