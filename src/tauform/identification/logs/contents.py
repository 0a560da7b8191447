"""What columns hold by their numbers alone: a clock, positions, their rates, and the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import LARGEST, AnyArray, Array
from tauform.identification.logs.arrangements import SAMPLES_PER_RATE, Arranged, arranged, blocks_of_count
from tauform.identification.logs.column_names import JOINT
from tauform.identification.logs.marks import is_state
from tauform.identification.recording.recording import MAX_SAMPLE_PERIOD, TIME_UNITS

# Samples at the beginning of a log that are looked at.
SAMPLES = 20_000
# Share of the steps of a clock that are near the typical one.
LEAST_EVEN_STEPS = 0.8
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
        others: fields as they may be read too, where that stands close.
    """

    t: str | None
    fields: dict[str, tuple[str, ...]]
    rate_ratio: float | None = None
    others: tuple[dict[str, tuple[str, ...]], ...] = ()


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
    clocks = [name for name, values in table.items() if is_clock(values)]
    # A logger may count its samples beside the time.
    clock = next((name for name in clocks if not _counts(table[name])), clocks[0] if clocks else None)
    names = [name for name in table if name not in clocks]
    named = blocks_of_names(names, n_joints)
    # Columns beside those that are counted joint by joint (states, counters) are no joint's.
    names = [names[k] for k in sorted(named.ravel())] if named.size else names
    # Pairs cost n^2 correlations; the clock is still worth telling.
    if len(names) > MOST_COLUMNS:
        return Contents(clock, {})
    found = _arranged(table, names, named, n_joints, None if clock is None else table[clock])
    if not found and not named.size:
        # A digital input or a phase beside the columns of the joints.
        names = [name for name in names if not is_state(table[name])]
        found = _arranged(table, names, named, n_joints, None if clock is None else table[clock])
    if not found:
        return Contents(clock, {})
    step = None if clock is None else typical_step(table[clock])
    first, *others = [{field: tuple(names[k] for k in at) for field, at in one.fields.items()} for one in found]
    # Of one joint, blocks and joint by joint are the same.
    others = [other for k, other in enumerate(others) if other not in (first, *others[:k])]
    ratio = found[0].ratio
    return Contents(clock, first, None if ratio is None or step is None else ratio * step, tuple(others))


def _arranged(
    table: Mapping[str, Array], names: Sequence[str], named: AnyArray, n_joints: int | None, stamps: Array | None
) -> list[Arranged]:
    """Ways to read these columns; none where too little is there."""
    columns = np.array([table[name] for name in names], dtype=np.float64)
    # Below a few windows, correlations mean nothing; a NaN would spread to all of them.
    if not len(names) or columns.shape[1] < 4 * SAMPLES_PER_RATE or not np.isfinite(columns).all():
        return []
    blocks = [blocks_of_names(names, n_joints)] if named.size else blocks_of_count(len(names), n_joints)
    step = None if stamps is None else typical_step(stamps)
    return arranged(columns, blocks, None if step is None else step * TIME_UNITS[unit_of_step(step)][1])


def typical_step(stamps: Array) -> float:
    """Median of the steps between stamps that differ."""
    steps = np.diff(stamps)
    return float(np.median(steps[steps > 0]))


def unit_of_step(step: float) -> str:
    """The unit that time stamps which are so far apart are likely in."""
    # Steps from 0.5 on are no seconds: up to 300 they read as ms, up to 1e5 as us.
    return "s" if step < MAX_SAMPLE_PERIOD else "ns" if step > 1e5 else "us" if step > 300 else "ms"


def _counts(values: Array) -> bool:
    """Whether numbers are those of samples, one after the other."""
    return bool((np.diff(values) == 1).all())


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


def numbered(places: Sequence[str]) -> str | list[str]:
    """Columns as an option takes them: 2-8 where they are called by consecutive numbers, J{}_q where by patterns."""
    # One joint is no series: its column is called by its whole name.
    if len(places) == 1:
        return places[0]
    prefix = places[0].rpartition(":")[0] + ":" if ":" in places[0] else ""
    tails = [place.removeprefix(prefix) for place in places]
    if all(tail.isdigit() for tail in tails):
        first = int(tails[0])
        if [int(tail) for tail in tails] == list(range(first, first + len(tails))):
            return f"{prefix}{first}-{first + len(tails) - 1}"
    for which in (0, -1):
        patterns, numbers = zip(*(numbered_pattern(place, which) for place in places), strict=True)
        if len(set(patterns)) == 1 and list(numbers) in (list(range(k, k + len(places))) for k in (0, 1)):
            return str(patterns[0])
    return list(places)
