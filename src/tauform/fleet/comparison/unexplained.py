"""Unexplained: torques of a unit that no values explain, and far more of them than other units show.

Values that deviate are found by comparing values. Ripple, backlash, a spring or a worn sensor are none of the model's
columns: they stay in the residuals, whatever the values are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tauform.arrays import Array
from tauform.fleet.comparison.reference import FEWEST_UNITS, MEDIAN_EFFICIENCY
from tauform.fleet.evidence.summary import UnitSummary

# What is left is worth a word from so many times the usual on, and from this share of the joint's torque.
LEAST_TIMES, LEAST_SHARE = 3.0, 0.005
# Healthy units scatter by so much (of a logarithm) before any is seen, which counts like so many units.
LIKELY_SCATTER, PRIOR_FREEDOM = 0.15, 4.0
# One recording tells little: a model is wrong in each motion anew, tenfold in one of some hundred. Medians do not mind.
FEWEST_RECORDINGS = 3


@dataclass(frozen=True)
class Unexplained:
    """Torques of a joint that no values explain.

    Attributes:
        joint: of the robot, counted from 0.
        share: of them, RMS over RMS torque of the joint.
        times: how many times as much as the median unit.
        p_value: probability that a healthy unit shows as much at any joint.
    """

    joint: int
    share: float
    times: float
    p_value: float

    def __str__(self) -> str:
        of = f"of the torque of joint {self.joint + 1}"
        return f"no values explain {100 * self.share:.2g} % {of}, {self.times:.1f} times the usual"


def unexplained(units: Sequence[UnitSummary]) -> list[Unexplained | None]:
    """The joint of each unit that shows far more than is usual; None for units that show no such joint."""
    found: list[Unexplained | None] = [None] * len(units)
    places = [k for k, unit in enumerate(units) if unit.n_windows >= FEWEST_RECORDINGS]
    if len(places) < FEWEST_UNITS:
        return found
    left = np.array([np.median(units[k].left, axis=0) for k in places])
    share = left / np.maximum([units[k].torque for k in places], 1e-300)
    # Who moves faster leaves more, who moves less leaves a larger share: a fault is both.
    sides = _beside(left), _beside(share)
    times, chances = np.exp(np.minimum(*sides)), np.maximum(*map(_chances, sides))
    grave = (times >= LEAST_TIMES) & (share >= LEAST_SHARE)
    for row, k in enumerate(places):
        if grave[row].any():
            j = int(np.argmax(np.where(grave[row], times[row], 0.0)))
            # Any joint could have shown it (Bonferroni).
            p_value = min(1.0, grave.shape[1] * float(chances[row, j]))
            found[k] = Unexplained(j, float(share[row, j]), float(times[row, j]), p_value)
    return found


def _beside(sizes: Array) -> Array:
    """(N, n) logarithms of sizes, beside those of the median unit."""
    logs = np.log(np.maximum(sizes, 1e-300))
    return np.asarray(logs - np.median(logs, axis=0))


def _chances(logs: Array) -> Array:
    """(N, n) one-sided probabilities by Student's distribution, of a scatter that the quieter units tell."""
    count = len(logs)
    # Faults only add: the lower half of the units shows how far healthy ones scatter, about the median at 0.
    own = np.quantile(-logs, 0.75, axis=0) / special.ndtri(0.75)
    freedom = MEDIAN_EFFICIENCY * (count - 1) / 2
    # Few units say little about a scatter: what is expected counts beside what is seen.
    variance = (PRIOR_FREEDOM * LIKELY_SCATTER**2 + freedom * own**2) / (PRIOR_FREEDOM + freedom)
    return np.asarray(special.stdtr(PRIOR_FREEDOM + freedom, -logs / np.sqrt(variance * (1 + 1 / count))))
