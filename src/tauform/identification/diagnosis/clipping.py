"""Torques that end at a limit: of the sensor, of the drive, or of the type that a logger writes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.recording.segments import Segment

# Samples at the largest value that cannot be by chance, how many times those just below it, and how close that is.
FEWEST_CLIPPED, MORE_THAN_BELOW, NEXT_BELOW = 10, 3.0, 0.02
MOST_SAMPLES = 200_000
# Differences that are rounding, relative to the largest value.
MAX_ROUNDING_SHARE = 1e-9


def find_clipping(segments: Sequence[Segment], names: tuple[str, ...]) -> list[Suspicion]:
    """Joints whose torque is often exactly its largest value, more often than just below it."""
    tau = np.concatenate([np.asarray(segment.tau[:MOST_SAMPLES]) for segment in segments])
    said = [f"{name} at {at:.4g} ({count} samples)" for name, column in zip(names, tau.T, strict=True)
            for at, count in _ends(column)]  # fmt: skip
    if not said:
        return []
    what = f"torques are clipped: {', '.join(said)}; what was beyond is not in the log"
    remedy = "record slower or with less load, or widen the range of the sensor or log; clipped torques bias the values"
    return [Suspicion(what, remedy, SPOILS, is_cause=False)]


def _ends(column: Array) -> list[tuple[float, int]]:
    """(value, samples) of each end of a column's range that it is cut off at."""
    found = []
    # A signal that is cut off sits at its end for many samples, with a gap below.
    for end in (float(column.max()), float(column.min())):
        size = max(abs(end), 1e-300)
        away = np.abs(column - end)
        clipped, below = (
            int((away <= MAX_ROUNDING_SHARE * size).sum()),
            int(((away > MAX_ROUNDING_SHARE * size) & (away < NEXT_BELOW * size)).sum()),
        )
        if clipped >= FEWEST_CLIPPED and clipped > MORE_THAN_BELOW * below / max(1, _levels(column, end)):
            found.append((end, clipped))
    return found


def _levels(column: Array, end: float) -> int:
    """Distinct values just below an end: a coarse sensor has few, and as many samples at each."""
    size = max(abs(end), 1e-300)
    near = column[(np.abs(column - end) > MAX_ROUNDING_SHARE * size) & (np.abs(column - end) < NEXT_BELOW * size)]
    return len(np.unique(near))
