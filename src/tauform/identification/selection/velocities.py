"""Measured velocities that lag behind the positions: drives filter them, and some logs hold nothing else.

A first-order lag of T seconds makes of the rate of the position qd a velocity v with

    T v' + v = qd,

so that qd - v is T v'. The lag is found by least squares, and held-out stretches of time choose between measured and
differentiated velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.identification.recording.segments import Segment
from tauform.identification.regression.choices import cost_of_choice
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.selection.chosen import few_stretches, unseen_squares
from tauform.identification.selection.held_out import HeldOut
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import Filters, grid_of

# Lags below so many samples are the sampling's own, and below so many radians of the motion's bandwidth do no harm.
MIN_LAG_SAMPLES, MIN_LAG_PHASE = 1.0, 0.02
# Share of the difference between both velocities that a lag must explain.
MIN_EXPLAINED_SHARE = 0.5
MOST_SAMPLES = 50_000


@dataclass(frozen=True, eq=False)
class Velocities:
    """The source with measured velocities, or without them where they lag and held-out stretches prefer that.

    Attributes:
        findings: a sentence where they lag.
        cost: growth of errors on blocks that took no part in the choice.
    """

    source: RowSource
    findings: tuple[str, ...] = ()
    cost: float = 1.0


def settled_velocities(source: RowSource) -> Velocities:
    """Measured velocities, or derivatives of positions where these are better."""
    if any(segment.qd is None for segment in source.segments):
        return Velocities(source)
    lag, amplitude = velocity_lag(source.segments, source.filters, source.smoother)
    if lag == 0.0:
        return Velocities(source)
    derived = replace(source, segments=tuple(replace(s, qd=None, qdd=None) for s in source.segments))
    # Nothing at rest is left out: what creeps differs between both, and one row is compared with itself.
    measured, differentiated = both = [gather(few, few) for few in map(few_stretches, (source, derived))]
    everything = range(len(measured.counts))
    errors = [float(np.sqrt(_left(own, everything))) for own in both]

    def prefers_derived(blocks: Sequence[int]) -> bool:
        return _left(differentiated, blocks) < _left(measured, blocks)

    def squares_left(choosing: Sequence[int], judging: Sequence[int], is_derived: bool) -> float:
        own = differentiated if is_derived else measured
        return _shares(own, judging, unseen_squares(own, choosing, judging, range(own.n_columns)))

    is_derived = prefers_derived(everything)
    cost = cost_of_choice(measured.judges(), is_derived, prefers_derived, squares_left)
    told = _told(lag, amplitude, is_derived, *(f"{100 * error:.2g} %" for error in errors))
    return Velocities(derived if is_derived else source, (told,), cost)


def _told(lag: float, amplitude: float, is_derived: bool, measured: str, derived: str) -> str:
    size = f"with {amplitude:.2g} times the amplitude"
    what = f"measured velocities lag behind the positions by {1e3 * lag:.3g} ms, {size}"
    figures = f"{derived} of the torques unexplained on held-out stretches, measured ones {measured}"
    if is_derived:
        return f"{what}; differentiated positions are taken instead: they leave {figures}"
    return f"{what}; they are kept: differentiated positions leave {figures}"


def _left(evidence: Evidence, blocks: Sequence[int]) -> float:
    """Share of the joints' squares that some blocks leave held out, one by one."""
    held_out, columns = HeldOut(evidence.blocks(blocks)), range(evidence.n_columns)
    held_out.settle_weights(columns)
    return _shares(evidence, blocks, held_out.squares(columns).sum(axis=0))


def _shares(evidence: Evidence, blocks: Sequence[int], squares: Array) -> float:
    """Mean over the joints of squares (n,) relative to their torque's."""
    return float((squares / np.maximum(evidence.blocks(blocks).torque_squares, 1e-300)).mean())


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
