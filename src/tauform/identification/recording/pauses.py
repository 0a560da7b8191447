"""Pauses: stretches in which a joint stands, found in its positions.

At rest friction balances whatever the motor does, up to its limit: no model predicts it. So a joint's equation is taken
for the time in which it moves, and what filters make of the instants beside a pause is left out with it. A joint that
creeps moves, but its encoder does not tell which way: the sign of its friction is not known either.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.recording.still import SAMPLES_PER_PIECE, Runs, by_joint, still_runs

# Pieces that an encoder's noise is told from.
PIECES_OF_NOISE = 10
# Samples of a stretch that noise is told from, and fewest of a pause.
SAMPLES_OF_NOISE, FEWEST_SAMPLES = 32, 5
# Shorter pauses [s] are not planned; smooth turning points dwell about so long within the steps of an encoder.
SHORTEST_PAUSE = 0.04
# A joint that stands stays within so many deviations of its encoder's noise, and steps, and this share of its travel.
DEVIATIONS, STEPS, SHARE_OF_TRAVEL = 5.0, 1.5, 1e-9
# A turning point takes sqrt(4) = 2 times as long to leave a band four times as wide, a pause hardly longer.
WIDER, MAX_LONGER = 4.0, 1.75
# A turning point shows itself in a window of so many shortest pauses about it.
PAUSES_PER_WINDOW = 8
# A joint creeps while its speed is below so many deviations of what noise makes of a filtered one.
DEVIATIONS_OF_SPEED = 3.0


def find_pauses(q: Array, rate: float) -> tuple[Array, ...]:
    """(k, 2) for each joint: samples, with fractions, at which it stops and starts again; infinite at the ends."""
    if len(q) <= SAMPLES_OF_NOISE:
        return tuple(np.zeros((0, 2)) for _ in range(q.shape[1]))
    bands, fewest = bands_of(q), _fewest(rate)
    found: list[list[tuple[float, float]]] = [[] for _ in bands]
    for runs in still_runs(q, bands * np.sqrt(2.0 / (fewest // 2)), fewest // 2):
        own, band = found[runs.joint], float(bands[runs.joint])
        for first, last in runs.samples[~_are_short(runs, band, fewest)].tolist():
            stop, go = _ends(_extents(q, runs.joint, first, last, band), len(q))
            # Runs of one pause may be apart, where an outlier divides them.
            is_new = not own or stop > own[-1][1]
            if is_new and min(go, len(q)) - max(stop, 0) >= fewest:
                own.append((stop, go))
    return tuple(np.array(own, dtype=np.float64).reshape(-1, 2) for own in found)


def find_creeping(q: Array, rate: float, least: Array) -> tuple[Array, ...]:
    """(k, 2) for each joint: samples between which its mean speed is below `least` (n,)."""
    fewest = _fewest(rate)
    found: list[list[Array]] = [[np.zeros((0, 2))] for _ in least]
    if len(q) > SAMPLES_OF_NOISE:
        # Means that lie `half` samples apart: their distance is the mean speed.
        half = fewest // 2
        for runs in still_runs(q, least * half / rate, half):
            found[runs.joint].append(runs.samples[runs.lengths >= fewest])
    return tuple(np.concatenate(own) for own in found)


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
        part = by_joint(values[start : start + length])
        # Motion is gone after four differences; of white noise they have 1 + 16 + 36 + 16 + 1 times the variance.
        bends = np.diff(part, 4)
        size = min(SAMPLES_OF_NOISE, bends.shape[1])
        stretches = bends[:, : bends.shape[1] // size * size].reshape(len(bends), -1, size)
        sizes = np.sqrt(np.einsum("jks,jks->jk", stretches, stretches) / size / 70)
        # A sensor of coarse steps shows them while it moves.
        noise.append([np.median(own[own > 0]) if own.any() else 0.0 for own in sizes])
        steps = np.abs(np.diff(part))
        step.append(np.where(steps > 0, steps, np.inf).min(axis=1))
        low.append(part.min(axis=1))
        high.append(part.max(axis=1))
    least = SHARE_OF_TRAVEL * (np.max(high, axis=0) - np.min(low, axis=0))
    # Noise hides the steps of an encoder, or is hidden by them.
    counts = STEPS * np.min(step, axis=0)
    counts = np.where(counts < np.inf, counts, 0.0)
    return np.asarray(np.maximum.reduce([DEVIATIONS * np.min(noise, axis=0), counts, least]))


def _are_short(runs: Runs, band: float, fewest: int) -> AnyArray:
    """(k,) which runs the samples around show to be no pause, as `_extents` and `_ends` would one by one.

    Nearly all of them are turning points.
    """
    reach, middle = PAUSES_PER_WINDOW // 2 * fewest, runs.samples.sum(axis=1) // 2 - runs.start
    # Others, and those that do not leave the band within the window, may be pauses.
    asked = (runs.lengths <= reach) & (middle >= reach) & (middle + reach <= len(runs.near))
    if not asked.any():
        return asked
    windows = np.lib.stride_tricks.sliding_window_view(runs.near, 2 * reach)[middle[asked] - reach]
    away = np.abs(windows - runs.levels(asked)[:, None])
    left, right = away[:, reach - 1 :: -1], away[:, reach:]
    outside = [(left > size, right > size) for size in (band, WIDER * band)]
    narrow, wide = (before.argmax(axis=1) + after.argmax(axis=1) for before, after in outside)
    # As long as `_ends` would make it, or empty.
    length = np.where(wide > MAX_LONGER * narrow, 0, 2 * narrow - wide)
    before, after = outside[-1]
    asked[asked] = before.any(axis=1) & after.any(axis=1) & (length < fewest)
    return asked


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
    for joint, every in enumerate(pauses):
        own = every[(every[:, 1] + beside >= samples[0]) & (every[:, 0] - beside <= samples[-1])]
        # Long recordings have thousands of pauses: +1 where one begins, -1 where it is over.
        np.add.at(steps[:, joint], np.searchsorted(samples, own[:, 0] - beside), 1)
        np.add.at(steps[:, joint], np.searchsorted(samples, own[:, 1] + beside), -1)
    return np.asarray(np.cumsum(steps[:-1], axis=0) == 0)
