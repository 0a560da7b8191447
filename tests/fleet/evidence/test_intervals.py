"""Intervals over time hold what is true as often as they say, whatever the colour of the noise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import signal

import tauform as tf
from fleet.simulated_fleet import RATE, arm, samples, write

N_UNITS, N_WINDOWS, NOISE = 8, 6, 0.05
# Two-sided, of a normal distribution.
WITHIN_95 = 1.96


def coloured_noise(rng: np.random.Generator, count: int, seconds: float) -> np.ndarray:
    """(count, 2) of unit size, correlated over some seconds."""
    phi = np.exp(-1 / (RATE * seconds)) if seconds else 0.0
    # The first thousand samples settle the process.
    white = rng.normal(size=(count + 1000, 2))
    return np.asarray(signal.lfilter([np.sqrt(1 - phi**2)], [1, -phi], white, axis=0))[1000:]


@pytest.mark.parametrize("seconds", [pytest.param(0.0, marks=pytest.mark.nightly), 0.3, 1.0])
def test_intervals_over_time_hold_the_truth(tmp_path: Path, seconds: float) -> None:
    rng = np.random.default_rng(11)
    units = {f"U{k}": arm(900 + k) for k in range(N_UNITS)}
    for k, (name, unit) in enumerate(units.items()):
        for w in range(N_WINDOWS):
            table = samples(unit, 5000 + 10 * k + w, start=1000.0 * w)
            table[:, 3:5] += NOISE * table[:, 3:5].std(axis=0) * coloured_noise(rng, len(table), seconds)
            write(tmp_path / name / f"{w}.csv", table)
    found = tf.identify_fleet(tf.load("two_link"), tmp_path, workers=0)
    held = []
    for trend in found.trends:
        by_joint = units[trend.unit].layout.by_joint(units[trend.unit].parameters)
        kind, joint = trend.value[:2], int(trend.value[-1]) - 1 if trend.value[-1].isdigit() else 0
        truth = {"Fv": by_joint[joint, 1], "Fc": by_joint[joint, 2], "ga": 1.0}.get(kind, 0.0)
        held.append(np.abs(trend.values - truth) < WITHIN_95 * trend.deviations)
    # Of 528 intervals that share their units' values: 95 % to a few percent.
    assert 0.9 < np.mean(held) < 0.99
    # Slow noise is no change and no fault.
    assert not found.changes
    assert not found.deviating
