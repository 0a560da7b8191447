"""Positions are filtered less where joints start from rest, and only there."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.identification.recording.segments import Segment
from tauform.identification.signals.filters import POSITION_FACTOR, choose_filters
from verdicts.stands import trapezoids

RATE, SECONDS = 100.0, 120.0


def sensed(q: Array, noise: float, rng: np.random.Generator) -> Segment:
    """A log of encoders that scatter by so much."""
    q = q + noise * rng.normal(size=q.shape)
    return Segment(np.arange(len(q)) / RATE, RATE, q, np.zeros_like(q), None, None)


def smooth(rng: np.random.Generator) -> Array:
    """Five sines of four joints from 20 s down to 4 s."""
    t, k = np.arange(0.0, SECONDS, 1 / RATE)[:, None], np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, 4)) * 0.5 / k[:, None]
    angle = 2 * np.pi / 20.0 * t * k
    return np.asarray(np.sin(angle) @ a + np.cos(angle) @ b)


def test_turns_that_take_long_widen_no_filter() -> None:
    rng = np.random.default_rng(0)
    logs = [sensed(smooth(rng), 2e-5, rng) for _ in range(12)]
    # They pass for pauses now and then.
    assert sum(len(own) for log in logs for own in log.pauses) >= 10
    for log in logs:
        found = choose_filters([log])
        assert found.position == POSITION_FACTOR * found.torque


def test_starts_from_rest_widen_the_filter() -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        quick = trapezoids(4, SECONDS, RATE, rng, (10.0, 15.0), (0.1, 0.1), pause=0.3)[1]
        found = choose_filters([sensed(quick, 2e-6, rng)])
        assert found.position > 2 * POSITION_FACTOR * found.torque
