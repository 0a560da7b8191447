"""Weighted least squares on the evidence: each joint counts by the size of its own residuals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.errors import IdentificationError
from tauform.identification.regression.evidence import Evidence

# Passes of re-weighting; the weights settle to three digits within four.
N_PASSES = 6
# Residuals are never taken to be smaller than this part of the torque, so that exact data has finite weights.
SMALLEST_NOISE = 1e-12
# A direction of the scaled columns weaker than this is not excited.
MIN_EXCITED_SINGULAR_VALUE = 1e-8
Refit = Callable[[Sequence[int]], Array]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Values of the columns.

    Attributes:
        values: (p,).
        bread: (p, p) inverse of the weighted normal matrix.
        weights: (n,) of the joints' rows.
        sigma: (n,) standard deviation of each joint's residuals.
        condition: of the weighted columns, each scaled to unit size.
        raw_condition: of the weighted columns as they are.
        counted: as in `Evidence`, of estimators for which rows count less the more they leave.
        refit: the values that the same estimator finds in some blocks alone (numbers of blocks -> values); weights of
            joints and the firmness of a prior are tuned on these blocks too.
    """

    values: Array
    bread: Array
    weights: Array
    sigma: Array
    condition: float
    raw_condition: float
    counted: Array | None = None
    refit: Refit | None = None

    def covariance(self, evidence: Evidence, inflation: Array | float = 1.0) -> Array:
        """(p, p) of the values: C (A' diag(w^4 sigma^2 f) A) C, each joint's noise with its own size and colour.

        Args:
            inflation: (n,) factor f on the variance of residuals that are correlated in time, for evidence that does
                not hold what their colour does to each column.
        """
        p, sizes = len(self.values), self.weights**2 * self.sigma
        # A square root of the sandwich, so that the product is symmetric and positive to rounding.
        if evidence.coloured is None:
            half = evidence.stacked(sizes * np.sqrt(inflation))[:p, :p] @ self.bread
        else:
            half = (evidence.coloured * sizes[:, None, None]).reshape(-1, p) @ self.bread
        if len(evidence.factors):
            half = half * evidence.factors
        return half.T @ half


def least_squares(
    evidence: Evidence,
    weighted: bool = True,
    prior: tuple[Array, Array] | None = None,
    sigma: Array | None = None,
) -> Estimate:
    """Ordinary or weighted least squares.

    Args:
        weighted: whether each joint is divided by the size of its own residuals; else all joints count alike.
        prior: (mean, standard deviation) of every value, as further rows (ridge towards a prior); an infinite
            deviation says nothing.
        sigma: (n,) the joints' residuals where they are known; else they are found by re-weighting.

    Raises:
        IdentificationError: the motion leaves values open; see `excitation.explain`.
    """
    n, p = evidence.n_joints, evidence.n_columns
    given, sigma = sigma is not None, np.ones(n) if sigma is None else sigma
    # Weights from residuals, residuals from weights: a few passes settle both.
    for _ in range(N_PASSES if weighted and not given else 1):
        used = sigma
        stack = evidence.stacked(1.0 / used)
        if prior is not None:
            stack = np.concatenate([stack, _prior_rows(*prior)])
        values, R, scale = solve(stack)
        spread = residual_sizes(evidence, values)
        if weighted and not given:
            sigma = spread
    # R holds unit columns, so that the inverse is scaled back row by row.
    inverse = scipy.linalg.solve_triangular(R, np.eye(p)) / scale[:, None]
    # The condition of unit columns speaks of the motion, the raw one of units as well.
    sizes = np.linalg.svd(R, compute_uv=False)
    raw = np.linalg.svd(R * scale, compute_uv=False)
    return Estimate(
        values, inverse @ inverse.T, 1.0 / used, spread, float(sizes[0] / sizes[-1]), float(raw[0] / raw[-1])
    )


def residual_sizes(evidence: Evidence, values: Array) -> Array:
    """(n,) deviation of each joint's residuals: torques of wrists are a hundredth of those of shoulders."""
    # Parameters are shared by all joints: each joint pays its share of them.
    freedom = np.maximum(1.0, evidence.rows_heard - evidence.n_columns / evidence.n_joints)
    spread = np.sqrt(evidence.residual_squares(values).sum(axis=0) / freedom)
    floor = SMALLEST_NOISE * np.sqrt(evidence.torque_squares / evidence.rows_heard)
    return np.maximum(np.maximum(spread, floor), 1e-300)


def of_values(estimate: Estimate, values: Array, evidence: Evidence) -> Estimate:
    """The estimate with other values, and the residuals that these leave where they are larger."""
    return replace(estimate, values=values, sigma=np.maximum(residual_sizes(evidence, values), estimate.sigma))


def solve(stack: Array) -> tuple[Array, Array, Array]:
    """Least squares on [A b]: the solution, the triangle of A with unit columns, and their sizes.

    Raises:
        IdentificationError: A does not have full rank.
    """
    p = stack.shape[1] - 1
    # Unit columns: a kilogram and a kilogram metre squared are not comparable, and rank must not depend on units.
    scale = np.linalg.norm(stack[:, :p], axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    # QR instead of normal equations, which would square the condition number.
    R = scipy.linalg.qr(np.column_stack([stack[:, :p] / scale, stack[:, p]]), mode="r")[0]
    triangle = R[:p, :p]
    sizes = np.linalg.svd(triangle, compute_uv=False)
    if sizes[-1] <= MIN_EXCITED_SINGULAR_VALUE * sizes[0]:
        raise IdentificationError("the motion leaves parameters open")
    return scipy.linalg.solve_triangular(triangle, R[:p, p]) / scale, triangle, scale


def _prior_rows(mean: Array, deviation: Array) -> Array:
    known = np.flatnonzero(np.isfinite(deviation))
    rows = np.zeros((len(known), len(mean) + 1))
    # A prior is a measurement of the value itself: (x - mean) / deviation is one more row.
    rows[np.arange(len(known)), known] = 1.0 / deviation[known]
    rows[:, -1] = mean[known] / deviation[known]
    return rows
