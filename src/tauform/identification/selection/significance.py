"""Significance: which values the torque needs.  [Izaguirre1992, section 7; Gautier1991]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy import special

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import Fitted
from tauform.identification.physical.consistency import physically_consistent
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.estimators import held_out_squares
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.tuning import Tuning
from tauform.identification.selection.chosen import cost_of_columns
from tauform.identification.verdict.refit import of_blocks, with_columns

# Level of the F-test: a column stays only if chance would explain its part less often than this.
F_LEVEL = 0.01
# Held-out squares of all joints may grow by this factor in all while columns are taken away.
MAX_GROWTH = 1.05
# The same for the first rule, where many go at once.
MAX_GROWTH_OF_FIRST_RULE = 1.2


# What a value's torque is compared with: the largest torque of its joint, or of the whole robot.
Limit = Literal["joint", "robot"]


@dataclass(frozen=True)
class Rules:
    """Which values stay; see `reduced`."""

    tolerance: float
    max_deviation: float
    most: int | None
    keep_accuracy: bool
    limit: Limit

    def kept(self, evidence: Evidence, values: Array, weights: Array, inflation: Array | None) -> list[int]:
        """Columns that these rows ask for."""
        kept = _significant(evidence, values, self, weights)
        if not kept:
            return []
        kept = _eliminate(evidence, kept, weights, self.max_deviation, inflation)
        return kept if self.most is None else _least_missed(evidence, kept, weights, self.most)


def insignificant(evidence: Evidence, values: Array, tolerance: float, limit: Limit = "joint") -> list[int]:
    """Columns whose torque stays below `tolerance` of the largest measured torque at every joint.

    The rule of Izaguirre1992 (1 %). Joint by joint by default: one number for all joints throws out the wrist.
    """
    own = evidence.torque_peaks
    peaks = own if limit == "joint" else np.full_like(own, own.max())
    shares = evidence.peaks * np.abs(values) / np.maximum(peaks, 1e-300)[:, None]
    return [int(k) for k in np.flatnonzero((shares < tolerance).all(axis=0))]


@on_one_thread
def reduced(
    fit: Fitted,
    tolerance: float = 0.01,
    max_deviation: float = 0.3,
    most: int | None = None,
    keep_accuracy: bool = True,
    limit: Limit = "joint",
) -> Fitted:
    """Fit of the significant values alone; a physical fit is made physical again, with its links as the prior.

    First go the values that fail the 1 % rule; then, one by one, the value with the largest relative deviation, as
    long as that is above `max_deviation` and an F-test or the held-out error does not ask for it.

    Args:
        tolerance: part of each joint's largest torque; 0 skips the first rule.
        max_deviation: relative standard deviation above which a value may go; infinity skips the second rule.
        keep_accuracy: halve the tolerance until held-out errors stay about as they were; else apply it as it is.
        most: take away further values, the least missed first, until at most so many are left.
        limit: whose largest torque the tolerance is a part of: each joint's own ("joint"), or the robot's ("robot").

    Raises:
        IdentificationError: nothing would be left.
    """
    # Those of the fit: with others the first column taken away would be another.
    weights = fit.weights if fit.weights is not None else 1.0 / fit.sigma
    rules = Rules(tolerance, max_deviation, most, keep_accuracy, limit)
    kept = rules.kept(fit.evidence, fit.values, weights, fit.inflation)
    if not kept:
        raise IdentificationError(
            f"tolerance: no value contributes {tolerance:g} of a joint's largest torque; lower it"
        )

    def chosen(blocks: Sequence[int]) -> list[int]:
        # Where some blocks leave values open, or need none of them, they choose nothing of their own.
        try:
            own = of_blocks(fit, blocks)
            assert own.weights is not None
            return rules.kept(own.evidence, own.values, own.weights, own.inflation) or kept
        except IdentificationError:
            return kept

    # Blocks that chose the values do not judge the choice: what it costs elsewhere is measured as for terms.
    cost = fit.choice_cost * cost_of_columns(fit.evidence, kept, chosen)
    before = f"{len(fit.values)} values, condition {fit.raw_condition:.3g}"
    smaller = with_columns(replace(fit, choice_cost=cost), kept, "")
    smaller = smaller.with_findings(f"reduced from {before} to {len(kept)}, condition {smaller.raw_condition:.3g}")
    if fit.physical is None or fit.physical_method is None:
        return smaller
    return physically_consistent(smaller, fit.physical, fit.physical_method)


def _significant(evidence: Evidence, values: Array, rules: Rules, weights: Array) -> list[int]:
    everything, tolerance = list(range(len(values))), rules.tolerance
    limit = MAX_GROWTH_OF_FIRST_RULE * _held_out(evidence, everything, weights)
    # A rule that costs accuracy is relaxed until it does not.
    while tolerance > 1e-4:
        dropped = set(insignificant(evidence, values, tolerance, rules.limit))
        kept = [k for k in everything if k not in dropped]
        if not rules.keep_accuracy or (kept and _held_out(evidence, kept, weights) <= limit):
            return kept
        tolerance /= 2
    return everything


def _eliminate(
    evidence: Evidence, kept: list[int], weights: Array, max_deviation: float, inflation: Array | None
) -> list[int]:
    budget = MAX_GROWTH * _held_out(evidence, kept, weights)
    # What was needed once is not asked again: fewer columns make the others only more needed.
    protected: set[int] = set()
    while np.isfinite(max_deviation) and len(kept) > 1:
        part = evidence.chosen(kept)
        found = least_squares(part, sigma=1.0 / weights)
        deviations = np.sqrt(np.diag(found.covariance(part, 1.0 if inflation is None else inflation)))
        relative = deviations / np.maximum(np.abs(found.values), 1e-300)
        order = [i for i in np.argsort(-relative) if relative[i] > max_deviation and kept[i] not in protected]
        if not order:
            break
        worst = int(order[0])
        trial = [c for c in kept if c != kept[worst]]
        # With one column less the squares grow by (value / deviation)^2: an F-test with one degree of freedom.
        freedom = max(1, evidence.n_rows * evidence.n_joints - len(kept))
        needed = relative[worst] ** -2 > special.fdtri(1, freedom, 1 - F_LEVEL)
        if needed or _held_out(evidence, trial, weights) > budget:
            protected.add(kept[worst])
        else:
            kept = trial
    return kept


def _least_missed(evidence: Evidence, kept: list[int], weights: Array, most: int) -> list[int]:
    while len(kept) > max(1, most):
        part = evidence.chosen(kept)
        found = least_squares(part, sigma=1.0 / weights)
        # Growth of the squares without each column, exactly, from the one fit.
        missed = found.values**2 / np.diag(found.bread)
        kept = [c for i, c in enumerate(kept) if i != int(np.argmin(missed))]
    return kept


def _held_out(evidence: Evidence, kept: list[int], weights: Array) -> float:
    tuning = Tuning(evidence)
    try:
        return float(tuning.squares(tuning.everything, 1.0 / weights, columns=kept).sum())
    except IdentificationError:  # a fold that alone shows a value, or a condition that only a QR can take
        part = evidence.chosen(kept)
        values = least_squares(part, sigma=1.0 / weights).values
        return float(held_out_squares(part, 1.0 / weights, values).sum())
