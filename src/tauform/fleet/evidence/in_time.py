"""In time: recordings of a unit in the order of their clocks, or, where these say nothing, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tauform.fleet.evidence.condensed import Window
from tauform.fleet.sources.keys import FIRST_DATE


def in_time(windows: Sequence[Window]) -> list[Window]:
    """Recordings by date; with a clock that starts anew in each they stand as their names do, each behind the last.

    Steps and drifts need a time that grows: without dates it is that of recorded motion.
    """
    if all(window.start >= FIRST_DATE for window in windows):
        return sorted(windows, key=lambda window: window.start)
    found: list[Window] = []
    for window in windows:
        late = max(0.0, found[-1].end - window.start) if found else 0.0
        found.append(replace(window, start=window.start + late, end=window.end + late))
    return found
