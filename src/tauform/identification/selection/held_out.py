"""Squares that a selection of columns leaves on blocks of time which its values were not fitted to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.identification.regression.blocks import N_FOLDS
from tauform.identification.regression.evidence import Evidence

RIDGE = 1e-6
# A column with less than this part of its squares outside the others' span says nothing of its own.
MIN_OWN_SHARE = 1e-4
# A tenth of a percent of a joint's torque is not worth a term.
MIN_WORTHWHILE_SHARE = 1e-6


class HeldOut:
    """Losses of selections of columns on held-out blocks."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        # Added inside the logarithm: perfect data would else reward ever smaller residuals.
        self.floor = MIN_WORTHWHILE_SHARE * evidence.torque_squares
        self.folds = evidence.folds(N_FOLDS)
        # (n, folds, p + 1, p + 1), joints first: a sum over joints by their weights walks through memory once
        self.by_joint = np.array([evidence.products[fold].sum(axis=0) for fold in self.folds]).swapaxes(0, 1).copy()
        # most columns act at few joints
        self.active = np.einsum("jkpp->jp", self.by_joint) > 0
        self.weigh(np.ones(evidence.n_joints))

    def weigh(self, weights: Array) -> None:
        """Set the weights of the joints."""
        n, *shape = self.by_joint.shape
        weighted = (weights**2 @ self.by_joint.reshape(n, -1)).reshape(shape)
        self.total = weighted.sum(axis=0)
        # Values for each fold come from all others, by one subtraction.
        self.without = self.total - weighted

    def settle_weights(self, chosen: Sequence[int]) -> None:
        """Weights that suit a selection: the inverse of each joint's residuals."""
        index = np.append(chosen, self.evidence.n_columns)
        products = self.by_joint[:, :, index[:, None], index].sum(axis=1)
        weights = np.ones(self.evidence.n_joints)
        # Weights and values settle each other; three passes are enough for a ranking.
        for _ in range(3):
            total = np.tensordot(weights**2, products, axes=1)
            values = np.append(_solved(total[None, :-1, :-1], total[None, :-1, -1], np.diag(total)[:-1])[0], -1.0)
            squares = np.maximum((products @ values) @ values, 0.0)
            weights = 1.0 / np.sqrt((squares + self.floor) / self.evidence.n_rows)
        self.weigh(weights)

    def squares(self, chosen: Sequence[int]) -> Array:
        """(folds, n) squares of each fold with values from all others."""
        index = np.append(chosen, self.evidence.n_columns)
        # The torque is the last column, and what is left of it is the sum of all with its own taken away.
        left = self._solve(self.without, chosen)[:, index[:-1]]
        left = np.concatenate([left, np.full((len(left), 1), -1.0)], axis=1)
        return self._squares_left(index, left[:, None])[:, 0]

    def _squares_left(self, index: Array, left: Array) -> Array:
        """(folds, m, n) squares of what (folds, m, columns) coefficients of these columns, the torque's -1, leave."""
        found = []
        for products, active in zip(self.by_joint, self.active[:, index], strict=True):
            own, felt = left[..., active], index[active]
            found.append(((own @ products[:, felt[:, None], felt]) * own).sum(axis=-1))
        return np.maximum(np.stack(found, axis=-1), 0.0)

    def loss(self, chosen: Sequence[int]) -> float:
        """Sum over the joints of the log of their held-out squares."""
        return float(self._loss(self.squares(chosen)))

    def _loss(self, squares: Array) -> Array:
        total: Array = np.log(squares.sum(axis=0) + self.floor).sum(axis=-1)
        return total

    def losses(self, chosen: Sequence[int], moves: Sequence[Sequence[int]]) -> list[float]:
        """The loss of each selection that differs little from `chosen`: one column more, fewer, or another."""
        kept = set(chosen)
        # One column in or out updates an inverse instead of solving anew.
        near = [k for k, move in enumerate(moves) if len(set(move) - kept) <= 1 and len(kept - set(move)) <= 1]
        found = {k: self.loss(moves[k]) for k in range(len(moves)) if k not in near}
        if near:
            neighbours = Neighbours(self, chosen, [moves[k] for k in near])
            squares = self._squares_left(neighbours.index, neighbours.left)
            found |= dict(zip(near, self._loss(squares).tolist(), strict=True))
        return [found[k] for k in range(len(moves))]

    def gain(self, squares: Array, simpler: Array) -> tuple[float, float]:
        """Loss saved by squares (folds, n) against those of a simpler selection, fold by fold: mean and its error.

        Folds are stretches of motion, so the error tells a law that holds throughout from one that happened to help
        somewhere; each fold counts alike, however large what is left unexplained in it.
        """
        # Fold by fold: how evenly a gain is spread says whether it is one.
        saved = self.saved(squares, simpler)
        return float(saved.mean()), float(saved.std(ddof=1) / np.sqrt(len(saved)))

    def saved(self, squares: Array, simpler: Array) -> Array:
        """(folds,) loss saved on each fold."""
        floor = self.floor / len(self.folds)
        return np.asarray(np.log((simpler + floor) / (squares + floor)).sum(axis=1))

    def values(self, chosen: Sequence[int]) -> Array:
        """(p,) values of a selection from all blocks, zero elsewhere."""
        return self._solve(self.total[None], chosen)[0]

    def halves(self, chosen: Sequence[int]) -> Array:
        """(2, p) values of a selection from every other fold, and from those between."""
        parts = np.array([self.total - self.without[k] for k in range(len(self.folds))])
        return self._solve(np.array([parts[::2].sum(axis=0), parts[1::2].sum(axis=0)]), chosen)

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
        values = np.zeros((len(products), p))
        own = products[:, index[:, None], index]
        values[:, index] = _solved(own, products[:, index, p], np.diag(self.total)[index])
        return values


