"""A few hundred smoothed states and torques of the recordings: enough to tell one explanation from another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.regression.blocks import block_of, spans_of
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.filters import grid_of

# States that decide, and samples that are read from a segment for them.
N_STATES, MOST_SAMPLES = 300, 50_000
# Stretches of time that are held out in turn.
N_FOLDS = 6


@dataclass(frozen=True, eq=False)
class Samples:
    """States and torques of the same bandwidth, spread over the recordings.

    Attributes:
        q, qd, qdd, tau: (N, n).
        recording: (N,) index of the recording.
        judging: (N,) whether a sample lies in a block that judges choices.
    """

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    recording: AnyArray
    judging: AnyArray

    @property
    def choosing(self) -> Samples:
        """Those outside the blocks that judge."""
        kept = ~self.judging
        return Samples(*(x[kept] for x in (self.q, self.qd, self.qdd, self.tau, self.recording, self.judging)))

    @property
    def folds(self) -> AnyArray:
        """(N,) stretch of time that each sample lies in."""
        return np.arange(len(self.tau)) * N_FOLDS // max(1, len(self.tau))


def sampled(source: RowSource, n_states: int = N_STATES) -> Samples:
    """Samples of all segments of a source, about so many."""
    # Both sides as smooth as the torques of the rows: the columns then need no filter.
    filters = None if source.filters is None else replace(source.filters, position=source.filters.torque)
    spans, parts = spans_of(source), []
    is_judging = np.array([span.is_judging for span in spans])
    for index, segment in enumerate(source.segments):
        part = slice(0, min(segment.n_samples, MOST_SAMPLES))
        grid = grid_of(segment.rate, filters)
        q, qd, qdd = source.smoother.states(segment, part, filters, grid.states)
        torque = np.asarray(segment.tau[part], dtype=np.float64)
        tau = source.smoother.derived(torque, 1, segment.rate, filters, grid.states)[0]
        inner = grid.settled(len(q), max(1, -(-len(q) * len(source.segments) // n_states)))
        judging = is_judging[block_of(spans, index, np.asarray(segment.t[part])[:: grid.states][inner])]
        parts.append([*(x[inner] for x in (q, qd, qdd, tau)), np.full(len(judging), segment.recording), judging])
    return Samples(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
