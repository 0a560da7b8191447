"""What a first look at a log tells: how its clock runs, and sentences with the options that mend what is unusual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tauform.arrays import LARGEST, Array
from tauform.identification.logs.arrangements import RATIOS
from tauform.identification.logs.column_names import OF_MOTORS, plain_name, unit_said
from tauform.identification.logs.contents import Contents, numbered, unit_of_step
from tauform.identification.logs.marks import marked_rows
from tauform.identification.logs.sample_rate import told_rate
from tauform.identification.logs.unit_table import unit_of
from tauform.identification.recording.lone import LoneSample, lone_in
from tauform.identification.recording.recording import FEWEST_SAMPLES, TIME_UNITS
from tauform.messages import counted
from tauform.wording import argument

# Positions beyond this [rad] are those of no joint; most have limits within one turn.
MOST_RADIANS = 8.0
# Positions beyond this are seldom degrees: few joints turn further.
MOST_DEGREES = 400.0
# Noise and filter lag change a ratio by a few per cent; the units differ by factors of six and more.
RATIO_TOLERANCE = 0.15
# Part of the largest speed that counts as motion.
AT_REST = 0.02
# A gap is a step of that many typical ones.
MIN_GAP_STEPS = 20.0
MEANINGS = {
    "q": "positions", "qd": "velocities", "tau": "torques", "current": "motor currents",
    "reference": "commanded positions", "temperature": "temperatures",
}  # fmt: skip


@dataclass(frozen=True)
class LogColumn:
    """A column of a log.

    Attributes:
        number: from 1, as `columns=` takes it.
        name: as the file has it; the number again where the file has no names.
        smallest, largest, mean, deviation: of its numbers; NaN where there are none.
        step: smallest change between neighbouring samples: the resolution of a coarse sensor.
        n_missing: samples that are not numbers.
        field: "t", "q", "qd", "tau", "current", ... that it likely holds; empty where nothing tells.
        joint: that it likely belongs to, as the log calls it.
        by: "name" or "numbers", whatever told.
    """

    number: int
    name: str
    smallest: float
    largest: float
    mean: float
    deviation: float
    step: float
    n_missing: int
    field: str = ""
    joint: str = ""
    by: str = ""


@dataclass(frozen=True)
class Clock:
    """How the time of a log runs, in seconds.

    Attributes:
        duration: from the first to the last stamp.
        rate: that of the typical step [Hz]; NaN where time stands still.
        shortest, longest: steps between stamps that differ.
        n_repeated: stamps that are the same as the one before.
        n_gaps: steps of more than 20 typical ones.
        n_backwards: stamps before their predecessor.
        unit: that the stamps are likely in: s, ms, us or ns.
    """

    duration: float
    rate: float
    shortest: float
    longest: float
    n_repeated: int
    n_gaps: int
    n_backwards: int
    unit: str = "s"
    first: float | None = None
    last: float | None = None
    typical: float = 0.0

    @classmethod
    def empty(cls) -> Clock:
        """State before the first stamp."""
        return cls(0.0, float("nan"), np.inf, 0.0, 0, 0, 0)

    def later(self, stamps: Array) -> Clock:
        """State after the next stamps."""
        # Also drops NaN, which compares as false.
        stamps = stamps[np.abs(stamps) <= LARGEST]
        if not len(stamps):
            return self
        # The last stamp of the piece before, so that the step between pieces counts.
        known = stamps if self.last is None else np.concatenate([[self.last], stamps])
        steps = np.diff(known)
        forward = steps[steps > 0]
        # Rows in the wrong order have a rate all the same.
        forward = forward if len(forward) else -steps[steps < 0]
        # Fixed by the first piece: gaps later in the log do not move it.
        typical = self.typical or (float(np.median(forward)) if len(forward) else 0.0)
        return replace(
            self,
            first=float(stamps[0]) if self.first is None else self.first,
            last=float(stamps[-1]),
            typical=typical,
            shortest=min(self.shortest, float(forward.min(initial=np.inf))),
            longest=max(self.longest, float(forward.max(initial=0.0))),
            n_repeated=self.n_repeated + int((steps == 0).sum()),
            n_gaps=self.n_gaps + int((steps > MIN_GAP_STEPS * typical).sum()) if typical else self.n_gaps,
            n_backwards=self.n_backwards + int((steps < 0).sum()),
        )

    def __str__(self) -> str:
        parts = [f"{self.duration:.4g} s at {self.rate:.4g} Hz"]
        if self.longest > 1.5 * self.shortest:
            parts.append(f"steps of {1e3 * self.shortest:.3g} to {1e3 * self.longest:.3g} ms")
        numbers = ((self.n_repeated, "repeated stamp"), (self.n_gaps, "gap"), (self.n_backwards, "step backwards"))
        return ", ".join([*parts, *(counted(n, noun) for n, noun in numbers if n)])


def clock_of(read: Clock | None, stamps: Array | None) -> Clock | None:
    """The clock in seconds, its unit guessed from the typical step; of the first stamps where no more were read."""
    clock = Clock.empty().later(stamps) if read is None and stamps is not None else read
    if clock is None or clock.first is None or clock.last is None or not clock.typical:
        return None
    step = clock.typical
    unit = unit_of_step(step)
    second = TIME_UNITS[unit][1]
    return replace(
        clock,
        unit=unit,
        duration=abs(clock.last - clock.first) * second,
        rate=1 / (step * second),
        shortest=clock.shortest * second,
        longest=clock.longest * second,
    )


def sentences(
    source: str,
    columns: Sequence[LogColumn],
    clock: Clock | None,
    time: str | None,
    contents: Contents,
    first: Mapping[str, Array],
    *,
    has_names: bool,
    n_joints: int | None = None,
) -> tuple[list[str], dict[str, Any]]:
    """What to say about a log, and the options of `read_recording` that follow from it."""
    held = {name: [c for c in columns if c.field == name] for name in MEANINGS}
    options: dict[str, Any] = {}
    told = [_fields(held)]
    if any(c.by == "numbers" for c in columns) and contents.fields:
        options["columns"] = mapped(time, contents.fields)
        why = "the file has no names" if not has_names else "no usual names"
        told.append(f"{why}: by their numbers they may be {argument('columns', options['columns'])}; check it")
        told += [f"{argument('columns', mapped(time, other))} fits nearly as well" for other in contents.others]
        if n_joints is None and not has_names:
            told.append(f"that it is of {counted(len(contents.fields['q']), 'joint')} is a guess: name the robot")
    # Each helper adds its sentences, and the options that follow from them.
    rate = None
    if clock is None and time is None:
        rate = told_rate(*([first[c.name] for c in held[name] if c.name in first] for name in ("q", "qd")))
    told += _time(clock, time, rate, options)
    lone = _lone(held, first)
    told += [
        f"{name} is {one.value:.6g} at sample {one.sample}, while the others run from {one.low:.4g} to {one.high:.4g}: "
        "it cannot be meant, leave its row out"
        for name, one in lone.items()
    ]
    # What is known of a column without the samples that cannot be meant.
    for name in ("q", "qd", "tau"):
        held[name] = [
            replace(c, smallest=lone[c.name].low, largest=lone[c.name].high) if c.name in lone else c
            for c in held[name]
        ]
    told += _units(held, _rate_ratio(contents, clock), options)
    # Names tell currents; without a gain, their unit of torque is unknown.
    if held["current"] and not held["tau"]:
        options.setdefault("gains", ...)
        told.append(
            f"{held['current'][0].name} ... are motor currents by their names, and there are no torques: give the "
            f"torque for a unit of current, {argument('gains', [...])}"
        )
    missing = [c.name for c in columns if c.n_missing]
    if missing:
        told.append(
            f"{', '.join(missing[:5])} hold{'s' * (len(missing) == 1)} samples that are not numbers: cut them out"
        )
    told += marked_rows(first, [c.name for c in columns if not c.field], [c.name for c in held["q"]])
    if not lone:
        told += _rest(held["q"], clock, time, first, options)
    # Dots mark what the user alone knows; `read_recording` cannot take them.
    return [f"{source}: {sentence}" for sentence in told], {k: v for k, v in options.items() if v is not ...}


def _lone(held: Mapping[str, Sequence[LogColumn]], first: Mapping[str, Array]) -> dict[str, LoneSample]:
    """Column -> its farthest sample that cannot be meant, of those that have some."""
    found: dict[str, LoneSample] = {}
    for name in ("q", "qd", "tau"):
        # A file without samples has columns all the same.
        columns = [c.name for c in held[name] if c.name in first]
        values = np.column_stack([first[column] for column in columns]) if columns else np.zeros((0, 0))
        # Numbers that are missing, and error codes, are told elsewhere.
        if len(values) >= FEWEST_SAMPLES and (np.abs(values) <= LARGEST).all():
            found |= {columns[one.joint]: one for one in lone_in(values, name)}
    return found


def _fields(held: Mapping[str, Sequence[LogColumn]]) -> str:
    parts = [f"{MEANINGS[name]} of {counted(len(several), 'joint')}" for name, several in held.items() if several]
    return f"holds {', '.join(parts)}" if parts else "holds nothing that is known by its name or its numbers"


def mapped(time: str | None, fields: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Columns as an option takes them."""
    clock = {"t": time} if time else {}
    return clock | {name: numbered(places) for name, places in fields.items()}


