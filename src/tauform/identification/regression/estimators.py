"""Estimators: one function each, all from the same rows and evidence.

Each comes with its refit from some blocks alone, so that errors on held-out blocks are those of what it finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.regression.design import Design
from tauform.identification.regression.energy import by_energy
from tauform.identification.regression.estimate import (
    MIN_EXCITED_SINGULAR_VALUE,
    Estimate,
    Refit,
    least_squares,
    of_values,
)
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.instruments import instrumental
from tauform.identification.regression.outliers import robust
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
# Exponents of the joints' weights, full first.
EXPONENTS = (1.0, 0.75, 0.5)
# Standard deviations of the prior that are tried, relative to each parameter's size.
PRIOR_SPREADS = (np.inf, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)


def estimate(
    method: Method, design: Design, evidence: Evidence, rows: Iterable[Rows], source: RowSource, prior: Robot
) -> Estimate:
    """Values by the method of that name."""
    if method == "ridge":
        return ridge(design, evidence, prior)
    if method == "ordinary":
        return _refitted(evidence, least_squares(evidence, weighted=False))
    # The other methods start from it, and take its weights.
    plain = softened(evidence)
    if method == "robust":
        return robust(plain, evidence, rows)
    if method == "total":
        return total(plain, evidence)
    if method == "instrumental":
        return instrumental(plain, evidence, rows, source)
    if method == "energy":
        return by_energy(plain, evidence, source)
    return _refitted(evidence, plain)


def _refitted(evidence: Evidence, found: Estimate) -> Estimate:
    return replace(found, refit=least_squares_refit(evidence, 1.0 / found.weights))


def least_squares_refit(evidence: Evidence, sigma: Array) -> Refit:
    """Least squares on some blocks, with the joints' weights as they are."""
    return lambda blocks: least_squares(evidence.blocks(blocks), sigma=sigma).values


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

    refit = least_squares_refit(evidence, sigma)

    def refitted(blocks: Sequence[int]) -> Array:
        try:
            return refit(blocks)
        except IdentificationError:  # what is left does not excite everything; the fit to all rows has to do
            return fallback

    return evidence.squares_of_refits(refitted)


def total(plain: Estimate, evidence: Evidence) -> Estimate:
    """Total least squares on unit columns: noise on both sides, in proportion to each column's size."""
    return of_values(
        replace(plain, refit=lambda blocks: _total(evidence.blocks(blocks), plain.weights)),
        _total(evidence, plain.weights),
        evidence,
    )


def _total(evidence: Evidence, weights: Array) -> Array:
    R = evidence.stacked(weights)
    # Noise in proportion to each column's size: unit columns, the torque among them.
    scale = np.linalg.norm(R, axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    # The smallest singular direction of [A tau] is the smallest change of both sides that makes them agree.
    _, sizes, Vt = np.linalg.svd(R / scale)
    direction = Vt[-1]
    # A second small direction lies among the columns: values along it are open.
    is_open = sizes[-2] <= MIN_EXCITED_SINGULAR_VALUE * sizes[0]
    if is_open or abs(direction[-1]) < 1e-12:
        raise IdentificationError("total least squares has no solution here: the columns depend on each other")
    return np.asarray(-direction[:-1] / direction[-1] / scale[:-1] * scale[-1])


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
            best = loss, replace(found, refit=_prior_refit(evidence, (mean, deviation)))
    if best is None:
        raise IdentificationError("the motion leaves parameters open that the prior says nothing about")
    return best[1]


def _typical_sizes(evidence: Evidence, mean: Array) -> Array:
    # A value of this size would explain the torque's RMS on its own; a prior of zero needs some scale.
    squares = (evidence.triangles[..., :-1] ** 2).sum(axis=(0, 1, 2))
    alone = np.sqrt(evidence.torque_squares.sum() / np.maximum(squares, 1e-300))
    return np.maximum(np.abs(mean), 0.1 * np.minimum(alone, np.abs(mean).max(initial=1.0)))


def _prior_refit(evidence: Evidence, prior: tuple[Array, Array]) -> Refit:
    return lambda blocks: least_squares(evidence.blocks(blocks), prior=prior).values


def _held_out_loss(evidence: Evidence, prior: tuple[Array, Array]) -> float:
    squares = evidence.squares_of_refits(_prior_refit(evidence, prior))
    # The logarithm counts each joint by its own relative gain, whatever the size of its torques.
    return float(np.log(np.maximum(squares, 1e-300)).sum())
