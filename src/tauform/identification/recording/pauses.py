"""Pauses: stretches in which a joint stands, found in its positions.

At rest friction balances whatever the motor does, up to its limit: no model predicts it. So a joint's equation is taken
for the time in which it moves, and what filters make of the instants beside a pause is left out with it. A joint that
creeps moves, but its encoder does not tell which way: the sign of its friction is not known either.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import ndimage

from tauform.arrays import AnyArray, Array

# Samples of a piece that is looked through at once, and pieces that an encoder's noise is told from.
SAMPLES_PER_PIECE, PIECES_OF_NOISE = 100_000, 10
# Samples of a stretch that noise is told from, and fewest of a pause.
SAMPLES_OF_NOISE, FEWEST_SAMPLES = 32, 5
# Shorter pauses [s] are not planned; smooth turning points dwell about so long within the steps of an encoder.
SHORTEST_PAUSE = 0.04
# A joint that stands stays within so many deviations of its encoder's noise, and steps, and this share of its travel.
DEVIATIONS, STEPS, SHARE_OF_TRAVEL = 5.0, 1.5, 1e-9
# A turning point takes sqrt(4) = 2 times as long to leave a band four times as wide, a pause hardly longer.
WIDER, MAX_LONGER = 4.0, 1.75
# A joint creeps while its speed is below so many deviations of what noise makes of a filtered one.
DEVIATIONS_OF_SPEED = 3.0


def find_pauses(q: Array, rate: float) -> tuple[Array, ...]:
    """(k, 2) for each joint: samples, with fractions, at which it stops and starts again; infinite at the ends."""
    if len(q) <= SAMPLES_OF_NOISE:
        return tuple(np.zeros((0, 2)) for _ in range(q.shape[1]))
    bands, fewest = bands_of(q), _fewest(rate)
    found: list[list[tuple[float, float]]] = [[] for _ in bands]
    for joint, first, last in _still(q, bands * np.sqrt(2.0 / (fewest // 2)), fewest // 2):
        stop, go = _ends(_extents(q, joint, first, last, float(bands[joint])), len(q))
        # Runs of one pause may be apart, where an outlier divides them.
        is_new = not found[joint] or stop > found[joint][-1][1]
        if is_new and min(go, len(q)) - max(stop, 0) >= fewest:
            found[joint].append((stop, go))
    return tuple(np.array(own, dtype=np.float64).reshape(-1, 2) for own in found)


def find_creeping(q: Array, rate: float, least: Array) -> tuple[Array, ...]:
    """(k, 2) for each joint: samples between which its mean speed is below `least` (n,)."""
    fewest = _fewest(rate)
    found: list[list[tuple[float, float]]] = [[] for _ in least]
    if len(q) > SAMPLES_OF_NOISE:
        # Means that lie `half` samples apart: their distance is the mean speed.
        half = fewest // 2
        for joint, first, last in _still(q, least * half / rate, half):
            if last - first >= fewest:
                found[joint].append((first, last))
    return tuple(np.array(own, dtype=np.float64).reshape(-1, 2) for own in found)


def speed_noise(q: Array, qd: Array | None, rate: float, cutoff: float) -> Array:
    """(n,) deviation of speeds behind a cut-off [Hz], by the noise of positions or of what was measured of speeds."""
    if qd is not None:
        # White noise of a deviation s keeps s sqrt(2 f / rate).
        return bands_of(qd) / DEVIATIONS * np.sqrt(2 * cutoff / rate)
    # Of positions, differentiated: 2 pi f s sqrt(2 f / (3 rate)).
    return bands_of(q) / DEVIATIONS * 2 * np.pi * cutoff * np.sqrt(2 * cutoff / (3 * rate))


def _fewest(rate: float) -> int:
    """Samples of a pause at least."""
    return max(FEWEST_SAMPLES, round(SHORTEST_PAUSE * rate))


def bands_of(values: Array) -> Array:
    """(n,) largest distance of a sensor's readings from a value that stands still, by its noise and its steps."""
    length = min(len(values), SAMPLES_PER_PIECE)
    starts = np.unique(np.linspace(0, len(values) - length, PIECES_OF_NOISE).astype(int))
    noise, step, low, high = [], [], [], []
    for start in starts.tolist():
        part = np.asarray(values[start : start + length], dtype=np.float64)
        # Motion is gone after four differences; of white noise they have 1 + 16 + 36 + 16 + 1 times the variance.
        bends = np.diff(part, 4, axis=0)
        size = min(SAMPLES_OF_NOISE, len(bends))
        stretches = bends[: len(bends) // size * size].reshape(-1, size, bends.shape[1])
        sizes = np.sqrt((stretches**2).mean(axis=1) / 70)
        # A sensor of coarse steps shows them while it moves.
        noise.append([np.median(own[own > 0]) if own.any() else 0.0 for own in sizes.T])
        steps = np.abs(np.diff(part, axis=0))
        step.append(np.where(steps > 0, steps, np.inf).min(axis=0))
        low.append(part.min(axis=0))
        high.append(part.max(axis=0))
    least = SHARE_OF_TRAVEL * (np.max(high, axis=0) - np.min(low, axis=0))
    # Noise hides the steps of an encoder, or is hidden by them.
    counts = STEPS * np.min(step, axis=0)
    counts = np.where(counts < np.inf, counts, 0.0)
    return np.asarray(np.maximum.reduce([DEVIATIONS * np.min(noise, axis=0), counts, least]))


def _still(q: Array, same: Array, half: int) -> Iterator[tuple[int, int, int]]:
    """(joint, first, last) of runs of samples before and after which the mean positions differ by no more than this."""
    before, began = np.zeros(len(same), dtype=int), np.zeros(len(same), dtype=int)
    for start in range(0, len(q), SAMPLES_PER_PIECE):
        stop, margin = min(start + SAMPLES_PER_PIECE, len(q)), min(start, half)
        part = np.asarray(q[start - margin : stop + half], dtype=np.float64)
        # Relative to a sample, so that sums lose no digits.
        means = ndimage.uniform_filter1d(part - part[0], half, axis=0, mode="nearest")
        # The mean of `half` samples up to each one, and of those from it on.
        places = np.arange(margin, margin + stop - start)
        earlier, later = (np.clip(places + shift, 0, len(part) - 1) for shift in (-(half // 2), half - half // 2))
        still = np.abs(means[later] - means[earlier]) <= same
        changes = np.diff(np.concatenate([before[None], still.astype(int)]), axis=0)
        for place, joint in np.argwhere(changes).tolist():
            if changes[place, joint] > 0:
                began[joint] = start + place
            else:
                yield joint, int(began[joint]), start + place
        before = still[-1].astype(int)
    for joint in np.flatnonzero(before).tolist():
        yield joint, int(began[joint]), len(q)


def _extents(q: Array, joint: int, first: int, last: int, band: float) -> list[tuple[int, int]]:
    """The samples around a run that stay within the band, and within the wider one."""
    margin, level, middle = last - first + FEWEST_SAMPLES, None, (first + last) // 2
    while True:
        start, stop = max(0, first - margin), min(len(q), last + margin)
        near = np.asarray(q[start:stop])[:, joint].astype(np.float64)
        level = np.median(near[first - start : last - start]) if level is None else level
        found = []
        for size in (band, WIDER * band):
            outside = np.abs(near - level) > size
            left, right = np.flatnonzero(outside[: middle - start]), np.flatnonzero(outside[middle - start :])
            begin = start + int(left[-1]) + 1 if len(left) else start
            found.append((begin, middle + int(right[0]) if len(right) else stop))
        (begin, end) = found[1]
        if (begin > start or start == 0) and (end < stop or stop == len(q)):
            return found
        margin *= 2


def _ends(extents: list[tuple[int, int]], n_samples: int) -> tuple[float, float]:
    """Where the joint stops and starts again; an empty stretch where it turns or creeps."""
    narrow, wide = extents
    if wide[1] - wide[0] > MAX_LONGER * (narrow[1] - narrow[0]):
        return 0.0, 0.0
    # From rest q grows with the square of time: four times the distance takes twice as long.
    stop, go = 2 * narrow[0] - wide[0], 2 * narrow[1] - wide[1]
    return -np.inf if wide[0] == 0 else float(stop), np.inf if wide[1] == n_samples else float(go)


def moves(pauses: tuple[Array, ...], samples: AnyArray, beside: float) -> AnyArray:
    """(N, n) whether a joint moves at these samples, and has moved for so many samples before and will after."""
    steps = np.zeros((len(samples) + 1, len(pauses)), dtype=int)
    for joint, own in enumerate(pauses):
        # Long recordings have thousands of pauses: +1 where one begins, -1 where it is over.
        np.add.at(steps[:, joint], np.searchsorted(samples, own[:, 0] - beside), 1)
        np.add.at(steps[:, joint], np.searchsorted(samples, own[:, 1] + beside), -1)
    return np.asarray(np.cumsum(steps[:-1], axis=0) == 0)