def _time(clock: Clock | None, time: str | None, rate: float | None, options: dict[str, Any]) -> list[str]:
    if clock is None and time is not None:
        return [
            f"{time} stands still: map the column that holds the time, or leave it out and give the rate, "
            f"{argument('columns', {'t': None})} {argument('rate', 1000.0)}"
        ]
    if clock is None and rate is not None:
        options["rate"] = rate
        return [f"no time column: velocities are those of samples at {rate:g} Hz, {argument('rate', rate)}"]
    if clock is None:
        options["rate"] = ...
        return [f"no time column: give the sampling rate, {argument('rate', 1000.0)}"]
    told = []
    if clock.unit != "s":
        options["time_unit"] = clock.unit
        told.append(f"{time} runs in {TIME_UNITS[clock.unit][0]}: {argument('time_unit', clock.unit)}")
    if clock.first is not None and clock.last is not None and clock.last < clock.first:
        told.append(f"{time} runs backwards: sort the rows by it, or split the file where the clock was reset")
    elif clock.n_backwards:
        told.append(f"{time} runs backwards {counted(clock.n_backwards, 'time')}: split the file there")
    return told


def _rate_ratio(contents: Contents, clock: Clock | None) -> float | None:
    """Measured velocity over the rate of the positions per second."""
    if contents.rate_ratio is None or clock is None:
        return None
    # The ratio is per unit of the clock, in which the rates were taken.
    return contents.rate_ratio * TIME_UNITS[clock.unit][1]


