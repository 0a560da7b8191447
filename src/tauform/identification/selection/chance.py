"""Chance: of a hundred candidates that explain nothing, the best looks as if it did.

Candidates are tried on the same stretches that later judge the winner, so that its gain there is not that of a term
which was named beforehand. A term therefore has to pass a test at a level that all independent candidates share
(Bonferroni), on rows that count for as much as their correlation in time leaves of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tauform.arrays import Array
from tauform.identification.selection.held_out import MIN_OWN_SHARE, HeldOut

# Level of the test over all candidates together: how often chance may find one where there is none.
SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Chance:
    """The F-test of what was chosen among many.

    Attributes:
        held_out: the rows, condensed, with the weights of the joints.
        inflation: (n,) by how much correlation in time enlarges what chance saves at each joint.
        n_columns: independent columns that could be added.
        n_changes: independent columns that could take the place of another.
    """

    held_out: HeldOut
    inflation: Array
    n_columns: float
    n_changes: float

    def explains(self, richer: Sequence[int], simpler: Sequence[int]) -> float:
        """Share of what a richer selection saves that chance explains: 1 and more where it needs no other reason."""
        evidence = self.held_out.evidence
        # On all rows: an F-test compares fits, held-out blocks have chosen already.
        left, more = (evidence.residual_squares(self.held_out.values(x)).sum(axis=0) for x in (richer, simpler))
        freedom = max(1.0, evidence.n_rows - len(richer) / evidence.n_joints)
        # Rows that follow each other share their noise: they count for fewer.
        variance = (left + self.held_out.floor) / freedom * self.inflation
        added = len(richer) - len(simpler)
        saved = float(((more - left) / variance).sum()) / max(1, added)
        level = SIGNIFICANCE_LEVEL / (self.n_columns if added else self.n_changes)
        # The upper quantile of F(a, b) is one over the lower one of F(b, a); scipy.stats takes half a second to import.
        allowed = 1.0 / special.fdtri(float((freedom / self.inflation).sum()), max(1, added), level)
        return float(allowed / max(saved, 1e-300))


def independent(held_out: HeldOut, columns: Sequence[int], start: Sequence[int]) -> float:
    """Number of independent candidates among these columns: nine widths of a step are not nine chances.

    Of the eigenvalues of their correlations, beside the plain columns `start`, each that is at least 1 counts once, and
    all by what they have beyond whole numbers (Li and Ji 2005, for tests on correlated markers).
    """
    own, plain = list(columns), list(start)
    products = held_out.total
    beside = np.linalg.lstsq(products[np.ix_(plain, plain)], products[np.ix_(plain, own)], rcond=1e-12)[0]
    left = products[np.ix_(own, own)] - products[np.ix_(own, plain)] @ beside
    size = np.diag(left)
    # Columns that the plain model spans cannot be found by chance: they cannot be found at all.
    fresh = size > MIN_OWN_SHARE * np.diag(products)[own]
    correlation = left[np.ix_(fresh, fresh)] / np.sqrt(np.outer(size[fresh], size[fresh]))
    values = np.abs(np.linalg.eigvalsh(correlation)) if fresh.any() else np.zeros(1)
    # Effective number of independent tests from the eigenvalues of their correlation (Li and Ji 2005).
    return max(1.0, float((values >= 1).sum() + (values - np.floor(values)).sum()))
