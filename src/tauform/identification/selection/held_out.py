"""Squares that a selection of columns leaves on blocks of time which its values were not fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.identification.regression.evidence import N_FOLDS, Evidence

RIDGE = 1e-6
# A column with less than this part of its squares outside the others' span says nothing of its own.
MIN_OWN_SHARE = 1e-4
# A tenth of a percent of a joint's torque is not worth a term.
MIN_WORTHWHILE_SHARE = 1e-6


class HeldOut:
    """Losses of selections of columns on held-out blocks."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.floor = MIN_WORTHWHILE_SHARE * evidence.torque_squares
        self.folds = evidence.folds(N_FOLDS)
        self.by_fold = np.array([evidence.products[fold].sum(axis=0) for fold in self.folds])
        self.weigh(np.ones(evidence.n_joints))

    def weigh(self, weights: Array) -> None:
        """Set the weights of the joints."""
        weighted = np.tensordot(self.by_fold, weights**2, axes=(1, 0))
        self.total = weighted.sum(axis=0)
        self.without = self.total - weighted

    def settle_weights(self, chosen: Sequence[int]) -> None:
        """Weights that suit a selection: the inverse of each joint's residuals."""
        weights = np.ones(self.evidence.n_joints)
        for _ in range(3):
            self.weigh(weights)
            squares = self.evidence.residual_squares(self.values(chosen)).sum(axis=0)
            weights = 1.0 / np.sqrt((squares + self.floor) / self.evidence.n_rows)
        self.weigh(weights)

    def squares(self, chosen: Sequence[int]) -> Array:
        """(folds, n) squares of each fold with values from all others."""
        index = np.append(chosen, self.evidence.n_columns)
        # The torque is the last column, and what is left of it is the sum of all with its own taken away.
        left = self._solve(self.without, chosen)[:, index[:-1]]
        left = np.concatenate([left, np.full((len(left), 1), -1.0)], axis=1)
        products = self.by_fold[:, :, index[:, None], index]
        squares: Array = np.einsum("kp,kjpq,kq->kj", left, products, left, optimize=True)
        return np.maximum(squares, 0.0)

    def loss(self, chosen: Sequence[int]) -> float:
        """Sum over the joints of the log of their held-out squares."""
        return float(np.log(self.squares(chosen).sum(axis=0) + self.floor).sum())

    def gain(self, squares: Array, simpler: Array) -> tuple[float, float]:
        """Loss saved by squares (folds, n) against those of a simpler selection, fold by fold: mean and its error.

        Folds are stretches of motion, so the error tells a law that holds throughout from one that happened to help
        somewhere; each fold counts alike, however large what is left unexplained in it.
        """
        floor = self.floor / len(self.folds)
        saved = np.log((simpler + floor) / (squares + floor)).sum(axis=1)
        return float(saved.mean()), float(saved.std(ddof=1) / np.sqrt(len(saved)))

    def values(self, chosen: Sequence[int]) -> Array:
        """(p,) values of a selection from all blocks, zero elsewhere."""
        return self._solve(self.total[None], chosen)[0]

    def expected_gain(self, chosen: Sequence[int]) -> Array:
        """(p,) how much the weighted squares of all rows would fall with each further column; 0 for dependent ones."""
        p = self.evidence.n_columns
        values = self.values(chosen)
        S = self.total[np.ix_(chosen, chosen)]
        size = np.sqrt(np.diag(S))
        cross = self.total[:p][:, chosen] / size
        inverse = np.linalg.inv(S / np.outer(size, size) + RIDGE * np.eye(len(size)))
        left = np.diag(self.total)[:p] - np.einsum("ij,jk,ik->i", cross, inverse, cross)
        slope = self.total[:p, p] - self.total[:p, :p] @ values
        fresh = left > MIN_OWN_SHARE * np.diag(self.total)[:p]
        return np.where(fresh, slope**2 / np.where(fresh, left, 1.0), 0.0)

    def _solve(self, products: Array, chosen: Sequence[int]) -> Array:
        index = np.array(chosen)
        p = self.evidence.n_columns
        size = np.sqrt(np.diag(self.total)[index])
        size = np.where(size > 0, size, 1.0)
        A = products[:, index[:, None], index] / np.outer(size, size) + RIDGE * np.eye(len(index))
        b = products[:, index, p] / size
        values = np.zeros((len(products), p))
        values[:, index] = np.linalg.solve(A, b[..., None])[..., 0] / size
        return values
