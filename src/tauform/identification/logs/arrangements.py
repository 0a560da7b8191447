"""Which blocks of columns are positions, velocities and torques: arrangements are tried, the likeliest ones kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from tauform.arrays import AnyArray, Array

# Correlation from which a column counts as the rate of another: noise and lag take their part.
LEAST_CORRELATION = 0.8
# Derivatives of quantised positions are taken over this many samples.
SAMPLES_PER_RATE = 9
# Measured velocities over rates of positions: of one unit, or of these (deg/s, rpm, rev/s; positions in degrees).
RATIOS = {"deg/s": 180 / np.pi, "rpm": 30 / np.pi, "rev/s": 0.5 / np.pi}
KNOWN_RATIOS = (1.0, *RATIOS.values(), np.pi / 180)
# Friction follows a velocity too, but by another factor at every joint, and by no unit's.
MOST_UNLIKE, FAR_FROM_A_UNIT = 1.3, 1.3
# Roughness below which a column stands still.
MIN_ROUGHNESS = 1e-12
# Fields that a logger writes for each joint.
MOST_FIELDS = 6
# Readings that are within this share of the best one stand close.
CLOSE = 0.8
# Velocities that follow positions less than this may be friction all the same.
SURE_CORRELATION = 0.95

Places = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Arranged:
    """One way to read columns: places of each field, joint by joint.

    Attributes:
        score: what speaks for it, to be compared with others of its kind.
        ratio: measured velocity over the rate of positions, per unit of the clock; None without velocities.
        least: smallest correlation of a velocity with its rate; 0 without.
        unknown: fields that are left over: no torques, commanded positions or accelerations.
    """

    fields: Places
    score: float
    ratio: float | None = None
    least: float = 0.0
    unknown: int = 0


def arranged(columns: Array, blocks: Sequence[AnyArray], second: float | None) -> list[Arranged]:
    """Ways to read columns (k, N), the likeliest first; the others stand close to it.

    Args:
        blocks: (fields, joints) places of columns that belong together.
        second: seconds between samples; None where no clock tells.
    """
    # Encoders are steps: their raw differences are mostly zeros.
    smooth = smoothed(columns)
    rates = np.gradient(smooth, axis=1)
    like, factors = correlations(rates, smooth), slopes(rates, smooth)
    found = [one for block in blocks for one in _with_rates(block, like, factors, second)]
    # Ties keep the first arrangement, blocks before joint by joint, whatever the last bits are.
    found.sort(key=lambda one: -round(one.score, 9))
    without = sorted(_halves(columns, blocks), key=lambda one: -round(one.score, 9))
    if not found:
        return [one for one in without if one.score > CLOSE * without[0].score]
    near = [one for one in found if one.score > CLOSE * found[0].score]
    if found[0].least >= SURE_CORRELATION:
        return near
    # Friction that passes for a velocity leaves the other half of the torques without a meaning.
    return without[:1] + near if found[0].unknown and without else near + without[:1]


def blocks_of_count(n_columns: int, n_joints: int | None) -> list[AnyArray]:
    """(fields, joints) places, fields one after another, then joint by joint, for each number of joints."""
    places, found = np.arange(n_columns), []
    for count in [n_joints] if n_joints else range(1, n_columns // 2 + 1):
        if n_columns % count == 0 and 2 <= n_columns // count <= MOST_FIELDS:
            # q1 q2 tau1 tau2 first, then q1 tau1 q2 tau2.
            found += [places.reshape(-1, count), places.reshape(count, -1).T]
    return found


def smoothed(columns: Array) -> Array:
    """Running means, so that steps of sensors do not drown a rate."""
    sums = np.cumsum(np.pad(columns, ((0, 0), (1, 0))), axis=1)
    return (sums[:, SAMPLES_PER_RATE:] - sums[:, :-SAMPLES_PER_RATE]) / SAMPLES_PER_RATE


def _centred(rows: Array) -> tuple[Array, Array]:
    """Rows without their means, and their sizes; those that do not change have none."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    size = np.linalg.norm(centred, axis=1, keepdims=True)
    return centred, np.where(size > 1e-12 * np.abs(rows).max(initial=1.0), size, 0.0)


