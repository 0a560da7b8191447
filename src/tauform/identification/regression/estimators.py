"""Estimators: one function each, all from the same rows and evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.regression.design import Design
from tauform.identification.regression.energy import by_energy
from tauform.identification.regression.estimate import Estimate, least_squares
from tauform.identification.regression.evidence import Evidence, updated
from tauform.identification.regression.rows import Rows, RowSource

Method = Literal["auto", "weighted", "ordinary", "robust", "total", "instrumental", "ridge", "energy"]
METHODS: dict[str, str] = {
    "auto": "weighted least squares",
    "weighted": "weighted least squares",
    "ordinary": "ordinary least squares",
    "robust": "robust (iteratively re-weighted) least squares",
    "total": "total least squares",
    "instrumental": "instrumental variables",
    "ridge": "least squares with a prior",
    "energy": "least squares on the energy model",
}
NO_REFERENCE = (
    "method instrumental needs the commanded positions (Recording.reference), which carry no sensor noise; "
    "record them, or use another method"
)
# Huber's constant: 95 % efficient where the noise is normal.
HUBER = 1.345
N_ROBUST_PASSES = 30
# Exponents of the joints' weights, full first.
EXPONENTS = (1.0, 0.75, 0.5)
# Standard deviations of the prior that are tried, relative to each parameter's size.
PRIOR_SPREADS = (np.inf, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)


def estimate(
    method: Method, design: Design, evidence: Evidence, rows: Iterable[Rows], source: RowSource, prior: Robot
) -> Estimate:
    """Values by the method of that name."""
    if method == "ordinary":
        return least_squares(evidence, weighted=False)
    if method == "ridge":
        return ridge(design, evidence, prior)
    # The other methods start from it, and take its weights.
    plain = softened(evidence)
    if method == "robust":
        return robust(plain, rows)
    if method == "total":
        return total(plain, evidence)
    if method == "instrumental":
        return instrumental(plain, rows, source)
    if method == "energy":
        return by_energy(plain, evidence, source)
    return plain


def softened(evidence: Evidence) -> Estimate:
    """Weighted least squares with weights 1 / sigma^a, where held-out blocks choose between a = 1 and softer ones.

    Where residuals are noise, a = 1 is best. Where they are what the model leaves out, full weights let the joints
    with the smallest residuals bend the parameters that all share.
    """
    # Full weights are best for independent noise; a joint whose model is wrong has small residuals by overfitting.
    full = least_squares(evidence)
    scores = []
    for exponent in EXPONENTS:
        sigma = full.sigma**exponent
        # Of equals the fuller weights: minus the exponent sorts them first.
        scores.append((held_out_squares(evidence, sigma, full.values).sum(), -exponent))
    best = -min(scores)[1]
    return full if best == 1.0 else least_squares(evidence, sigma=full.sigma**best)


def held_out_squares(evidence: Evidence, sigma: Array, fallback: Array) -> Array:
    """(n,) squares of the residuals of folds of neighbouring blocks, predicted with values from all the others."""

    def solve(others: Evidence) -> Array:
        try:
            return least_squares(others, sigma=sigma).values
        except IdentificationError:  # what is left does not excite everything; the fit to all rows has to do
            return fallback

    return evidence.held_out_squares(solve)


def robust(plain: Estimate, rows: Iterable[Rows]) -> Estimate:
    """Huber's estimator: rows with large residuals count less, found by iterating."""
    current = plain
    for _ in range(N_ROBUST_PASSES):
        spread = _median_spread(current, rows)
        evidence = _huber_evidence(current.values, spread, rows)
        following = least_squares(evidence, sigma=spread)
        change = np.abs(following.values - current.values)
        current = replace(following, sigma=spread)
        if (change <= 1e-4 * np.sqrt(np.diag(plain.bread)) + 1e-15 * np.abs(plain.values)).all():
            break
    return current


def _median_spread(current: Estimate, rows: Iterable[Rows]) -> Array:
    errors = np.concatenate([np.abs(part.tau - part.A @ current.values) for part in rows])
    size = np.sqrt(np.mean([(part.tau**2).mean(axis=0) for part in rows], axis=0))
    # 1.4826 times the median of absolute residuals is the deviation of normal noise, and outliers do not move it.
    return np.maximum(1.4826 * np.median(errors, axis=0), 1e-12 * size)


