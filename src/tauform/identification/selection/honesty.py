"""Honest errors: the cost of a choice of terms on data that it has not seen.

Terms are chosen on all blocks. Errors on the same blocks flatter the choice, so it is repeated without some of them,
and these judge it: the ratio of both errors is what `held_out` is multiplied by.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tauform.identification.regression.evidence import Evidence
from tauform.identification.selection.held_out import HeldOut


def cost_of_choice(evidence: Evidence, columns: Sequence[int], chosen: Callable[[Evidence], list[int]]) -> float:
    """Growth of errors on blocks that took no part in the choice; at least one.

    Args:
        columns: that all blocks chose.
        chosen: the choice that some blocks make.
    """
    parts = evidence.judges()
    if parts is None:
        return 1.0
    choosing, judging = parts
    errors = [_squares(choosing, judging, x) for x in (columns, chosen(choosing))]
    return float(max(1.0, np.sqrt(errors[1] / max(errors[0], 1e-300))))


def _squares(choosing: Evidence, judging: Evidence, columns: Sequence[int]) -> float:
    """Squares on the judging blocks, of values from the others."""
    held_out = HeldOut(choosing)
    held_out.settle_weights(columns)
    return float(judging.residual_squares(held_out.values(columns)).sum())
