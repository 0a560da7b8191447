"""Noise of a fleet's recordings: what is left of each one's torques by its own values, not by those of all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.fleet.evidence.faults import faults_of, moving_of
from tauform.fleet.evidence.own import Own
from tauform.identification.fit import Fit
from tauform.identification.verdict.validate import inflation_of_filters


@dataclass(frozen=True, eq=False)
class Colour:
    """What the colour of the residuals does to variances, beside their usual inflation: factors.

    Noise that is correlated over a second is felt by an offset, which is as slow, and not by friction, which changes
    its sign with the motion.

    Attributes:
        of_values: (p,) of values that are fitted all together.
        moving: columns of friction and offsets.
        of_moving: of these, fitted alone.
        of_faults: of the sizes of all faults, in the order of `faults_of`.
        slow: (n,) inflation of the joints' rows over that of noise which is white before the filters.
        of_gains, of_load: of those among them that are series over time.
    """

    of_values: Array
    moving: tuple[int, ...]
    of_moving: Array
    of_faults: Array
    of_gains: Array
    of_load: Array
    slow: Array


def noise_of(fit: Fit, own: Sequence[Own]) -> tuple[Array, Array, Colour]:
    """(n,) standard deviation of the residuals, what their correlation in time adds to a variance, and their colour.

    Medians over recordings, each beside its own values. Units differ, some are faulty. Beside pooled values all of that
    would pass for noise, and for slow noise at that.
    """
    assert fit.source is not None
    faults, moving = faults_of(fit.source.design, fit.values), moving_of(fit.source.design)
    if own:
        sigma, inflation, of_values, of_moving, of_faults = (
            np.median([getattr(one, name) for one in own], axis=0)
            for name in ("sigma", "inflation", "of_values", "of_moving", "of_faults")
        )
    else:
        sigma, inflation = fit.sigma, np.ones_like(fit.sigma) if fit.inflation is None else fit.inflation
        of_values, of_moving, of_faults = np.ones(len(fit.values)), np.ones(len(moving)), np.ones(len(faults))
    kinds = np.array([fault.name for fault in faults])
    # A tool on the base carries nothing: a series of zeros stands for it.
    load = of_faults[kinds == "payload"] if "payload" in kinds else np.ones(1)
    slow = np.maximum(inflation / inflation_of_filters(fit.source.filters, fit.source.segments[0].rate), 1.0)
    return sigma, inflation, Colour(of_values, moving, of_moving, of_faults, of_faults[kinds == "gain"], load, slow)
