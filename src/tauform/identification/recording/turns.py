"""Angles that a logger keeps within one turn, put together again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.recording.stored import collected, is_lazy

# Of a position in radians; degrees would show steps that are no turn, and are left alone.
TURN = 2 * np.pi
SAMPLES_PER_PIECE = 100_000


def unwrapped(q: Array) -> tuple[Array, AnyArray]:
    """(N, n) positions without their jumps, and (n,) how many there were.

    A step between neighbouring samples is a jump if it is a turn, give or take a quarter. Joints with steps that are
    neither that nor less than a quarter are left as they are: they hold something else, such as degrees.
    """
    jumps, strange = np.zeros(q.shape[1], dtype=int), np.zeros(q.shape[1], dtype=bool)
    for _, steps in _steps(q):
        turns = np.round(steps / TURN)
        jumps += (np.abs(turns) == 1).sum(axis=0)
        # Steps of a quarter turn and more that are no turn: these are not radians.
        strange |= ((np.abs(steps - TURN * turns) > TURN / 4) | (np.abs(turns) > 1)).any(axis=0)
    jumps[strange] = 0
    if not jumps.any():
        return q, jumps

    def mended() -> Iterator[Array]:
        # (n,) turns that all samples before this piece have added.
        behind = np.zeros(q.shape[1])
        for values, steps in _steps(q):
            turns = behind + np.cumsum(np.round(steps / TURN) * (jumps > 0), axis=0)
            yield values - TURN * turns
            behind = turns[-1]

    return collected(mended(), is_lazy(q)), jumps


def _steps(q: Array) -> Iterator[tuple[Array, Array]]:
    """Positions, piece by piece, and the step that leads to each; the first sample is reached by none."""
    last = np.asarray(q[:1])
    for first in range(0, len(q), SAMPLES_PER_PIECE):
        values = np.asarray(q[first : first + SAMPLES_PER_PIECE])
        yield values, np.diff(np.concatenate([last, values]), axis=0)
        last = values[-1:]
