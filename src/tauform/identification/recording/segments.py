"""Uniform segments: repeated samples dropped, gaps cut, irregular time stamps resampled."""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.errors import RecordingError
from tauform.identification.recording.pauses import DEVIATIONS_OF_SPEED, find_creeping, find_pauses, speed_noise
from tauform.identification.recording.recording import (
    FEWEST_SAMPLES,
    FIELDS,
    SAMPLES_PER_PIECE,
    Recording,
    pieces,
    steps_of,
)
from tauform.identification.recording.stored import collected, is_lazy
from tauform.messages import counted
from tauform.wording import argument

# A step longer than this many typical ones is a gap: nothing is interpolated across it.
MIN_GAP_STEPS = 20.0
# Steps within this fraction of the typical one count as uniform.
MAX_STEP_DEVIATION = 0.02
# More copies than this share of all samples are those of a robot at rest.
MAX_COPIED_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class Segment:
    """A stretch of a recording at a constant rate.

    Attributes:
        t: (N,) time [s].
        rate: samples per second.
        q, tau, qd, qdd, reference, temperature: (N, n), as in Recording.
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
    temperature: Array | None = None
    # By cut-off: it takes a look at every sample, and segments are asked piece by piece.
    _creeping: dict[float, tuple[Array, ...]] = field(init=False, repr=False, default_factory=dict)

    @property
    def n_samples(self) -> int:
        """Samples in the segment."""
        return len(self.t)

    @cached_property
    def pauses(self) -> tuple[Array, ...]:
        """(k, 2) for each joint: the samples between which it stands."""
        return find_pauses(self.q, self.rate)

    def creeping(self, cutoff: float) -> tuple[Array, ...]:
        """(k, 2) for each joint: the samples between which noise behind a cut-off [Hz] hides which way it moves."""
        if cutoff not in self._creeping:
            noise = speed_noise(self.q, self.qd, self.rate, cutoff)
            self._creeping[cutoff] = find_creeping(self.q, self.rate, DEVIATIONS_OF_SPEED * noise)
        return self._creeping[cutoff]

    def temperatures(self, part: slice, stride: int = 1) -> Array | None:
        """Every stride-th of some samples; temperatures change too slowly to need a filter."""
        return None if self.temperature is None else np.asarray(self.temperature[part])[::stride]


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
    findings: list[str] = []
    columns = {name: getattr(recording, name) for name in FIELDS if getattr(recording, name) is not None}
    # Copies first: a logger that runs faster than the controller repeats samples under new stamps.
    fresh = _fresh_samples(recording, findings)
    if fresh is not None:
        columns = {name: _only(values, fresh) for name, values in columns.items()}
    cuts, shortest, longest, lost = _steps(columns["t"], MIN_GAP_STEPS / rate)
    if cuts:
        findings.append(f"{counted(len(cuts), 'gap')}, {lost:.2f} s in all, split it into {len(cuts) + 1} parts")
    # Both ends of the range count: one long step is as uneven as one short one.
    regular = max(1 - shortest * rate, longest * rate - 1) <= MAX_STEP_DEVIATION
    stretches = [
        {name: values[first:last] for name, values in columns.items()}
        for first, last in itertools.pairwise([0, *cuts, len(columns["t"])])
        if last - first >= FEWEST_SAMPLES
    ]
    if not stretches:
        raise RecordingError(
            f"{recording.name}: gaps leave no stretch of {FEWEST_SAMPLES} samples; check the time stamps"
        )
    # All stretches or none: one recording has one clock.
    even = regular or all(_is_even(stretch["t"], stretch["q"]) for stretch in stretches)
    if not regular:
        done = "but the positions keep an even rate, which is taken" if even else f"resampled at {rate:.4g} Hz"
        findings.append(f"time stamps are irregular ({1e3 * shortest:.2f} to {1e3 * longest:.2f} ms); {done}")
    parts = (_segment(stretch, rate, regular, even, index) for stretch in stretches)
    return Segments(tuple(parts), tuple(f"{recording.name}: {finding}" for finding in findings))


def _is_even(t: Array, q: Array) -> bool:
    """Whether only the time stamps scatter, while samples were taken at an even rate.

    Then a position lies between its neighbours where the even rate says, rather than where the stamps say.
    """
    # The mean step over the stretch: jitter of single stamps averages out.
    step = float(t[-1] - t[0]) / (len(t) - 1)
    # Positions lie on smoother curves over the clock that is right: that of even steps, or the stamps.
    squares = np.zeros(2)
    for first in range(0, len(t) - 2, SAMPLES_PER_PIECE):
        part = slice(first, first + SAMPLES_PER_PIECE + 2)
        stamps, positions = np.asarray(t[part]), np.asarray(q[part])
        clock = float(t[0]) + step * np.arange(first, first + len(stamps))
        if np.abs(stamps - clock).max() > step:
            return False  # samples are missing, or the rate changes
        for k, times in enumerate((clock, stamps)):
            share = ((times[1:-1] - times[:-2]) / (times[2:] - times[:-2]))[:, None]
            between = positions[:-2] + share * (positions[2:] - positions[:-2])
            squares[k] += ((positions[1:-1] - between) ** 2).sum()
    # Half: near equality the stamps are trusted.
    return bool(squares[0] < 0.5 * squares[1])


def _steps(t: Array, gap: float) -> tuple[list[int], float, float, float]:
    """Samples that follow a gap, the shortest and the longest of the other steps, and the gaps' sum."""
    cuts: list[int] = []
    shortest, longest, lost = np.inf, 0.0, 0.0
    for first, steps in steps_of(t):
        far = steps > gap
        cuts += (first + 1 + np.flatnonzero(far)).tolist()
        lost += float(steps[far].sum())
        shortest = min(shortest, float(steps[~far].min(initial=np.inf)))
        longest = max(longest, float(steps[~far].max(initial=0.0)))
    return cuts, shortest, longest, lost


