"""Columns that mark rows: digital inputs and phases of a program, with the trigger that keeps the motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tauform.arrays import Array
from tauform.wording import argument

# A state takes few values, and keeps each for a while.
MOST_VALUES, MOST_CHANGES = 8, 50


def is_state(values: Array) -> bool:
    """Whether numbers are whole, few and seldom change."""
    if not len(values) or not np.isfinite(values).all() or (values != np.round(values)).any():
        return False
    return 2 <= len(np.unique(values)) <= MOST_VALUES and int((np.diff(values) != 0).sum()) <= MOST_CHANGES


def marked_rows(source: Mapping[str, Array], unknown: Sequence[str], positions: Sequence[str]) -> list[str]:
    """Sentences on states among columns that hold no field, each with the trigger that keeps most motion."""
    q = [source[name] for name in positions if name in source]
    speeds = np.abs(np.gradient(np.array(q), axis=1)).sum(axis=0) if q and len(q[0]) > 1 else None
    found = []
    for name in (name for name in unknown if name in source and is_state(source[name])):
        values = np.unique(source[name])
        # Without positions the last state is as good a guess as any.
        moved = [0.0 if speeds is None else float(speeds[source[name] == value].sum()) for value in values]
        most = float(values[int(np.argmax(moved))]) if speeds is not None else float(values[-1])
        trigger = name if list(values) == [0.0, 1.0] and most == 1.0 else f"{name}={most:g}"
        listed = ", ".join(f"{value:g}" for value in values)
        found.append(f"{name} marks rows by {listed}: keep those of the motion with {argument('trigger', trigger)}")
    return found
