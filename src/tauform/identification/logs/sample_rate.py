"""The sampling rate of a log without time stamps, as its velocities tell it: qd = rate * (q[k + 1] - q[k])."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.identification.logs.arrangements import LEAST_CORRELATION, MOST_UNLIKE, correlations, slopes, smoothed

# Rates that loggers run at [Hz], also by their tens and hundreds; a measured one is taken for one this near.
USUAL_RATES = (1.0, 1.2, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
MOST_OFF = 0.03


def told_rate(positions: Sequence[Array], velocities: Sequence[Array]) -> float | None:
    """Samples per second if velocities are those of the positions, in one unit; None where they do not tell.

    Args:
        positions, velocities: (N,) columns of the joints, in one order.
    """
    if not positions or len(positions) != len(velocities):
        return None
    columns = np.array([*positions, *velocities], dtype=np.float64)
    if not np.isfinite(columns).all():
        return None
    smooth = smoothed(columns)
    if smooth.shape[1] < 2:
        return None
    steps, n = np.gradient(smooth, axis=1), len(positions)
    pairs = [(j, n + j) for j in range(n)]
    tables = (correlations(steps, smooth), slopes(steps, smooth))
    like, factors = (np.array([table[pair] for pair in pairs]) for table in tables)
    # A joint that rests says nothing.
    moving = like != 0
    if not moving.any() or (like[moving] < LEAST_CORRELATION).any():
        return None
    middle = float(np.median(factors[moving]))
    unlike = max(factors[moving].max() / middle, middle / factors[moving].min())
    if factors[moving].min() <= 0 or unlike > MOST_UNLIKE:
        return None
    # Velocities in another unit than the rates of the positions would give a rate that no logger has.
    return usual_rate(middle) if abs(_nearest(middle) / middle - 1) < MOST_OFF else None


def usual_rate(rate: float) -> float:
    """The rate that loggers run at where one is near, else three digits of it."""
    usual = _nearest(rate)
    return usual if abs(usual / rate - 1) < MOST_OFF else float(f"{rate:.3g}")


def _nearest(rate: float) -> float:
    size = 10.0 ** np.floor(np.log10(rate))
    # The first of the next ten too: 997 is 1000.
    return float(min((size * digits for digits in (*USUAL_RATES, 10.0)), key=lambda known: abs(np.log(known / rate))))
