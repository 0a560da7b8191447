"""Scatter: how far estimates of healthy units differ from recording to recording, beside what noise explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import special

from tauform.arrays import Array
from tauform.fleet.comparison.reference import OF_FRICTION
from tauform.fleet.evidence.condensed import Plan
from tauform.fleet.evidence.courses import UNITS_OF_EXPECTATION, USUAL_SHARES
from tauform.fleet.evidence.summary import UnitSummary


def as_they_scatter(units: Sequence[UnitSummary], plan: Plan) -> list[UnitSummary]:
    """The units with covariances as large as their recordings scatter, where that is more than was expected.

    Quantiles over the units, which a few with faults do not move; where these are few, the usual ratio of all values of
    a kind (friction, links) stands in.
    """
    rows = [unit for unit in units if len(unit.scatter)]
    if not rows:
        return list(units)
    own = np.max([_ratios(rows, share) for share in USUAL_SHARES], axis=0)
    is_friction = np.array([kind in OF_FRICTION for kind, _ in plan.source.design.kinds])
    kind = np.where(is_friction, _median(own[is_friction]), _median(own[~is_friction]))
    ratio = (len(rows) * own + UNITS_OF_EXPECTATION * kind) / (len(rows) + UNITS_OF_EXPECTATION)
    # Never below 1: less may be seen by chance.
    factor = np.sqrt(np.maximum(ratio, 1.0))
    return [replace(unit, covariance=unit.covariance * np.outer(factor, factor)) for unit in units]


def _ratios(units: Sequence[UnitSummary], share: float) -> Array:
    """(p,) a quantile of what units show, over that of chi-squared over its degrees of freedom."""
    usual = [float(special.chdtri(unit.n_windows - 1, 1 - share)) / (unit.n_windows - 1) for unit in units]
    return np.asarray(np.quantile([unit.scatter / u for unit, u in zip(units, usual, strict=True)], share, axis=0))


def _median(values: Array) -> float:
    return float(np.median(values)) if len(values) else 1.0
