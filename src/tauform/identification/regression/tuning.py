"""Weights of joints and the firmness of a prior, tuned on some blocks by folds of these blocks alone.

A block that took part in tuning does not judge fairly, so tuning is repeated without each held-out block. That it costs
little it works on normal equations: their solutions have half the digits of a QR, enough to compare errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.errors import IdentificationError
from tauform.identification.regression.blocks import N_FOLDS
from tauform.identification.regression.estimate import N_PASSES, least_squares, residual_sizes
from tauform.identification.regression.evidence import Evidence

# Exponents of the joints' weights, full first.
EXPONENTS = (1.0, 0.75, 0.5)
# A direction of the scaled normal equations weaker than this cannot be told from rounding.
MIN_EIGENVALUE = 1e-12
# Mean and standard deviation of every value; an infinite deviation says nothing.
Prior = tuple[Array, Array]
# (n,) weights of the joints from the numbers of some blocks.
Weights = Callable[[Sequence[int]], Array]


class Tuning:
    """What some blocks alone prefer."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    @property
    def everything(self) -> list[int]:
        """Numbers of all blocks."""
        return list(range(len(self.evidence.counts)))

    @on_one_thread
    def sigma(self, blocks: Sequence[int], prior: Prior | None = None) -> Array:
        """(n,) size of the joints' residuals, found by re-weighting.

        Raises:
            IdentificationError: the blocks leave values open.
        """
        part, products = self.evidence.blocks(blocks), self.evidence.products[list(blocks)].sum(axis=0)
        sigma = np.ones(part.n_joints)
        try:
            for _ in range(N_PASSES):
                sigma = residual_sizes(part, _solved(np.tensordot(sigma**-2, products, axes=1), prior))
        except IdentificationError:
            return least_squares(part, prior=prior).sigma  # a QR may see what the normal equations cannot
        return sigma

    @on_one_thread
    def squares(
        self,
        blocks: Sequence[int],
        sigma: Array,
        prior: Prior | None = None,
        columns: Sequence[int] | None = None,
    ) -> Array:
        """(n,) squares of folds of these blocks, each predicted with values from the others.

        Args:
            columns: those that take part; all by default.

        Raises:
            IdentificationError: one of the folds alone shows a value.
        """
        own, p = self.evidence.blocks(blocks), self.evidence.n_columns
        taken = np.append(range(p) if columns is None else columns, p).astype(int)
        by_block = np.tensordot(sigma**-2, self.evidence.products[list(blocks)], axes=([0], [1]))
        by_block = by_block[:, taken[:, None], taken]
        total, squares, values = by_block.sum(axis=0), np.zeros(len(sigma)), np.zeros(p)
        for fold in own.folds(N_FOLDS):
            values[taken[:-1]] = _solved(total - by_block[fold].sum(axis=0), prior)
            squares += own.blocks(fold).residual_squares(values).sum(axis=0)
        return squares

    def exponent(self, blocks: Sequence[int], sigma: Array) -> float:
        """The exponent a of weights 1 / sigma^a that folds of these blocks prefer; 1 where they cannot tell."""
        try:
            # Of equals the fuller weights: minus the exponent sorts them first.
            return -min((float(self.squares(blocks, sigma**a).sum()), -a) for a in EXPONENTS)[1]
        except IdentificationError:
            return 1.0

    def softened(self, blocks: Sequence[int]) -> Array:
        """(n,) sigma^a as these blocks find both."""
        sigma = self.sigma(blocks)
        return np.asarray(sigma ** self.exponent(blocks, sigma))

    def residuals(self, blocks: Sequence[int]) -> Array:
        """(n,) size of the residuals that such weights leave."""
        return least_squares(self.evidence.blocks(blocks), sigma=self.softened(blocks)).sigma


def tuned_weights(evidence: Evidence, weights: Array, tuned: bool) -> Weights:
    """Weights of a fit as they would be without some blocks: changed as those of weighted least squares change.

    Args:
        evidence: all columns of the fit, those included that were left out.
        weights: from all blocks.
        tuned: whether they were found in the rows at all.
    """
    if not tuned:
        return lambda blocks: weights
    tuning = Tuning(evidence)
    try:
        from_all = tuning.softened(tuning.everything)
    except IdentificationError:  # values that only a prior holds: rows tell nothing of their own
        return lambda blocks: weights

    def of_blocks(blocks: Sequence[int]) -> Array:
        try:
            return weights * from_all / tuning.softened(blocks)
        except IdentificationError:
            return weights

    return of_blocks


def _solved(products: Array, prior: Prior | None) -> Array:
    """x of normal equations whose last row and column are the torque's."""
    A, b = products[:-1, :-1], products[:-1, -1]
    if prior is not None:
        mean, precision = prior[0], prior[1] ** -2.0
        A, b = A + np.diag(precision), b + precision * mean
    size = np.sqrt(np.diag(A))
    size = np.where(size > 0, size, 1.0)
    scaled = A / np.outer(size, size)
    try:
        # Succeeds only where all eigenvalues are above the limit, at a third of the solution's cost.
        np.linalg.cholesky(scaled - MIN_EIGENVALUE * np.eye(len(b)))
    except np.linalg.LinAlgError:
        raise IdentificationError("the motion leaves parameters open") from None
    return np.asarray(np.linalg.solve(scaled, b / size) / size)
