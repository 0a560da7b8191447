"""Uniform segments: repeated samples dropped, gaps cut, irregular time stamps resampled."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.errors import RecordingError
from tauform.identification.recording import FEWEST_SAMPLES, Recording

# A step longer than this many typical ones is a gap: nothing is interpolated across it.
GAP = 20.0
# Steps within this fraction of the typical one count as uniform.
UNIFORM = 0.02


@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of a recording at a constant rate.

    Attributes:
        t: (N,) time [s].
        rate: samples per second.
        q, tau, qd, qdd, reference: (N, n), as in Recording.
        recording: index of the recording it was cut from.
    """

    t: Array
    rate: float
    q: Array
    tau: Array
    qd: Array | None
    qdd: Array | None
    recording: int = 0
    reference: Array | None = None

    @property
    def n_samples(self) -> int:
        """Samples in the segment."""
        return len(self.t)


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments of one recording and what had to be done to get them, in words."""

    segments: tuple[Segment, ...]
    findings: tuple[str, ...]


def uniform_segments(recording: Recording, index: int = 0) -> Segments:
    """Cut a recording at its gaps and bring each part to a constant rate.

    Raises:
        RecordingError: gaps leave no part long enough.
    """
    rate = recording.rate
    fresh, findings = _fresh_samples(recording)
    t = recording.t if fresh is None else recording.t[fresh]
    steps = np.diff(t)
    cuts = np.flatnonzero(steps > GAP / rate) + 1
    if len(cuts):
        lost = float((steps[cuts - 1]).sum())
        findings.append(f"{len(cuts)} gaps, {lost:.2f} s in all, split it into {len(cuts) + 1} parts")
    inner = np.delete(steps, cuts - 1) if len(cuts) else steps
    regular = bool(len(inner)) and bool(np.abs(inner * rate - 1).max() <= UNIFORM)
    if not regular:
        findings.append(
            f"time stamps are irregular ({1e3 * inner.min():.2f} to {1e3 * inner.max():.2f} ms); resampled at "
            f"{rate:.4g} Hz"
        )
    edges = [0, *cuts.tolist(), len(t)]
    parts = [
        _segment(recording, fresh, slice(first, last), rate, regular, index)
        for first, last in itertools.pairwise(edges)
        if last - first >= FEWEST_SAMPLES
    ]
    if not parts:
        raise RecordingError(
            f"{recording.name}: gaps leave no stretch of {FEWEST_SAMPLES} samples; check the time stamps"
        )
    return Segments(tuple(parts), tuple(f"{recording.name}: {finding}" for finding in findings))


def _fresh_samples(recording: Recording) -> tuple[AnyArray | None, list[str]]:
    """Mask of the samples that bring something new, or None where all do."""
    steps = np.diff(recording.t)
    repeated = np.concatenate([[False], steps <= 0])
    findings = []
    if repeated.any():
        findings.append(f"{int(repeated.sum())} samples repeat a time stamp; dropped")
    # A logger that outruns its source writes the same sample again, under a new time stamp.
    if not isinstance(recording.q, np.memmap):
        same = np.concatenate(
            [
                [False],
                (np.diff(recording.q, axis=0) == 0).all(axis=1) & (np.diff(recording.tau, axis=0) == 0).all(axis=1),
            ]
        )
        stale = same & ~repeated
        # At rest a quantised sensor may hold still; only scattered repeats are the logger's.
        if 0 < stale.sum() < 0.3 * len(stale) and np.abs(steps * recording.rate - 1).max(initial=0.0) > UNIFORM:
            findings.append(f"{int(stale.sum())} samples are copies of the one before; dropped")
            repeated |= stale
    return (~repeated if repeated.any() else None), findings


def _segment(
    recording: Recording, fresh: AnyArray | None, part: slice, rate: float, regular: bool, index: int
) -> Segment:
    def cut(values: Array) -> Array:
        return (values if fresh is None else values[fresh])[part]

    t = cut(recording.t)
    grid = t if regular else np.arange(t[0], t[-1], 1.0 / rate)
    fields: dict[str, Array | None] = {}
    for name in ("q", "tau", "qd", "qdd", "reference"):
        values = getattr(recording, name)
        fields[name] = None if values is None else cut(values) if regular else resampled(grid, t, cut(values))
    if regular and len(t) > 1:
        rate = (len(t) - 1) / float(t[-1] - t[0])
    return Segment(t=grid, rate=rate, recording=index, **fields)  # type: ignore[arg-type]


def resampled(grid: Array, t: Array, values: Array) -> Array:
    """Columns interpolated linearly at other times."""
    return np.column_stack([np.interp(grid, t, column) for column in values.T])
