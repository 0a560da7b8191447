"""Blocks of time: stretches of the recordings that are held out in turn, and those that judge what the others chose."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.regression.rows import RowSource

# Contiguous blocks of time, all recordings together; folds that are held out are made of neighbours.
N_BLOCKS = 8
# Folds of neighbouring blocks that are held out in turn.
N_FOLDS = 8
# Folds that judge a choice which was made without them: one of each half of the motion.
JUDGING_FOLDS = (2, 6)


class Span(NamedTuple):
    """A block of time.

    Attributes:
        segment: index of its segment in the source.
        start, end: of its times [s]; the end is the next one's.
        place: share of all rows before its middle, those at rest included.
    """

    segment: int
    start: float
    end: float
    place: float

    @property
    def fold(self) -> int:
        """The fold that it lies in, by time alone: known before anything is chosen."""
        return min(int(self.place * N_FOLDS), N_FOLDS - 1)

    @property
    def is_judging(self) -> bool:
        """Whether it judges choices."""
        return self.fold in JUDGING_FOLDS


def spans_of(layout: RowSource) -> list[Span]:
    """Contiguous blocks of a source, each from its start up to before its end; each row lies in exactly one."""
    total = max(1, layout.total_rows)
    fewest = 2 if len(layout.segments) == 1 else 1  # one block cannot be held out
    spans: list[Span] = []
    before = 0.0
    for index, segment in enumerate(layout.segments):
        share = layout.n_rows(segment) / total
        count = max(fewest, round(N_BLOCKS * share))
        inner = np.linspace(segment.t[0], segment.t[-1], count + 1)[1:-1].tolist()
        places = (before + share * (np.arange(count) + 0.5) / count).tolist()
        ends = itertools.pairwise([-np.inf, *inner, np.inf])
        spans += [Span(index, start, end, place) for (start, end), place in zip(ends, places, strict=True)]
        before += share
    return spans


def block_of(spans: Sequence[Span], segment: int, t: Array) -> AnyArray:
    """(N,) number of the block that each time of a segment lies in; -1 for none."""
    found = np.full(len(t), -1)
    for block, span in enumerate(spans):
        if span.segment == segment:
            found[(t >= span.start) & (t < span.end)] = block
    return found
