"""Measured velocities that lag behind the positions: drives filter them, and some logs hold nothing else.

A first-order lag of T seconds makes of the rate of the position qd a velocity v with

    T v' + v = qd,

so that qd - v is T v'. The lag is found by least squares, and held-out stretches of time choose between measured and
differentiated velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.identification.diagnosis.explained import Explained
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.recording.segments import Segment
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import Filters, grid_of

# Lags below so many samples are the sampling's own, and below so many radians of the motion's bandwidth do no harm.
MIN_LAG_SAMPLES, MIN_LAG_PHASE = 1.0, 0.02
# Share of the difference between both velocities that a lag must explain.
MIN_EXPLAINED_SHARE = 0.5
MOST_SAMPLES = 50_000


def settled_velocities(source: RowSource) -> tuple[RowSource, list[str]]:
    """The source with measured velocities, or without them where they lag and held-out stretches prefer that."""
    if any(segment.qd is None for segment in source.segments):
        return source, []
    lag, amplitude = velocity_lag(source.segments, source.filters, source.smoother)
    if lag == 0.0:
        return source, []
    derived = replace(source, segments=tuple(replace(s, qd=None, qdd=None) for s in source.segments))
    errors = [_error(x) for x in (source, derived)]
    told = (
        f"measured velocities lag behind the positions by {1e3 * lag:.3g} ms, with {amplitude:.2g} times the amplitude"
    )
    shares = [f"{100 * error:.2g} %" for error in errors]
    figures = f"{shares[1]} of the torques unexplained on held-out stretches, measured ones {shares[0]}"
    if errors[1] < errors[0]:
        return derived, [f"{told}; differentiated positions are taken instead: they leave {figures}"]
    return source, [f"{told}; they are kept: differentiated positions leave {figures}"]


def velocity_lag(segments: Sequence[Segment], filters: Filters | None, smoother: Smoother) -> tuple[float, float]:
    """Seconds by which measured velocities lag, and their amplitude relative to that of the differentiated positions.

    Zero and one where they do not.
    """
    top = both = squares = misses = sizes = 0.0
    rate = min(segment.rate for segment in segments)
    for segment in segments:
        part = slice(0, min(segment.n_samples, MOST_SAMPLES))
        grid = grid_of(segment.rate, filters)
        assert segment.qd is not None
        q, qd = (np.asarray(x[part], dtype=np.float64) for x in (segment.q, segment.qd))
        _, rates = smoother.derived(q, 2, segment.rate, filters, grid.states)
        measured, slopes = smoother.derived(qd, 2, segment.rate, filters, grid.states)
        inner = grid.settled(len(rates))
        rates, measured, slopes = (x[inner] for x in (rates, measured, slopes))
        # Joints count by their own size: a wrist turns faster than a shoulder.
        scale = 1.0 / np.maximum(rates.std(axis=0), 1e-12)
        rates, measured, slopes = rates * scale, measured * scale, slopes * scale
        missing = rates - measured
        top, both = top + float((missing * slopes).sum()), both + float((slopes**2).sum())
        misses += float((missing**2).sum())
        sizes, squares = sizes + float((measured**2).sum()), squares + float((rates**2).sum())
    lag = top / max(both, 1e-300)
    phase = lag * np.sqrt(both / max(sizes, 1e-300))  # lag times the RMS frequency [rad]
    if lag * rate < MIN_LAG_SAMPLES or phase < MIN_LAG_PHASE or top * lag < MIN_EXPLAINED_SHARE * misses:
        return 0.0, 1.0
    return float(lag), float(np.sqrt(sizes / max(squares, 1e-300)))


def _error(source: RowSource) -> float:
    left = Explained(source.design, sampled(source)).held_out()
    return float(np.sqrt(left.mean()))
