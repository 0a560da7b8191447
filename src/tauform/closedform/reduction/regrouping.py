"""Base parameters regrouped where fewer terms are left to tell them apart.  [Gautier1991, Eq. 17]

Whatever the terms, a parameter that followed from others still does, so the new pivots are among the old ones:

    W2 = W1 beta  =>  W theta = W1 (theta_1 + beta theta_2),    W: coefficients of the terms that are left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from tauform.arrays import Array, read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.elimination import eliminate
from tauform.closedform.base.preference import gautier_order
from tauform.closedform.base.scaling import equilibrated
from tauform.portable.products import product


@dataclass(frozen=True, eq=False)
class Regrouping:
    """Base parameters that stay, and what becomes of the others.

    Attributes:
        kept: (k,) indices of those that stay.
        matrix: (k, l) new = matrix @ old; those that no term shows have a column of zeros.
        gap, condition: how clear the decision was, and the condition number of the columns that stay.
    """

    kept: list[int]
    matrix: Array
    gap: float
    condition: float

    @classmethod
    def of(cls, base: BaseParameters, rows: Any) -> Regrouping:
        """Regrouping for the coefficients (rows, l) that are left."""
        place = {pivot: k for k, pivot in enumerate(base.pivots)}
        # The order of the full set, so that names stay those that the user knows.
        preferred = [place[k] for k in gautier_order(base.layout) if k in place]
        scaled = equilibrated(rows)
        split = eliminate(scaled.matrix, preferred)
        matrix = np.zeros((len(split.kept), base.n))
        matrix[np.arange(len(split.kept)), split.kept] = 1.0
        sizes = scaled.columns
        # Back from scaled columns, as in `regroup`.
        matrix[:, split.folded] = split.beta * sizes[split.folded] / sizes[split.kept][:, None]
        return cls(split.kept, read_only(matrix), split.gap, split.condition)

    def base(self, before: BaseParameters) -> BaseParameters:
        """The base parameters that are left."""
        grouping = product(self.matrix, before.grouping)
        pivots = [before.pivots[k] for k in self.kept]
        sums = np.count_nonzero(self.matrix, axis=1) > 1
        standard = before.layout.names
        names = tuple(
            before.layout.parameters[pivot].as_sum().name if is_sum else before.names[k]
            for k, pivot, is_sum in zip(self.kept, pivots, sums, strict=True)
        )
        # A standard parameter that no base parameter holds any more has lost its effect with the terms.
        absent = {k for k in before.columns if not grouping[:, k].any()}
        return replace(
            before,
            names=names,
            grouping=read_only(grouping),
            pivots=tuple(pivots),
            no_effect=tuple(standard[k] for k in before.columns if k in absent),
            alone=tuple(name for name in names if name in standard),
            regrouped=tuple(standard[k] for k in before.columns if k not in absent and k not in pivots),
            gap=min(before.gap, self.gap),
            condition=self.condition,
        )


def all_rows(reduction: scipy.sparse.csr_array, joint_terms: Array) -> scipy.sparse.csr_array:
    """Coefficients of terms and, beside them, of friction."""
    beside = scipy.sparse.csr_array(joint_terms.reshape(-1, joint_terms.shape[-1]))
    return scipy.sparse.vstack([reduction, beside]).tocsr()
