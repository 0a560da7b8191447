"""Torques that the base parameters leave unexplained, whichever column is whose and whatever its sign.

A joint's smoothed position, velocity and acceleration depend on its own column alone, so that another order or sign is
tried on the states, without filtering anything anew; torques need not even new columns.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tauform.arrays import Array
from tauform.identification.diagnosis.regression import NormalProducts, weighted
from tauform.identification.diagnosis.samples import Samples
from tauform.identification.regression.design import Design

# Largest relative error of a joint that needs no explanation.
MAX_ERROR_EXPLAINED = 0.1
# Fall of the sum of the logarithms of squared errors that makes a hypothesis far better: two errors half as large.
MIN_LOG_GAIN = 2 * np.log(4.0)
# Equations per unknown below which nothing can be told.
FEWEST_EQUATIONS = 4

Order = tuple[int, ...]


class Explained:
    """Errors of a design on samples under hypotheses about the columns of the log."""

    def __init__(self, design: Design, samples: Samples) -> None:
        self.design, self.samples = design.with_terms(()), samples
        self.as_is: Order = tuple(range(samples.tau.shape[1]))
        self.known: dict[tuple[Order, Order], tuple[Array, Array]] = {}

    @property
    def needs_no_reason(self) -> bool:
        """Whether every joint is explained as things are, or there are too few samples to tell."""
        n_rows = self.samples.tau.size
        return n_rows < FEWEST_EQUATIONS * self.design.n_columns or bool(self.before.max() < MAX_ERROR_EXPLAINED**2)

    @cached_property
    def before(self) -> Array:
        """(n,) share of each joint's squares that is left as things are."""
        return self.left()

    def left(
        self,
        motion: Order | None = None,
        torques: Order | None = None,
        signs: Order | None = None,
        torque_signs: Order | None = None,
    ) -> Array:
        """(n,) share of each joint's squares that is left, each joint weighted by its own.

        Args:
            motion, torques: joint by joint, whose columns are taken.
            signs, torque_signs: 1 or -1 for each joint.
        """
        plus = (1,) * len(self.as_is)
        torques, torque_signs = torques or self.as_is, torque_signs or plus
        products, sides = self._products(motion or self.as_is, signs or plus)
        sides = sides[np.arange(len(torques)), :, torques] * np.array(torque_signs)[:, None]
        whole = (self.samples.tau**2).sum(axis=0)[list(torques)]
        return weighted(products, sides, whole)[1] / np.maximum(whole, 1e-300)

    def held_out(self, design: Design | None = None) -> Array:
        """(n,) the same on stretches of time that the values do not come from, for this or another design."""
        own, s = design or self.design, self.samples
        return NormalProducts.of(own.columns(s.q, s.qd, s.qdd), s.tau, s.folds).held_out

    def _products(self, motion: Order, signs: Order) -> tuple[Array, Array]:
        """(n, p, p) of a joint's columns with each other, (n, p, n) with the torque of every joint."""
        if (motion, signs) not in self.known:
            states = (x[:, motion] * np.array(signs) for x in (self.samples.q, self.samples.qd, self.samples.qdd))
            A = np.moveaxis(self.design.columns(*states), 1, 0)
            self.known[motion, signs] = A.swapaxes(1, 2) @ A, A.swapaxes(1, 2) @ self.samples.tau
        return self.known[motion, signs]
