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
from tauform.identification.regression.tuning import Prior, Tuning, Weights

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
# Standard deviations of the prior that are tried, relative to each parameter's size.
SPREADS = (np.inf, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)


def estimate(
    method: Method, design: Design, evidence: Evidence, rows: Iterable[Rows], source: RowSource, prior: Robot
) -> Estimate:
    """Values by the method of that name."""
    if method == "ridge":
        return ridge(design, evidence, prior)
    if method == "ordinary":
        found = least_squares(evidence, weighted=False)
        return replace(found, refit=least_squares_refit(evidence, lambda blocks: found.weights))
    # The other methods start from it, and take its weights.
    tuning = Tuning(evidence)
    plain = softened(evidence, tuning)
    if method == "robust":
        return robust(plain, evidence, rows)
    if method == "total":
        return total(plain, evidence, tuning)
    if method == "instrumental":
        return instrumental(plain, tuning, rows, source)
    if method == "energy":
        return by_energy(plain, tuning, source)
    return plain


def least_squares_refit(evidence: Evidence, weights: Weights) -> Refit:
    """Least squares on some blocks, with the weights of joints that these give."""
    return lambda blocks: least_squares(evidence.blocks(blocks), sigma=1.0 / weights(blocks)).values


def softened(evidence: Evidence, tuning: Tuning) -> Estimate:
    """Weighted least squares with weights 1 / sigma^a, where held-out blocks choose between a = 1 and softer ones.

    Where residuals are noise, a = 1 is best. Where they are what the model leaves out, full weights let the joints
    with the smallest residuals bend the parameters that all share.
    """
    # Full weights are best for independent noise; a joint whose model is wrong has small residuals by overfitting.
    full = least_squares(evidence)
    best = tuning.exponent(tuning.everything, full.sigma)
    found = full if best == 1.0 else least_squares(evidence, sigma=full.sigma**best)
    return replace(found, refit=least_squares_refit(evidence, lambda blocks: 1.0 / tuning.softened(blocks)))


def held_out_squares(evidence: Evidence, sigma: Array, fallback: Array) -> Array:
    """(n,) squares of the residuals of folds of neighbouring blocks, predicted with values from all the others."""

    refit = least_squares_refit(evidence, lambda blocks: 1.0 / sigma)

    def refitted(blocks: Sequence[int]) -> Array:
        try:
            return refit(blocks)
        except IdentificationError:  # what is left does not excite everything; the fit to all rows has to do
            return fallback

    return evidence.squares_of_refits(refitted)


def total(plain: Estimate, evidence: Evidence, tuning: Tuning) -> Estimate:
    """Total least squares on unit columns: noise on both sides, in proportion to each column's size."""
    return of_values(
        replace(plain, refit=lambda blocks: _total(evidence.blocks(blocks), 1.0 / tuning.softened(blocks))),
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
    tuning, mean = Tuning(evidence), design.values_of(prior)

    def tuned(blocks: Sequence[int]) -> tuple[Array, Array]:
        size = _typical_sizes(evidence.blocks(blocks), mean)
        losses = {spread: _held_out_loss(tuning, blocks, _prior(design, mean, spread * size)) for spread in SPREADS}
        spread = min(SPREADS, key=lambda spread: losses[spread])  # of equals the looser one
        if losses[spread] == np.inf:
            raise IdentificationError("the motion leaves parameters open that the prior says nothing about")
        return _prior(design, mean, spread * size)

    def refit(blocks: Sequence[int]) -> Array:
        own = tuned(blocks)
        return least_squares(evidence.blocks(blocks), prior=own, sigma=tuning.sigma(blocks, own)).values

    return replace(least_squares(evidence, prior=tuned(tuning.everything)), refit=refit)


def _prior(design: Design, mean: Array, deviation: Array) -> Prior:
    # Only base parameters have a prior; drive terms beyond them are left to the data.
    return mean, np.where(np.arange(len(mean)) < design.base.n, deviation, np.inf)


def _typical_sizes(evidence: Evidence, mean: Array) -> Array:
    # A value of this size would explain the torque's RMS on its own; a prior of zero needs some scale.
    squares = (evidence.triangles[..., :-1] ** 2).sum(axis=(0, 1, 2))
    alone = np.sqrt(evidence.torque_squares.sum() / np.maximum(squares, 1e-300))
    return np.maximum(np.abs(mean), 0.1 * np.minimum(alone, np.abs(mean).max(initial=1.0)))


def _held_out_loss(tuning: Tuning, blocks: Sequence[int], prior: Prior) -> float:
    """Infinite where the prior is too loose for what the motion leaves open."""
    try:
        squares = tuning.squares(blocks, tuning.sigma(blocks, prior), prior)
    except IdentificationError:
        return np.inf
    # The logarithm counts each joint by its own relative gain, whatever the size of its torques.
    return float(np.log(np.maximum(squares, 1e-300)).sum())
