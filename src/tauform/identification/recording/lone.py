"""Single samples far from all others: what a flipped bit, a lost packet or an error code leaves in a log."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.recording.recording import Recording, pieces
from tauform.identification.recording.rest import sampled

# Samples that may be lone ones: that many, or that share of all.
MOST_SAMPLES, MOST_SHARE = 3, 1e-3
# How far from the others a sample cannot be meant, in their range: positions hardly leave theirs, a collision or a
# command to rest makes torques that are many times those of the motion.
RANGES = {"q": 5.0, "qd": 100.0, "tau": 100.0}
# Ranges below these [rad or m, their rates], or this share of the largest one, are noise of a joint that rests.
LEAST_RANGE: Mapping[str, float] = {"q": 0.1, "qd": 0.1, "tau": 0.0}
LEAST_SHARE = 1e-2
MEANINGS = {"q": "position", "qd": "velocity", "tau": "torque"}


@dataclass(frozen=True)
class LoneSample:
    """A sample that cannot be meant.

    Attributes:
        field, joint: q, qd or tau, and the place of its joint.
        sample: its number, from 0.
        value: that it holds.
        low, high: range of the others.
        count: samples like it in that column.
    """

    field: str
    joint: int
    sample: int
    value: float
    low: float
    high: float
    count: int

    @property
    def bound(self) -> float:
        """A number between the others and this one, of few digits; it lies on the same side of zero."""
        near = self.high if self.value > self.high else self.low
        return float(f"{near + 0.5 * (self.value - near):.2g}")


def refuse_lone_samples(recording: Recording, joints: Sequence[str], remedy: Callable[[LoneSample], str]) -> None:
    """Raise RecordingError for a sample that cannot be meant, with what leaves it out."""
    one = next(lone_samples(recording), None)
    if one is None:
        return
    held = recording.columns.get(one.field, "")
    name = f"{held}:{one.joint + 1}" if isinstance(held, str) else held[one.joint]
    column = f" (column {name})" if held else ""
    others = f" and {one.count - 1} more like it" if one.count > 1 else ""
    at = f"sample {one.sample} ({float(recording.t[one.sample]):.6g} s)"
    raise RecordingError(
        f"{recording.name}: the {MEANINGS[one.field]} of joint {joints[one.joint]!r}{column} is {one.value:.6g} at "
        f"{at}{others}, while the others run from {one.low:.4g} to {one.high:.4g}: it cannot be meant",
        argument="trigger",
        remedy=remedy(one),
    )


def lone_samples(recording: Recording) -> Iterator[LoneSample]:
    """The farthest lone sample of each column that has some."""
    for field in RANGES:
        values = getattr(recording, field)
        if values is not None:
            yield from lone_in(values, field)


def lone_in(values: Array, field: str) -> Iterator[LoneSample]:
    """The same of one field, (N, n) with more than a few samples."""
    most = max(MOST_SAMPLES, int(MOST_SHARE * len(values)))
    known = np.sort(sampled(values), axis=0)
    # Without the extremes, so that lone samples do not widen the range that they are compared with.
    low, high = known[most], known[-most - 1]
    size = np.maximum(high - low, max(LEAST_RANGE[field], LEAST_SHARE * float((high - low).max())))
    below, above = low - RANGES[field] * size, high + RANGES[field] * size
    far = np.zeros(values.shape[1], dtype=int)
    place, value = np.full(len(far), -1), (low + high) / 2
    for whole, _ in pieces(len(values)):
        piece = np.asarray(values[whole])
        outside = (piece < below) | (piece > above)
        far += outside.sum(axis=0)
        for j in np.flatnonzero(outside.any(axis=0)):
            k = int(np.argmax(np.abs(piece[:, j] - (low[j] + high[j]) / 2)))
            if place[j] < 0 or abs(piece[k, j]) > abs(value[j]):
                place[j], value[j] = (whole.start or 0) + k, piece[k, j]
    for j in np.flatnonzero((far > 0) & (far <= most)):
        near = np.asarray(values[max(0, place[j] - 1) : place[j] + 2])[:, j]
        distance = max(low[j] - value[j], value[j] - high[j])
        # A joint that moves at the very end of a log gets there step by step.
        if np.abs(np.diff(near)).max(initial=0.0) > distance / 2:
            yield LoneSample(field, int(j), int(place[j]), float(value[j]), float(low[j]), float(high[j]), int(far[j]))