def _fresh_samples(recording: Recording, findings: list[str]) -> AnyArray | None:
    """Mask of the samples that bring something new, or None where all do."""
    uneven, n_repeated = 0.0, 0
    for _, steps in steps_of(recording.t):
        uneven = max(uneven, float(np.abs(steps * recording.rate - 1).max()))
        n_repeated += int((steps <= 0).sum())
    # An even clock has no copies to look for.
    if uneven <= MAX_STEP_DEVIATION:
        return None
    fresh, n_copies = np.ones(recording.n_samples, dtype=bool), 0
    for own, repeated, copied in _repeats(recording):
        fresh[own] = ~repeated
        n_copies += int((copied & ~repeated).sum())
    if n_repeated:
        findings.append(f"{counted(n_repeated, 'sample')} with a time stamp that was there before; dropped")
    # At rest a quantised sensor may hold still; only scattered copies, under new time stamps, are the logger's.
    if 0 < n_copies < MAX_COPIED_SHARE * recording.n_samples:
        findings.append(f"{counted(n_copies, 'sample')} that copy the one before; dropped")
        for own, _, copied in _repeats(recording):
            fresh[own] &= ~copied
    return None if fresh.all() else fresh


def _repeats(recording: Recording) -> Iterator[tuple[slice, AnyArray, AnyArray]]:
    """(samples, which repeat a time stamp, which repeat positions and torques), piece by piece."""
    for first, steps in steps_of(recording.t):
        part = slice(first, first + len(steps) + 1)
        same: list[AnyArray] = [(np.diff(np.asarray(x[part]), axis=0) == 0) for x in (recording.q, recording.tau)]
        yield slice(first + 1, part.stop), steps <= 0, np.asarray(np.concatenate(same, axis=1).all(axis=1))


def _only(values: Array, wanted: AnyArray) -> Array:
    kept: Array = collected((np.asarray(values[p])[wanted[p]] for p, _ in pieces(len(values))), is_lazy(values))
    return kept


def _segment(columns: dict[str, Array], rate: float, regular: bool, even: bool, index: int) -> Segment:
    t = columns["t"]
    # The mean rate: single stamps scatter, their ends hardly do.
    if even:
        rate = (len(t) - 1) / float(t[-1] - t[0])
    if not regular:
        # Samples that were even keep their number; only their stamps are replaced.
        count = len(t) if even else int(np.ceil(float(t[-1] - t[0]) * rate))
        grid = collected((t[0] + np.arange(p.start, p.stop) / rate for p, _ in pieces(count)), is_lazy(t))
        others = {name: values for name, values in columns.items() if name != "t"}
        columns = {"t": grid, **(others if even else {k: resampled(grid, t, x) for k, x in others.items()})}
    return Segment(**{"qd": None, "qdd": None, **columns}, rate=rate, recording=index)  # type: ignore[arg-type]


def resampled(times: Array, t: Array, values: Array, later: float = 0.0) -> Array:
    """Columns interpolated linearly at other times, or some seconds later."""

    def interpolated() -> Iterator[Array]:
        for part, _ in pieces(len(times)):
            wanted = np.asarray(times[part]) + later
            # Only the samples around: what stays in a file is read piece by piece.
            near = slice(max(0, bisect_right(t, wanted[0]) - 1), bisect_left(t, wanted[-1]) + 1)
            known, columns = np.asarray(t[near]), np.asarray(values[near]).T
            yield np.column_stack([np.interp(wanted, known, column) for column in columns])

    found: Array = collected(interpolated(), is_lazy(values))
    return found


def shifted(segment: Segment, delay: float) -> Segment:
    """The segment with its torques moved back by a delay [s].

    Raises:
        RecordingError: the delay leaves nothing of it.
    """
    if delay == 0.0:
        return segment
    t = segment.t
    # Only where torques exist after the shift: nothing is extrapolated.
    inside = slice(bisect_left(t, t[0] - delay), bisect_right(t, t[-1] - delay))
    columns = {name: getattr(segment, name) for name in FIELDS if getattr(segment, name) is not None}
    columns = {name: values[inside] for name, values in columns.items()}
    if not abs(delay) < np.inf or len(columns["t"]) < FEWEST_SAMPLES:
        raise RecordingError(
            f"{argument('delay', float(delay))} leaves nothing of a stretch of {float(t[-1] - t[0]):.3g} s",
            argument="delay",
            value=delay,
            remedy="give it in seconds",
        )
    return replace(segment, **{**columns, "tau": resampled(columns["t"], t, segment.tau, delay)})
