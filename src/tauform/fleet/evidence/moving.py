"""Moving: whether a recording is of a robot at work; noise at rest would pass for motion without friction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.recording.recording import Recording, pieces

# A recording none of whose joints travels this share of what it travels elsewhere is of a robot at rest.
LEAST_TRAVEL = 0.005
AT_REST = "at rest throughout: no joint moves noticeably; leave it out, or log the robot at work"


def travel_of(positions: AnyArray) -> Array:
    """(n,) distance between the ends of what each joint moved over."""
    # Piece by piece: recordings may be larger than memory.
    parts = (np.asarray(positions[part]) for part, _ in pieces(len(positions)))
    lowest, highest = zip(*((q.min(axis=0), q.max(axis=0)) for q in parts), strict=True)
    return np.asarray(np.max(highest, axis=0) - np.min(lowest, axis=0))


def is_at_rest(travel: Array, usual: Array) -> bool:
    """Whether no joint travels a noticeable share of what is usual."""
    return bool((travel <= LEAST_TRAVEL * usual).all())


def at_work(recordings: Sequence[Recording]) -> list[int]:
    """Places of those that are not at rest, beside the one whose joint travels furthest; all where none moves."""
    travels = [travel_of(recording.q) for recording in recordings]
    return [k for k, own in enumerate(travels) if not is_at_rest(own, np.max(travels, axis=0))] or [
        *range(len(travels))
    ]