def _solved(A: Array, b: Array, squares: Array) -> Array:
    """x with A x = b, of several right sides and matrices, columns brought to one size and held by a little ridge."""
    size = np.sqrt(squares)
    size = np.where(size > 0, size, 1.0)
    scaled = A / np.outer(size, size) + RIDGE * np.eye(len(size))
    x: Array = np.linalg.solve(scaled, (b / size)[..., None])[..., 0] / size
    return x


class Neighbours:
    """Values of selections near a chosen one, fold by fold, from one inverse.

    With x = A^-1 b of the chosen columns: leaving out column i gives x - u x_i / u_i with u = A^-1 e_i; a further
    column c with products C and square D takes z = (b_c - C x) / (D - C A^-1 C), and the others x - A^-1 C z.

    Attributes:
        index: columns that take part, the torque's last.
        left: (folds, moves, columns) values of each selection, -1 for the torque.
    """

    def __init__(self, held_out: HeldOut, chosen: Sequence[int], moves: Sequence[Sequence[int]]) -> None:
        place = {c: k for k, c in enumerate(chosen)}
        fresh = list(dict.fromkeys(c for move in moves for c in move if c not in place))
        p, m = held_out.evidence.n_columns, len(chosen)
        columns = np.array([*chosen, *fresh])
        self.index = np.append(columns, p)
        size = np.sqrt(np.diag(held_out.total)[columns])
        self.size = np.where(size > 0, size, 1.0)
        A = held_out.without[:, columns[:, None], columns] / np.outer(self.size, self.size)
        A += RIDGE * np.eye(len(columns))
        b = held_out.without[:, columns, p] / self.size
        self.inverse = np.linalg.inv(A[:, :m, :m])
        self.x = np.einsum("kij,kj->ki", self.inverse, b[:, :m])
        self.across, self.b = A[:, :m, m:], b[:, m:]
        self.through = self.inverse @ self.across
        self.own = np.einsum("kcc->kc", A[:, m:, m:])
        self.left = np.zeros((len(A), len(moves), len(columns) + 1))
        self.left[..., -1] = -1.0
        places = {c: k for k, c in enumerate(fresh)}
        for k, move in enumerate(moves):
            gone = [place[c] for c in chosen if c not in move]
            come = [places[c] for c in move if c in places]
            self.left[:, k, :-1] = self._values(gone[0] if gone else None, come[0] if come else None) / self.size

    def _values(self, gone: int | None, come: int | None) -> Array:
        """(folds, columns) values without a chosen column, with a fresh one."""
        m = self.x.shape[1]
        found = np.zeros((len(self.x), len(self.size)))
        x, u = self.x, None if come is None else self.through[:, :, come]
        if gone is not None:
            share = self.inverse[:, :, gone] / self.inverse[:, gone, gone, None]
            x = x - share * x[:, gone, None]
            u = None if u is None else u - share * u[:, gone, None]
        if come is not None and u is not None:
            C = self.across[:, :, come]
            # what the fresh column has of its own, beside the others
            own = self.own[:, come] - (C * u).sum(axis=1)
            z = (self.b[:, come] - (C * x).sum(axis=1)) / own
            found[:, m + come] = z
            x = x - u * z[:, None]
        found[:, :m] = x
        return found
