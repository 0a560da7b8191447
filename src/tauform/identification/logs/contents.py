"""What columns hold by their numbers alone: a clock, positions, their rates, and the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from tauform.arrays import LARGEST, AnyArray, Array
from tauform.identification.logs.column_names import JOINT

# Samples at the beginning of a log that are looked at.
SAMPLES = 20_000
# Share of the steps of a clock that are near the typical one.
LEAST_EVEN_STEPS = 0.8
# Correlation from which a column counts as the rate of another: noise and lag take their part.
LEAST_CORRELATION = 0.8
# Derivatives of quantised positions are taken over this many samples.
SAMPLES_PER_RATE = 9
# Roughness below which a column stands still.
MIN_ROUGHNESS = 1e-12
# Numbers of joints have few digits; what has more is a serial number.
NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
# Every pair of columns is compared; logs with more are those of whole machines.
MOST_COLUMNS = 200


@dataclass(frozen=True)
class Contents:
    """Which columns hold what, as far as their numbers tell.

    Attributes:
        t: the clock; None where no column runs evenly.
        fields: "q", "qd", "tau" -> columns joint by joint; empty where nothing fits.
        rate_ratio: measured velocity over the rate of the positions in a unit of the clock: 57.3 where only the
            former is in degrees and the clock in seconds.
    """

    t: str | None
    fields: dict[str, tuple[str, ...]]
    rate_ratio: float | None = None


def guess_contents(table: Mapping[str, Array], n_joints: int | None = None) -> Contents:
    """Find the clock, and positions, velocities and torques in blocks or joint by joint.

    Velocities are found as rates of positions, and torques are what is left. Where there are no velocities, the
    smoother half is taken for positions.

    Args:
        table: name -> (N,) first samples of each column.
        n_joints: of the robot; any number where None.
    """
    # Error codes such as 1e308 would swamp every correlation.
    table = {name: values for name, values in table.items() if not np.abs(values).max(initial=0.0) > LARGEST}
    clock = next((name for name, values in table.items() if is_clock(values)), None)
    names = [name for name in table if name != clock]
    named = blocks_of_names(names, n_joints)
    # Columns beside those that are counted joint by joint (states, counters) are no joint's.
    names = [names[k] for k in sorted(named.ravel())] if named.size else names
    # Pairs cost n^2 correlations; the clock is still worth telling.
    if len(names) > MOST_COLUMNS:
        return Contents(clock, {})
    columns = np.array([table[name] for name in names], dtype=np.float64)
    # Below a few windows, correlations mean nothing; a NaN would spread to all of them.
    if not len(names) or columns.shape[1] < 4 * SAMPLES_PER_RATE or not np.isfinite(columns).all():
        return Contents(clock, {})
    step = 1.0 if clock is None else float(np.median(np.diff(table[clock])))
    # Encoders are steps: their raw differences are mostly zeros.
    smooth = _averaged(columns)
    rates = np.gradient(smooth, axis=1)
    like = _correlations(rates, smooth)
    best: tuple[float, dict[str, tuple[int, ...]]] = (0.0, {})
    blocks = [blocks_of_names(names, n_joints)] if named.size else _blocks(len(names), n_joints)
    for arrangement in blocks:
        for fields, score in _with_rates(arrangement, like):
            # Ties keep the first arrangement, blocks before joint by joint, whatever the last bits are.
            if score > best[0] + 1e-9:
                best = score, fields
    fields = best[1] or _halves(columns, blocks)
    ratio = None
    if best[1] and clock is not None:
        q, qd = (list(fields[name]) for name in ("q", "qd"))
        # A joint at rest has no rate to compare with, and would add a ratio of 1.
        moving = np.std(rates[q], axis=1) > 0
        ratio = float(np.median(_slopes(rates[q] / step, smooth[qd])[moving]))
    return Contents(clock, {name: tuple(names[k] for k in places) for name, places in fields.items()}, ratio)


def is_clock(values: Array) -> bool:
    """Whether numbers rise by nearly the same step from sample to sample."""
    if len(values) < 3 or not np.isfinite(values).all():
        return False
    steps = np.diff(values)
    if (steps < 0).any():
        return False
    # Stamps may repeat where a logger is faster than its clock.
    typical = float(np.median(steps[steps > 0])) if (steps > 0).any() else 0.0
    # Steps may jitter by half of the typical one.
    return typical > 0 and float((np.abs(steps - typical) <= 0.5 * typical).mean()) >= LEAST_EVEN_STEPS


def _averaged(columns: Array) -> Array:
    """Running means, so that steps of sensors do not drown a rate."""
    sums = np.cumsum(np.pad(columns, ((0, 0), (1, 0))), axis=1)
    return (sums[:, SAMPLES_PER_RATE:] - sums[:, :-SAMPLES_PER_RATE]) / SAMPLES_PER_RATE


def _correlations(rates: Array, values: Array) -> Array:
    """(k, k): of the rate of each column with each column; 0 where one does not change."""

    def unit(rows: Array) -> Array:
        centred = rows - rows.mean(axis=1, keepdims=True)
        size = np.linalg.norm(centred, axis=1, keepdims=True)
        return np.divide(centred, size, out=np.zeros_like(centred), where=size > 1e-12 * np.abs(rows).max(initial=1.0))

    found: Array = unit(rates) @ unit(values).T
    # A column is never the rate of itself.
    np.fill_diagonal(found, 0.0)
    return found


def blocks_of_names(names: Sequence[str], n_joints: int | None) -> AnyArray:
    """(fields, joints) places of columns whose names differ in a number alone, A1.pos A2.pos; empty where they do not.

    Names are surer than places: they hold whatever the order of the columns is, and whatever stands between them.
    """
    # Numbers before or behind what is measured: J1_v2 or v2_J1.
    choices = [_counted_joint_by_joint(names, n_joints, which) for which in (0, -1)]
    return max(choices, key=lambda blocks: blocks.size)


def _counted_joint_by_joint(names: Sequence[str], n_joints: int | None, which: int) -> AnyArray:
    found: dict[str, dict[int, int]] = {}
    for place, name in enumerate(names):
        pattern, number = numbered_pattern(name, which)
        # A number alone is a place in a table or matrix, and no name.
        if number is not None and pattern != JOINT and ":" not in name:
            found.setdefault(pattern, {})[number] = place
    sizes = [len(own) for own in found.values()]
    # As many columns as most have: what is counted otherwise is no joint's.
    count = n_joints or max(set(sizes), key=lambda size: (sizes.count(size), size), default=0)
    rows = [[own[k] for k in sorted(own)] for own in found.values() if len(own) == count]
    return np.array(rows if count > 1 and len(rows) > 1 else [], dtype=int)


def numbered_pattern(name: str, which: int) -> tuple[str, int | None]:
    """A name with {} for its first (0) or last (-1) number, and that number."""
    found = list(NUMBER.finditer(name))
    if not found:
        return name, None
    start, end = found[which].span()
    return f"{name[:start]}{JOINT}{name[end:]}", int(found[which][0])


def _blocks(n_columns: int, n_joints: int | None) -> list[AnyArray]:
    """(fields, joints) places, fields one after another, then joint by joint, for each number of joints."""
    places, found = np.arange(n_columns), []
    for count in [n_joints] if n_joints else range(1, n_columns // 2 + 1):
        if n_columns % count == 0 and n_columns // count >= 2:
            # q1 q2 tau1 tau2 first, then q1 tau1 q2 tau2.
            found += [places.reshape(-1, count), places.reshape(count, -1).T]
    return found


def _with_rates(blocks: AnyArray, like: Array) -> list[tuple[dict[str, tuple[int, ...]], float]]:
    """Fields in which one is the rate of another: and how much speaks for it."""
    found = []
    for a, b in permutations(range(len(blocks)), 2):
        pairs = like[blocks[a], blocks[b]]
        # Zeros are joints that stood still: they neither speak for the pair nor against it.
        if not (pairs[pairs != 0] >= LEAST_CORRELATION).all() or not pairs.any():
            continue
        rest = [k for k in range(len(blocks)) if k not in (a, b)]
        # commanded positions have the same rate, and accelerations are the rate of velocities
        rest = [k for k in rest if like[blocks[k], blocks[b]].mean() < LEAST_CORRELATION]
        rest = [k for k in rest if like[blocks[b], blocks[k]].mean() < LEAST_CORRELATION] or rest
        named = {"q": a, "qd": b} | ({"tau": rest[0]} if rest else {})
        fields = {name: tuple(int(x) for x in blocks[k]) for name, k in named.items()}
        # With torques left over, an arrangement explains more of the log.
        found.append((fields, float(pairs.sum()) + 0.01 * bool(rest)))
    return found


def _halves(columns: Array, arrangements: Sequence[AnyArray]) -> dict[str, tuple[int, ...]]:
    """Positions and torques where no velocities are: what is rough is measured, what is smooth is where the arm is."""
    # Positions are integrals twice over: from sample to sample they hardly change.
    # Relative to its spread, so that units do not count.
    rough = np.std(np.diff(columns, axis=1), axis=1) / np.maximum(np.std(columns, axis=1), 1e-300)
    rough, best, fields = np.log(np.maximum(rough, MIN_ROUGHNESS)), 0.0, {}
    for first, second in (blocks for blocks in arrangements if len(blocks) == 2):
        # Halves that mix both kinds are alike in the mean.
        more = float(rough[second].mean() - rough[first].mean())
        if abs(more) > best + 1e-9:
            q, tau = (first, second) if more > 0 else (second, first)
            best, fields = abs(more), {"q": tuple(map(int, q)), "tau": tuple(map(int, tau))}
    return fields


def _slopes(rates: Array, values: Array) -> Array:
    """Least-squares factors from rates to values, row by row."""
    size = (rates**2).sum(axis=1)
    return np.divide((rates * values).sum(axis=1), size, out=np.ones(len(rates)), where=size > 0)


def numbered(places: Sequence[str]) -> str | list[str]:
    """Columns as an option takes them: 2-8 where they are called by consecutive numbers, J{}_q where by patterns."""
    prefix = places[0].rpartition(":")[0] + ":" if ":" in places[0] else ""
    tails = [place.removeprefix(prefix) for place in places]
    if all(tail.isdigit() for tail in tails) and len(tails) > 1:
        first = int(tails[0])
        if [int(tail) for tail in tails] == list(range(first, first + len(tails))):
            return f"{prefix}{first}-{first + len(tails) - 1}"
    for which in (0, -1):
        patterns, numbers = zip(*(numbered_pattern(place, which) for place in places), strict=True)
        if len(set(patterns)) == 1 and list(numbers) in (list(range(k, k + len(places))) for k in (0, 1)):
            return str(patterns[0])
    return places[0] if len(places) == 1 else list(places)
