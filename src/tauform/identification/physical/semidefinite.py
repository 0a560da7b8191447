"""The best fit of physically consistent links, as a semidefinite program.

The residuals' squares are a quadratic form in the base parameters, which are linear in the standard ones, so that the
program has a fixed, small size, whatever the length of the recordings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tauform.arrays import Array
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
# Passes in which values that have to be there stop holding down each other.
N_PASSES = 2


class SemidefiniteFit:
    """The program of a design, in parameters divided by their typical size; what rows say about it can be exchanged.

    Attributes:
        values: of the design's columns, over their `scale`.
        squares: residuals' squares that values can change, over those of the torque.
        away: squared distance from the prior.
    """

    def __init__(self, design: Design, prior: Array, margin: float = MIN_EIGENVALUE) -> None:
        size, p = typical_sizes(design.robot, prior), design.n_columns
        self.design, self.links = design, PhysicalLinks(design.robot, design.base, prior, size, margin)
        cp = self.links.cp
        theta = design.base.grouping * size
        self.scale = np.append(np.abs(theta).max(axis=1), np.ones(len(design.terms)))
        self.values: Any = cp.Variable(p)
        self.conditions = self.links.conditions()
        if design.base.n:
            own = self.scale[: design.base.n, None]
            self.conditions.append(self.values[: design.base.n] == (theta / own) @ self.links.x)
        # Parameters of the program, so that it is set up once for all held-out blocks.
        self.rows, self.target, self.pull = cp.Parameter((p, p)), cp.Parameter(p), cp.Parameter(nonneg=True)
        self.limit = cp.Parameter(nonneg=True)
        # A slack row of the triangle is constant; only what values change enters the objective.
        self.squares: Any = cp.sum_squares(self.rows @ self.values - self.target)
        self.away: Any = cp.sum_squares(self.links.x - prior / size)
        self.best = self.links.problem(self.squares + self.pull * self.away, self.conditions)
        self.nearest = self.links.problem(self.away, [*self.conditions, self.squares <= self.limit])

    def state(self, evidence: Evidence, weights: Array) -> float:
        """Take on what rows say; returns the weighted squares of their torque."""
        p, R = evidence.n_columns, evidence.stacked(weights)
        size = float(np.linalg.norm(R[:, p])) or 1.0
        # The last row of R is what no values explain; it would only add a constant.
        self.rows.value, self.target.value = R[:p, :p] * self.scale / size, R[:p, p] / size
        self.pull.value = PRIOR_PULL / size**2
        return size**2

    def solve(self, evidence: Evidence, weights: Array) -> PhysicalSolution:
        """The best links; the matrices are small, so it takes a tenth of a second.

        Raises:
            IdentificationError: the solver finds no solution.
        """
        total = self.state(evidence, weights)
        found = self.links.solved(self.best)
        if found is None:
            raise IdentificationError("physical links: the solver found no solution; check the recordings")
        x, values, doubt = found.x, np.array(self.values.value), "" if found.is_accurate else INACCURATE
        # Squares that differ by one are a standard deviation of one value apart, as good as the same to the data. Of
        # such links take those nearest to the prior: masses that hardly show would else be what noise makes of them.
        self.limit.value = float(self.squares.value) + 1.0 / total
        near = self.links.solved(self.nearest)
        if near is not None and near.is_accurate:
            x, values, doubt = near.x, np.array(self.values.value), ""
        parameters, n_base = self._mended(self.links.parameters(x)), self.design.base.n
        return PhysicalSolution(parameters, np.append(self.design.base.grouping @ parameters, values[n_base:]), doubt)

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
    links, cp = program.links, program.links.cp
    total = program.state(evidence, weights)
    if links.solved(program.best) is None:
        return columns
    p = evidence.n_columns
    kept = [k for k in range(p) if k not in set(columns)]
    unexplained = float(evidence.stacked(weights)[p, p] ** 2 / total)
    without = float(evidence.chosen(kept).stacked(weights)[len(kept), len(kept)] ** 2 / total)
    program.limit.value = MAX_GROWTH_OF_ZEROS * max(float(program.squares.value) + unexplained, without) - unexplained
    peaks = np.abs(evidence.peaks[:, columns]) / np.maximum(evidence.torque_peaks, 1e-300)[:, None]
    reach = program.scale[columns] * peaks.max(axis=0)
    weight, torque = cp.Parameter(len(columns), nonneg=True), np.zeros(len(columns))
    # An absolute value rather than a square: its kink at zero makes values exactly zero.
    size = cp.norm1(cp.multiply(weight, program.values[columns]))
    smallest = links.problem(size, [*program.conditions, program.squares <= program.limit])
    for _ in range(N_PASSES):
        # Values that cannot be zero weigh less in the next pass, so that the others become so.
        weight.value = reach / (1 + torque / SMALL_TORQUE)
        if links.solved(smallest) is None:
            return columns
        torque = reach * np.abs(program.values.value[columns])
    back = [k for k, own in zip(columns, torque, strict=True) if own > NO_TORQUE]
    zeros = [k for k in columns if k not in back]
    # Zeros one by one may each be possible and together not: that is decided by one more program.
    exist = not zeros or links.least(program.away, [*program.conditions, program.values[zeros] == 0]) is not None
    return back if exist else columns


def typical_sizes(robot: Robot, prior: Array) -> Array:
    """(n_parameters,) a size for each parameter: mass, mass times length, mass times length squared."""
    mass = max(float(robot.layout.by_link(prior)[:, 0].max()), 1.0)
    reach = max(float(np.linalg.norm(joint.parent_from_joint[:3, 3])) for joint in robot.joints) or 0.3
    link = np.concatenate([[mass], np.full(3, mass * reach), np.full(6, mass * reach**2)])
    return np.concatenate([np.tile(link, robot.n_bodies), np.ones(robot.layout.n - robot.layout.links.stop)])
