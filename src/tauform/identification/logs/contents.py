"""What columns hold by their numbers alone: a clock, positions, their rates, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import LARGEST, Array

# Samples at the beginning of a log that are looked at.
SAMPLES = 20_000
# Share of the steps of a clock that are near the typical one.
LEAST_EVEN_STEPS = 0.8
# Correlation from which a column counts as the rate of another: noise and lag take their part.
LEAST_CORRELATION = 0.8
# Derivatives of quantised positions are taken over this many samples.
SAMPLES_PER_RATE = 9
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
    for count in _counts(len(names), n_joints):
        for fields, score in _arrangements(len(names), count, like):
            # Ties keep the first arrangement, blocks before joint by joint, whatever the last bits are.
            if score > best[0] + 1e-9:
                best = score, fields
    fields = best[1] or _halves(columns, n_joints)
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


def _counts(n_columns: int, n_joints: int | None) -> list[int]:
    """Numbers of joints that divide the columns into two fields or more."""
    wanted = [n_joints] if n_joints else range(1, n_columns // 2 + 1)
    return [count for count in wanted if n_columns % count == 0 and n_columns // count >= 2]


def _arrangements(n_columns: int, count: int, like: Array) -> list[tuple[dict[str, tuple[int, ...]], float]]:
    """Fields one after another, or joint by joint, in which one is the rate of another: and how much speaks for it."""
    n_fields, places = n_columns // count, np.arange(n_columns)
    found = []
    # (n_fields, count) places: q1 q2 tau1 tau2 first, then q1 tau1 q2 tau2.
    for blocks in (places.reshape(n_fields, count), places.reshape(count, n_fields).T):
        for a in range(n_fields):
            for b in range(n_fields):
                pairs = like[blocks[a], blocks[b]]
                # Zeros are joints that stood still: they neither speak for the pair nor against it.
                if a == b or not (pairs[pairs != 0] >= LEAST_CORRELATION).all() or not pairs.any():
                    continue
                rest = [k for k in range(n_fields) if k not in (a, b)]
                # commanded positions have the same rate, and accelerations are the rate of velocities
                rest = [k for k in rest if like[blocks[k], blocks[b]].mean() < LEAST_CORRELATION]
                rest = [k for k in rest if like[blocks[b], blocks[k]].mean() < LEAST_CORRELATION] or rest
                named = {"q": a, "qd": b} | ({"tau": rest[0]} if rest else {})
                fields = {name: tuple(int(x) for x in blocks[k]) for name, k in named.items()}
                # With torques left over, an arrangement explains more of the log.
                found.append((fields, float(pairs.sum()) + 0.01 * bool(rest)))
    return found


def _halves(columns: Array, n_joints: int | None) -> dict[str, tuple[int, ...]]:
    """Positions and torques where no velocities are: what is rough is measured, what is smooth is where the arm is."""
    n_columns = len(columns)
    count = n_joints or n_columns // 2
    if n_columns != 2 * count:
        return {}
    # Positions are integrals twice over: from sample to sample they hardly change.
    # Relative to its spread, so that units do not count.
    rough = np.std(np.diff(columns, axis=1), axis=1) / np.maximum(np.std(columns, axis=1), 1e-300)
    first, second = tuple(range(count)), tuple(range(count, n_columns))
    swapped = np.median(rough[list(first)]) > np.median(rough[list(second)])
    return {"q": second, "tau": first} if swapped else {"q": first, "tau": second}


def _slopes(rates: Array, values: Array) -> Array:
    """Least-squares factors from rates to values, row by row."""
    size = (rates**2).sum(axis=1)
    return np.divide((rates * values).sum(axis=1), size, out=np.ones(len(rates)), where=size > 0)


def numbered(places: Sequence[str]) -> str | list[str]:
    """Columns as an option takes them: 2-8 where they are called by consecutive numbers."""
    prefix = places[0].rpartition(":")[0] + ":" if ":" in places[0] else ""
    tails = [place.removeprefix(prefix) for place in places]
    if all(tail.isdigit() for tail in tails) and len(tails) > 1:
        first = int(tails[0])
        if [int(tail) for tail in tails] == list(range(first, first + len(tails))):
            return f"{prefix}{first}-{first + len(tails) - 1}"
    return places[0] if len(places) == 1 else list(places)
