"""Refits of fits whose friction grows with the torque that a joint carries.

What joints carry follows from the links, and other links carry other torques: rows and links are found in turn, so that
what is judged is what the refitted robot does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from tauform.description.robot import Robot
from tauform.identification.fitted.model import Fitted, Unreduced
from tauform.identification.regression.colour import coloured
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.evidence import gather
from tauform.identification.regression.outliers import robust
from tauform.identification.signals.filters import correlation_of_filters

# Passes in which the torque that a joint carries and its friction settle: each gains about a digit.
MOST_PASSES = 25
# Changes of the values that settle it: of their standard deviations, and of the largest value.
MAX_SETTLED_SHARE_OF_DEVIATION, MAX_SETTLED_SHARE = 1e-3, 1e-12


def settled_load(estimated: Callable[[Robot | None], Fitted]) -> Fitted:
    """A fit with friction by load, found in turn with what joints carry.

    Args:
        estimated: gives the fit where a robot's torque is carried; for None the fit to begin with.
    """
    fit = estimated(None)
    for _ in range(MOST_PASSES):
        before, fit = fit, estimated(fit.carrier)
        # Other terms were chosen: their values cannot be compared, one more pass decides.
        if before.names == fit.names:
            allowed = MAX_SETTLED_SHARE_OF_DEVIATION * fit.deviations + MAX_SETTLED_SHARE * np.abs(fit.values).max()
            if (np.abs(fit.values - before.values) <= allowed).all():
                break
    return fit


def with_own_load(fit: Fitted, refit: Callable[[Fitted], Fitted]) -> Fitted:
    """A refit whose friction by load is that of its own links."""
    if not fit.design.is_loaded:
        return refit(fit)
    if fit.source is None:  # loaded from a file, without its recordings
        note = "friction by load was refitted with the torque that the links before it carried"
        return refit(fit).with_findings(note)
    return settled_load(lambda carrier: refit(fit if carrier is None else regathered(fit, carrier)))


def regathered(fit: Fitted, carrier: Robot) -> Fitted:
    """The fit on rows where joints carry the torque of these links."""
    assert fit.source is not None
    design = (fit.unreduced.design if fit.unreduced else fit.design).carried_by(carrier)
    source = replace(fit.source, design=design)
    everything = replace(source, segments=fit.segments)
    rows = source.kept()
    # Of long recordings only stretches are shown; evidence is gathered from everything.
    all_rows = rows if fit.segments is source.segments else everything
    evidence = gather(all_rows, everything)
    weights = fit.weights if fit.weights is not None else 1.0 / fit.sigma
    found = least_squares(evidence, sigma=1.0 / weights)
    if fit.evidence.counted is not None:
        found = robust(found, evidence, all_rows)
        evidence = replace(evidence, counted=found.counted)
    if fit.evidence.coloured is not None:
        of_filters = correlation_of_filters(source.filters, source.segments[0].rate)
        evidence = coloured(evidence, found, rows, of_filters)
    if fit.unreduced is None:
        return replace(fit, design=design, source=source, rows=rows, evidence=evidence)
    unreduced = Unreduced(design, evidence, rows)
    columns, own = unreduced.places(fit.names), fit.design.carried_by(carrier)
    return replace(
        fit,
        design=own,
        source=source,
        rows=unreduced.rows_of(columns, own),
        evidence=evidence.chosen(columns),
        unreduced=unreduced,
    )