def _units(held: Mapping[str, Sequence[LogColumn]], ratio: float | None, options: dict[str, Any]) -> list[str]:
    """Units that names, ranges or the ratio of velocities to rates of positions tell."""
    units: dict[str, str] = {}
    told = []
    for name in ("q", "qd", "tau"):
        for column in held[name]:
            said = unit_said(column.name)
            unit = unit_of(said)
            # Units of unknown size (counts, %) have no SI value to read them with.
            if unit is not None and np.isfinite(unit.si) and unit.si != 1.0:
                units.setdefault(name, said)
    # Largest position of any joint: one beyond the limit is enough.
    size = max((max(abs(c.smallest), abs(c.largest)) for c in held["q"]), default=0.0)
    if held["q"] and OF_MOTORS.search(plain_name(held["q"][0].name)):
        told.append(f"{held['q'][0].name} ... are positions of motors by their names: divide them by the gear ratios")
    elif "q" not in units and size > MOST_RADIANS:
        wide = [c.name for c in held["q"] if max(abs(c.smallest), abs(c.largest)) > MOST_RADIANS]
        # A few of many: the others are in radians, as a joint in degrees moves by more than that.
        few = 2 * len(wide) < len(held["q"])
        whose = f"positions of {', '.join(wide)}" if few else "positions"
        degrees, lengths = (dict.fromkeys(wide if few else ["q"], unit) for unit in ("deg", "mm"))
        slide = argument("units", lengths)
        if size <= MOST_DEGREES:
            units |= degrees
            told.append(f"{whose} reach {size:.4g}, which reads as degrees ({slide} where joints slide)")
        else:  # without a robot nobody knows
            told.append(
                f"{whose} reach {size:.4g}, which reads as millimetres of joints that slide: {slide}; or as degrees of "
                f"several turns: {argument('units', degrees)}"
            )
    if ratio is not None and held["qd"] and "qd" not in units:
        own = next((unit for unit, r in RATIOS.items() if abs(ratio / r - 1) < RATIO_TOLERANCE), None)
        if own is not None:
            units["qd"] = own
            told.append(f"velocities are {ratio:.3g} times the rates of the positions, which reads as {own}")
        # Velocities that agree with positions in degrees are in degrees per second.
        elif "q" in units and abs(ratio - 1) < RATIO_TOLERANCE:
            units["qd"] = units["q"]
    if units:
        options["units"] = units
        told.append(f"units: {argument('units', units)}")
    return told


def _rest(
    positions: Sequence[LogColumn],
    clock: Clock | None,
    time: str | None,
    first: Mapping[str, Array],
    options: dict[str, Any],
) -> list[str]:
    """Where the motion begins and ends, if the beginning of the log that was read holds all of it."""
    # A log that was read in part shows no end of the motion.
    if clock is None or clock.n_backwards or time is None or not positions or clock.last != float(first[time][-1]):
        return []
    speeds = np.abs(np.gradient(np.array([first[c.name] for c in positions]), axis=1)).max(axis=0)
    moving = np.flatnonzero(speeds > AT_REST * speeds.max(initial=0.0))
    if not len(moving):
        return ["nothing moves"]
    t = (first[time] - first[time][0]) * TIME_UNITS[clock.unit][1]
    start, end = float(t[moving[0]]), float(t[moving[-1]])
    # Motion from end to end: nothing to cut.
    if start < 0.02 * clock.duration and end > 0.98 * clock.duration:
        return []
    options["between"] = round(start, 3), round(end, 3)
    return [f"moves from {start:.4g} to {end:.4g} s: cut the rest with {argument('between', options['between'])}"]