def _huber_evidence(values: Array, spread: Array, rows: Iterable[Rows]) -> Evidence:
    triangles, count = None, 0
    for part in rows:
        excess = np.abs(part.tau - part.A @ values) / spread
        # w r^2 grows like |r| beyond Huber's constant; rows are multiplied by the root of w.
        weights = np.sqrt(np.minimum(1.0, HUBER / np.maximum(excess, 1e-300)))
        tables = np.concatenate([part.A, part.tau[:, :, None]], axis=2) * weights[:, :, None]
        n, p = tables.shape[1], tables.shape[2]
        triangles = np.zeros((n, p, p)) if triangles is None else triangles
        triangles = np.array([updated(triangles[j], tables[:, j]) for j in range(n)])
        count += len(part.t)
    assert triangles is not None
    n, p = triangles.shape[:2]
    return Evidence(triangles[None], np.array([count]), (0,), np.ones((n, p - 1)), np.ones(n))


def total(plain: Estimate, evidence: Evidence) -> Estimate:
    """Total least squares on unit columns: noise on both sides, in proportion to each column's size."""
    R = evidence.stacked(plain.weights)
    # Noise in proportion to each column's size: unit columns, the torque among them.
    scale = np.linalg.norm(R, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    # The smallest singular direction of [A tau] is the smallest change of both sides that makes them agree.
    _, _, Vt = np.linalg.svd(R / scale)
    direction = Vt[-1]
    if abs(direction[-1]) < 1e-12:
        raise IdentificationError("total least squares has no solution here: the columns depend on each other")
    return replace(plain, values=-direction[:-1] / direction[-1] / scale[:-1] * scale[-1])


def instrumental(plain: Estimate, rows: Iterable[Rows], source: RowSource) -> Estimate:
    """Columns at the commanded positions as instruments: free of the noise of the measured ones.

    Raises:
        IdentificationError: the recordings hold no commanded positions.
    """
    if any(segment.reference is None for segment in source.segments):
        raise IdentificationError(NO_REFERENCE)
    # Instruments share the motion with the columns but not the noise of the encoders.
    commanded = [replace(s, q=s.reference, qd=None, qdd=None) for s in source.segments if s.reference is not None]
    p = source.design.n_columns
    triangle = np.zeros((2 * p + 1, 2 * p + 1))
    for part, clean in zip(rows, replace(source, segments=tuple(commanded)), strict=True):
        table = np.concatenate([clean.A, part.A, part.tau[:, :, None]], axis=2) / plain.sigma[:, None]
        triangle = updated(triangle, table.reshape(-1, 2 * p + 1))
    # Z = Q1 R11, A = Q1 R12 + ...: Z'A x = Z'tau is R12 x = R13.
    return replace(plain, values=scipy.linalg.solve(triangle[:p, p : 2 * p], triangle[:p, 2 * p]))


def ridge(design: Design, evidence: Evidence, prior: Robot) -> Estimate:
    """Least squares with the prior's parameters as further measurements, as firm as held-out blocks ask for."""
    # Base parameters of the description, whose links need not be right one by one.
    mean = design.values_of(prior)
    size = _typical_sizes(evidence, mean)
    best: tuple[float, Estimate] | None = None
    for spread in PRIOR_SPREADS:
        # Only base parameters have a prior; drive terms beyond them are left to the data.
        deviation = np.where(np.arange(len(mean)) < design.base.n, spread * size, np.inf)
        try:
            loss = _held_out_loss(evidence, (mean, deviation))
            found = least_squares(evidence, prior=(mean, deviation))
        except IdentificationError:  # without a prior the motion may leave values open
            continue
        if best is None or loss < best[0]:
            best = loss, found
    if best is None:
        raise IdentificationError("the motion leaves parameters open that the prior says nothing about")
    return best[1]


def _typical_sizes(evidence: Evidence, mean: Array) -> Array:
    # A value of this size would explain the torque's RMS on its own; a prior of zero needs some scale.
    squares = (evidence.triangles[..., :-1] ** 2).sum(axis=(0, 1, 2))
    alone = np.sqrt(evidence.torque_squares.sum() / np.maximum(squares, 1e-300))
    return np.maximum(np.abs(mean), 0.1 * np.minimum(alone, np.abs(mean).max(initial=1.0)))


def _held_out_loss(evidence: Evidence, prior: tuple[Array, Array]) -> float:
    squares = evidence.held_out_squares(lambda others: least_squares(others, prior=prior).values)
    # The logarithm counts each joint by its own relative gain, whatever the size of its torques.
    return float(np.log(np.maximum(squares, 1e-300)).sum())
