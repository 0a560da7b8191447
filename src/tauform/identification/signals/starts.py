"""How quickly joints start from rest and stop, and what cut-off of the positions shows it."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.identification.recording.pauses import DEVIATIONS, bands_of
from tauform.identification.recording.segments import Segment

# A joint has started once it is at this share of its speed, taken over a while [s] that noise does not reach; seconds
# of a start that are looked at.
SHARE_OF_SPEED, SPEED_WINDOW, LONGEST_START = 0.25, 0.05, 1.0
# Noise of a velocity, relative to the speed that a joint exceeds 5 % of the time, that more of the band may bring.
MAX_NOISE_OF_SPEED, SPEED_PERCENTILE = 0.01, 95
# Samples that speeds are told from.
MOST_SAMPLES = 200_000
# A joint that starts from rest has so many pauses for one turn at least. A few smooth turns take as long as pauses.
MIN_PAUSES_PER_TURN = 0.5


def cutoff_of_starts(segment: Segment, cycles: float) -> float:
    """Cut-off [Hz] whose so many cycles pass before joints have started, as far as noise permits; 0 without pauses."""
    if not any(len(own) for own in segment.pauses):
        return 0.0
    bands = bands_of(segment.q)
    starting = _pauses_per_turn(segment, bands) >= MIN_PAUSES_PER_TURN
    taken = [_durations(segment, joint, float(bands[joint])) for joint in np.flatnonzero(starting).tolist()]
    wanted = max((cycles / float(np.median(own)) for own in taken if len(own)), default=0.0)
    return float(min(wanted, *_quiet(segment, bands / DEVIATIONS)))


def _pauses_per_turn(segment: Segment, bands: Array) -> Array:
    """(n,) how many pauses each joint makes for one change of its direction."""
    apart = max(1, int(np.ceil(SPEED_WINDOW * segment.rate)))
    steps = np.diff(np.asarray(segment.q[:MOST_SAMPLES], dtype=np.float64)[::apart], axis=0).T
    # Where noise may decide the direction none is told.
    turns = [
        np.count_nonzero(np.diff(np.sign(own[np.abs(own) > 2 * band]))) for own, band in zip(steps, bands, strict=True)
    ]
    pauses = [np.count_nonzero(own[:, 0] < MOST_SAMPLES) for own in segment.pauses]
    return np.asarray(np.array(pauses) / np.maximum(turns, 1))


def _quiet(segment: Segment, noise: Array) -> list[float]:
    """Cut-offs [Hz] up to which velocities are known well enough, by positions and by what was measured of them."""
    q = np.asarray(segment.q[:MOST_SAMPLES], dtype=np.float64)
    apart = max(1, min(len(q) // 4, int(np.ceil(SPEED_WINDOW * segment.rate))))
    steps = np.abs(q[apart:] - q[:-apart]) * segment.rate / apart
    allowed = MAX_NOISE_OF_SPEED * np.percentile(steps, SPEED_PERCENTILE, axis=0)
    known = (allowed > 0) & (noise > 0)
    # White noise of a deviation s behind a cut-off f has velocities of 2 pi f s sqrt(2 f / (3 rate)).
    ratio = allowed[known] / (2 * np.pi * noise[known])
    found = [float((ratio**2 * 1.5 * segment.rate).min(initial=np.inf)) ** (1 / 3)]
    if segment.qd is not None:
        own = bands_of(segment.qd) / DEVIATIONS
        known = (allowed > 0) & (own > 0)
        # Of measured ones sqrt(2 f / rate) of the deviation is left.
        found.append(float(((allowed[known] / own[known]) ** 2 * segment.rate / 2).min(initial=np.inf)))
    return found


def _durations(segment: Segment, joint: int, band: float) -> Array:
    """Seconds from each pause until the joint has started, and from when it last had its speed to the next one."""
    found, reach = [], int(LONGEST_START * segment.rate)
    apart = max(1, int(np.ceil(SPEED_WINDOW * segment.rate)))
    edges = [(stop, -1) for stop, _ in segment.pauses[joint]] + [(go, 1) for _, go in segment.pauses[joint]]
    for edge, sense in edges:
        if not 0 <= edge < segment.n_samples:
            continue
        first = round(edge)
        part = slice(first, first + reach) if sense > 0 else slice(max(0, first - reach), first + 1)
        near = np.asarray(segment.q[part])[::sense, joint].astype(np.float64)
        away, t = np.abs(near - near[0]), np.arange(len(near)) / segment.rate
        speed = np.abs(away[apart:] - away[:-apart]).max(initial=0.0) * segment.rate / apart
        # Under a constant acceleration the speed is twice the mean one.
        quick = np.flatnonzero((away > band) & (2 * away > SHARE_OF_SPEED * speed * t))
        if len(quick):
            found.append(max(float(t[quick[0]]), 1.0 / segment.rate))
    return np.array(found)
