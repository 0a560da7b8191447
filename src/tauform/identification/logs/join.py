"""Parts of one recording, written to files of their own, joined by time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.errors import RecordingError
from tauform.identification.logs.parts import LogPart
from tauform.identification.recording.recording import typical_step
from tauform.identification.recording.segments import MIN_GAP_STEPS, resampled
from tauform.wording import argument

# Time stamps of two files that differ by less, in steps, are the same.
SAME_STAMP = 1e-3


def joined(parts: Sequence[LogPart]) -> dict[str, Any]:
    """Fields of all parts at the time stamps of the positions; others are interpolated, but not across gaps.

    Raises:
        RecordingError: the parts have no time in common, or different lengths where there are no time stamps.
    """
    # Positions are differentiated, so that they keep their own samples; the rest is interpolated.
    base = next(part for part in parts if part.layout.q is not None)
    start = _first_stamp(base)
    # One origin for all files, in each one's own unit of time.
    read = {part: part.arrays(None if start is None else start / part.scales.second) for part in parts}
    if start is None:
        _check_counts(parts, read)
        return {name: values for arrays in read.values() for name, values in arrays.items()}
    # Only the time that every file covers: nothing is extrapolated.
    lo = max(float(arrays["t"][0]) for arrays in read.values())
    hi = min(float(arrays["t"][-1]) for arrays in read.values())
    t = read[base]["t"]
    inside = slice(bisect_left(t, lo), bisect_right(t, hi))
    if not lo < hi:
        _refuse_apart(parts, read, start)
    found = {name: values[inside] for name, values in read[base].items()}
    kept = np.ones(len(found["t"]), dtype=bool)
    for part in parts:
        if part is not base:
            others, near = _at(np.asarray(found["t"]), part, read[part], base)
            found |= others
            kept &= near
    return found if kept.all() else {name: np.asarray(values)[kept] for name, values in found.items()}


def _at(times: Array, part: LogPart, arrays: dict[str, Any], base: LogPart) -> tuple[dict[str, Array], AnyArray]:
    """Fields of a part at other times, and (N,) which of these times lie near its samples."""
    t, fields = np.asarray(arrays["t"]), {name: values for name, values in arrays.items() if name != "t"}
    step = typical_step(t)
    # The same clock: interpolation would only blur.
    if len(t) == len(times) and np.abs(t - times).max() <= SAME_STAMP * step:
        return fields, np.ones(len(times), dtype=bool)
    after = np.clip(np.searchsorted(t, times), 1, len(t) - 1)
    # A sample that was hit exactly needs no neighbour.
    near = (t[after] - t[after - 1] <= MIN_GAP_STEPS * step) | (times == t[after])
    part.own_findings.append(
        f"{part.path.name}: {1 / step:.4g} Hz, interpolated at the time stamps of {base.path.name}"
        + (f"; {int((~near).sum())} samples in its gaps left out" if not near.all() else "")
    )
    return {name: resampled(times, t, values) for name, values in fields.items()}, near


def _first_stamp(part: LogPart) -> float | None:
    """Time of the first sample [s], as the clock of the log counts."""
    if part.layout.t is None:
        return None
    table = next(iter(part.log.chunks([part.layout.t], 1)), None)
    if table is None:
        raise RecordingError(f"{part.path.name}: holds no samples")
    return float(table[part.layout.t][0]) * part.scales.second


def _check_counts(parts: Sequence[LogPart], read: dict[LogPart, dict[str, Any]]) -> None:
    first, *others = parts
    count = len(read[first]["t"])
    for part in others:
        if len(read[part]["t"]) != count:
            raise RecordingError(
                f"{part.path.name} holds {len(read[part]['t'])} samples, {first.path.name} {count}; with "
                f"{argument('rate')} all files must start and end together: cut them, or log a time column",
                argument="rate",
            )


def _refuse_apart(parts: Sequence[LogPart], read: dict[LogPart, dict[str, Any]], start: float) -> None:
    spans = ", ".join(
        f"{part.path.name} covers {start + float(arrays['t'][0]):.10g} to {start + float(arrays['t'][-1]):.10g} s"
        for part, arrays in read.items()
    )
    raise RecordingError(
        f"{'+'.join(part.path.name for part in parts)}: no time in common: {spans}",
        argument="path",
        remedy="bring their time stamps to one clock",
    )
