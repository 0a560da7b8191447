"""Noise of a fleet's recordings: what is left of each one's torques by its own values, not by those of all together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.errors import IdentificationError
from tauform.identification.fit import Fit
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.evidence import gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.verdict.validate import inflation_of, inflation_of_filters, residuals_of

# In multiples of a value or its deviation: a prior that wide decides nothing that logs say anything about.
WIDE = 100.0


def wide_prior(values: Array, deviations: Array) -> tuple[Array, Array]:
    """Mean and deviation of a prior that only closes what a motion leaves open."""
    return values, np.maximum(WIDE * np.abs(values), WIDE * deviations)


@on_one_thread
def noise_of(fit: Fit) -> tuple[Array, Array]:
    """(n,) standard deviation of the residuals, and what their correlation in time adds to a variance: medians.

    Units differ, some are faulty. Beside pooled values all of that would pass for noise, and for slow noise at that.
    """
    assert fit.source is not None
    found = []
    for recording in sorted({segment.recording for segment in fit.source.segments}):
        own = tuple(segment for segment in fit.source.segments if segment.recording == recording)
        try:
            found.append(_of_recording(fit, replace(fit.source, segments=own, silent=())))
        # Too short alone for the filters to settle.
        except IdentificationError:
            continue
    if not found:
        return fit.sigma, np.ones_like(fit.sigma) if fit.inflation is None else fit.inflation
    sigma, inflation = np.median(np.array(found), axis=0)
    return sigma, inflation


def _of_recording(fit: Fit, source: RowSource) -> tuple[Array, Array]:
    rows, rate = source.kept(), source.segments[0].rate
    evidence = gather(rows, source)
    values = least_squares(evidence, prior=wide_prior(fit.values, fit.deviations))
    residuals = residuals_of(values.values, rows, rate)
    return values.sigma, inflation_of(residuals, inflation_of_filters(source.filters, rate))
