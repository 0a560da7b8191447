"""Changes over time are as rare as stated where the model, not noise, makes recordings differ."""

from __future__ import annotations

import numpy as np
import pytest

from tauform.fleet.evidence.courses import MODEL_FREEDOM, heavy_tailed
from tauform.fleet.evidence.trends import FALSE_ALARM, Trend, changes_of

FLEETS, SERIES, WINDOWS = 200, 60, 4


@pytest.mark.parametrize("of_noise", [1.0, 2.0, 4.0])
def test_recordings_that_the_model_fits_badly_are_no_change(of_noise: float) -> None:
    """Of the variance 1 / of_noise is noise; the rest is heavy-tailed, as what a model does wrong in few moves is."""
    rng = np.random.default_rng(0)
    spread = np.sqrt(1 - 2 / MODEL_FREEDOM)
    size = FLEETS, SERIES, WINDOWS
    x = np.sqrt(1 / of_noise) * rng.normal(size=size)
    x += np.sqrt(1 - 1 / of_noise) * spread * rng.standard_t(MODEL_FREEDOM, size=size)
    start, ones = np.arange(WINDOWS) * 86400.0, np.ones(WINDOWS)

    def alarms(tails: float) -> int:
        fleets = ([Trend(f"U{k}", "Fo_1", start, own, ones, tails) for k, own in enumerate(fleet)] for fleet in x)
        return sum(bool(changes_of(series, SERIES)) for series in fleets)

    expected = FLEETS * FALSE_ALARM
    assert alarms(float(heavy_tailed(of_noise))) <= expected + 3 * np.sqrt(expected)
    if of_noise == 4.0:
        assert alarms(np.inf) > 5 * expected


def test_noise_alone_is_normal() -> None:
    assert heavy_tailed(1.0) >= 1e6
    assert heavy_tailed(1e9) == pytest.approx(MODEL_FREEDOM)
