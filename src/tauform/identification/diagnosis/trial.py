"""Further columns beside those of a fit: what they explain on stretches of time that were held out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.identification.diagnosis.regression import NormalProducts

# Student's 97.5 % quantile for the spread of six stretches of time that are left out in turn.
SPREADS_OF_95 = 2.57


@dataclass(frozen=True, eq=False)
class Trial:
    """What further columns explain beside those of a fit.

    Attributes:
        gain: fall of the logarithms of held-out squares, summed over the joints.
        joint, share: where they explain most, and the share of its held-out squares.
        explained: share of all held-out squares, joints weighted alike.
        values, spreads: of the further columns; from all stretches, and over stretches that are left out in turn.
    """

    gain: float
    joint: int
    share: float
    explained: float
    values: Array
    spreads: Array

    @classmethod
    def of(cls, products: NormalProducts, n_further: int, before: Array) -> Trial:
        """Of products, with so many further columns at the end; `before`: shares that are left without these."""
        ratio = np.maximum(products.held_out, 1e-300) / np.maximum(before, 1e-300)
        first = products.sides.shape[-1] - n_further
        each = products.left_out[:, first:]
        # Jackknife over stretches of time: residuals of neighbours are alike.
        spreads = np.sqrt((len(each) - 1) * each.var(axis=0))
        joint = int(np.argmin(ratio))
        return cls(
            -float(np.log(ratio).sum()), joint, 1 - float(ratio[joint]), 1 - float(np.exp(np.log(ratio).mean())),
            products.values[first:], spreads,
        )  # fmt: skip

    def is_known(self, least_gain: float, least: float, largest: float, spreads: float) -> bool:
        """Whether it explains that much, with values between two sizes and so many times their spread."""
        size, spread = float(np.linalg.norm(self.values)), float(np.linalg.norm(self.spreads))
        return self.gain > least_gain and least < size < largest and size > spreads * spread

    def figure(self, names: tuple[str, ...]) -> str:
        """What it explains, in words."""
        return f"that explains {100 * self.share:.0f} % of the squared error of {names[self.joint]} on held-out blocks"