def correlations(rates: Array, values: Array) -> Array:
    """(k, k): of the rate of each column with each column; 0 where one does not change."""
    a, b = (np.divide(x, size, out=np.zeros_like(x), where=size > 0) for x, size in map(_centred, (rates, values)))
    found: Array = a @ b.T
    # A column is never the rate of itself.
    np.fill_diagonal(found, 0.0)
    return found


def slopes(rates: Array, values: Array) -> Array:
    """(k, k): least-squares factors from the rate of each column to each column; 0 where it does not change."""
    (a, size), (b, _) = _centred(rates), _centred(values)
    return np.divide(a @ b.T, size**2, out=np.zeros((len(a), len(b))), where=size > 0)


def _with_rates(blocks: AnyArray, like: Array, ratios: Array, second: float | None) -> Iterator[Arranged]:
    """Arrangements in which one field is the rate of another, and how much speaks for each."""
    for a, b in permutations(range(len(blocks)), 2):
        pairs, factors = like[blocks[a], blocks[b]], ratios[blocks[a], blocks[b]]
        # Zeros are joints that stood still: they neither speak for the pair nor against it.
        moving = pairs != 0
        if not moving.any() or not (pairs[moving] >= LEAST_CORRELATION).all():
            continue
        factors = factors[moving]
        if not _is_of_one_unit(factors if second is None else factors * second, timed=second is not None):
            continue
        rest = [k for k in range(len(blocks)) if k not in (a, b)]
        # What is itself the rate of another field are velocities, and theirs accelerations.
        if any(like[blocks[k], blocks[a]].mean() >= LEAST_CORRELATION for k in rest):
            continue
        # commanded positions have the same rate, and accelerations are the rate of velocities
        rest = [k for k in rest if like[blocks[k], blocks[b]].mean() < LEAST_CORRELATION]
        rest = [k for k in rest if like[blocks[b], blocks[k]].mean() < LEAST_CORRELATION] or rest
        named = {"q": a, "qd": b} | ({"tau": rest[0]} if rest else {})
        # With torques left over, an arrangement explains more of the log.
        score = float(pairs.sum()) + 0.01 * bool(rest)
        least, unknown = float(pairs[moving].min()), max(0, len(rest) - 1)
        yield Arranged(_places(blocks, named), score, float(np.median(factors)), least, unknown)


def _is_of_one_unit(factors: Array, *, timed: bool) -> bool:
    """Whether factors from rates to velocities, per second where `timed`, are alike, and those of a unit."""
    middle = float(np.median(factors))
    if factors.min() <= 0 or max(factors.max() / middle, middle / factors.min()) > MOST_UNLIKE:
        return False
    return not timed or any(1 / FAR_FROM_A_UNIT < middle / known < FAR_FROM_A_UNIT for known in KNOWN_RATIOS)


def _halves(columns: Array, blocks: Sequence[AnyArray]) -> Iterator[Arranged]:
    """Positions and torques where no velocities are: what is rough is measured, what is smooth is where the arm is."""
    # Positions are integrals twice over: from sample to sample they hardly change.
    # Relative to its spread, so that units do not count.
    rough = np.std(np.diff(columns, axis=1), axis=1) / np.maximum(np.std(columns, axis=1), 1e-300)
    rough = np.log(np.maximum(rough, MIN_ROUGHNESS))
    for arrangement in (each for each in blocks if len(each) == 2):
        # Halves that mix both kinds are alike in the mean.
        more = float(rough[arrangement[1]].mean() - rough[arrangement[0]].mean())
        q, tau = (0, 1) if more > 0 else (1, 0)
        yield Arranged(_places(arrangement, {"q": q, "tau": tau}), abs(more))


def _places(blocks: AnyArray, named: dict[str, int]) -> Places:
    return {name: tuple(int(place) for place in blocks[k]) for name, k in named.items()}
