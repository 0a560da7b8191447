"""Recording: what was measured on a moving robot, validated."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import checked_methods
from tauform.arrays import LARGEST, Array, read_only
from tauform.deferred import deferred
from tauform.description.drives.friction import ABSOLUTE_ZERO
from tauform.errors import RecordingError
from tauform.identification.recording.stored import is_lazy
from tauform.identification.recording.turns import unwrapped
from tauform.notebook import Displayed
from tauform.wording import argument, call

# Checks and filters walk through long recordings in pieces of this many samples.
SAMPLES_PER_PIECE = 200_000
# Samples that the rate is found from.
SAMPLES_OF_RATE = 200_000
# Fewer samples than this cannot be filtered and split into blocks.
FEWEST_SAMPLES = 30
# Time stamps that far apart [s] cannot be those of a moving robot.
MAX_SAMPLE_PERIOD = 0.5
TIME_UNITS = {
    "s": ("seconds", 1.0),
    "ms": ("milliseconds", 1e-3),
    "us": ("microseconds", 1e-6),
    "ns": ("nanoseconds", 1e-9),
}


# No arm is that hot all the time [degrees Celsius], and none that cold in kelvin.
HOTTEST_ARM = 200.0
FIELDS = ("t", "q", "tau", "qd", "qdd", "reference", "temperature")


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Recording(Displayed):
    """Positions and torques of all joints over time; arrays may stay in files (memory-mapped, or read by `stream`).

    Other arrays are copied, unless they cannot be written to, so that what was checked stays as it is.

    Attributes:
        t: (N,) time stamps [s]; they may be irregular or repeat, but not run backwards.
        q: (N, n) joint positions [rad or m].
        tau: (N, n) joint torques or forces [N m or N], on the joint's side of the gear.
        qd: (N, n) measured velocities, or None to differentiate positions.
        qdd: (N, n) accelerations, from a simulation or a sensor; None to differentiate velocities.
        reference: (N, n) commanded positions, where they were recorded; instrumental variables need them.
        temperature: (N, n) of the joints, or (N,) one for all [degrees Celsius]; friction="thermal" needs it.
        name: used in messages and reports.
        findings: sentences about what was repaired on the way in.
        clock: of the log where t is zero [s]: recordings of one robot are put in order by it.
        columns: field -> columns of the log that it was read from, in the robot's order, as `read_recording` takes
            them; empty where arrays were given.
        held: joints that the robot's description holds still -> lowest and highest position in the log [rad or m].
    """

    t: Array
    q: Array
    tau: Array
    qd: Array | None = None
    qdd: Array | None = None
    reference: Array | None = None
    temperature: Array | None = None
    name: str = "recording"
    findings: tuple[str, ...] = ()
    columns: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    clock: float = 0.0
    held: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        t = _numbers(self.t, "t", self.name)
        if t.ndim != 1:
            raise RecordingError(f"{self.name}: t has shape {t.shape}, expected (N,): one time stamp per sample")
        if len(t) < FEWEST_SAMPLES:
            raise RecordingError(f"{self.name}: {len(t)} samples; a recording needs at least {FEWEST_SAMPLES}")
        # Frozen, and its arrays read-only: everything later may rely on what is checked here.
        object.__setattr__(self, "t", t)
        width = np.shape(self.q)[1] if np.ndim(self.q) == 2 else "n"
        # One thermometer for the whole robot.
        if self.temperature is not None and np.ndim(self.temperature) == 1 and np.ndim(self.q) == 2:
            one = np.asarray(self.temperature)[:, None]
            object.__setattr__(self, "temperature", np.repeat(one, np.shape(self.q)[1], axis=1))
        for part in ("q", "tau", "qd", "qdd", "reference", "temperature"):
            values = getattr(self, part)
            if values is None and part not in ("q", "tau"):
                continue
            array = _numbers(values, part, self.name)
            if array.shape != (len(t), width):
                raise RecordingError(
                    f"{self.name}: {part} has shape {array.shape}, expected ({len(t)}, {width}): one row per sample, "
                    "one column per joint"
                )
            object.__setattr__(self, part, array)
        _check_time(t, self.name)
        self._put_turns_together()

    def _put_turns_together(self) -> None:
        # Encoders that start again after a turn: a jump of 2 pi between samples is no motion.
        q, jumps = unwrapped(self.q)
        if not jumps.any():
            return
        object.__setattr__(self, "q", q if is_lazy(q) else read_only(q))
        if self.reference is not None:
            reference, _ = unwrapped(self.reference)
            object.__setattr__(self, "reference", reference if is_lazy(reference) else read_only(reference))
        which = ", ".join(str(j + 1) for j in np.flatnonzero(jumps))
        finding = f"{self.name}: positions jump by a turn {int(jumps.sum())} times (joint {which}): put together again"
        object.__setattr__(self, "findings", (*self.findings, finding))

    @property
    def read_from(self) -> str | None:
        """A sentence that names the columns of the log; None where arrays were given."""
        if not self.columns:
            return None
        held = {name: (names,) if isinstance(names, str) else names for name, names in self.columns.items()}
        return f"{self.name}: read " + "; ".join(f"{name} from {', '.join(names)}" for name, names in held.items())

    @property
    def n_joints(self) -> int:
        """Joints recorded."""
        return int(self.q.shape[1])

    @property
    def n_samples(self) -> int:
        """Samples recorded."""
        return len(self.t)

    @property
    def duration(self) -> float:
        """Time between the first and the last sample [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def rate(self) -> float:
        """Typical sampling rate [Hz]: that of the median step between distinct time stamps."""
        return 1.0 / typical_step(self.t)

    def between(self, start: float, end: float) -> Recording:
        """The part from `start` to `end` seconds after the first sample.

        Raises:
            RecordingError: it does not end after its start, or holds too few samples.
        """
        if not start < end:
            raise RecordingError(f"{self.name}: between: expected an end after the start, got {start:g} to {end:g} s")
        # Bisection: stamps that stay in a file are not read as a whole.
        first, last = (bisect_left(self.t, self.t[0] + at) for at in (start, end))
        return self.part(first, last)

    def part(self, first: int, last: int) -> Recording:
        """Samples first to last (exclusive)."""
        cut: dict[str, Any] = {name: getattr(self, name) for name in FIELDS}
        cut = {name: None if values is None else values[first:last] for name, values in cut.items()}
        # Whether they moved in this part is not known.
        return replace(self, held={}, **cut)

    def plot(self) -> Any:
        """Positions, velocities and torques over time, a figure of Plotly, decimated for the eye."""
        return deferred("Recording.plot")(self)

    def __repr__(self) -> str:
        measured = "positions, velocities and torques" if self.qd is not None else "positions and torques"
        return (
            f"Recording({self.name!r}, {measured} of {self.n_joints} joints, {self.n_samples} samples, "
            f"{self.duration:.1f} s at {self.rate:.0f} Hz)"
        )


def pieces(n_samples: int, overlap: int = 0, size: int | None = None) -> Iterator[tuple[slice, slice]]:
    """Cover 0..n_samples: (samples to read, the part of them that belongs to this piece), neighbours overlapping."""
    count = max(1, -(-n_samples // (size or SAMPLES_PER_PIECE)))
    # Pieces of equal length: a short last one would be filtered badly at both ends.
    edges = np.linspace(0, n_samples, count + 1).astype(int)
    for start, end in itertools.pairwise(edges):
        first, last = max(0, int(start) - overlap), min(n_samples, int(end) + overlap)
        yield slice(first, last), slice(int(start) - first, int(end) - first)


def steps_of(t: Array, size: int | None = None) -> Iterator[tuple[int, Array]]:
    """Steps between time stamps, piece by piece: (sample before the first step, steps)."""
    size = size or SAMPLES_PER_PIECE
    for first in range(0, len(t) - 1, size):
        yield first, np.diff(np.asarray(t[first : first + size + 1]))


def typical_step(t: Array) -> float:
    """Median step between distinct time stamps of the first while [s]; 0 where there are none."""
    # The median: a few gaps, or stamps that repeat, do not move it.
    forward = (steps[steps > 0] for _, steps in steps_of(t, SAMPLES_OF_RATE))
    return next((float(np.median(steps)) for steps in forward if len(steps)), 0.0)


def _numbers(values: ArrayLike, field: str, name: str) -> Array:
    try:
        # What stays in a file is not read until a piece is needed; what the caller could still change is copied.
        array: Any = values if is_lazy(values) or _is_frozen(values) else read_only(values)
    except (TypeError, ValueError, OverflowError):
        raise RecordingError(f"{name}: {field} holds something that is not a number") from None
    for whole, _ in pieces(len(array)) if array.ndim else ():
        piece = np.asarray(array[whole])
        if not np.isfinite(piece).all():
            _refuse_missing(array, whole, field, name)
        if np.abs(piece).max(initial=0.0) > LARGEST:
            raise RecordingError(f"{name}: {field} holds {np.abs(piece).max():g}, which cannot be meant; cut it out")
        if field == "temperature" and piece.size:
            _check_temperature(piece, name)
    return array


def _check_temperature(piece: Array, name: str) -> None:
    coldest = float(piece.min())
    if coldest < ABSOLUTE_ZERO:
        below = f"{coldest:g}, below absolute zero ({ABSOLUTE_ZERO} degrees Celsius)"
        raise RecordingError(f"{name}: temperature holds {below}; give degrees Celsius")
    if coldest > HOTTEST_ARM:
        raise RecordingError(
            f"{name}: temperature is never below {coldest:g} degrees Celsius, as if it were in kelvin",
            remedy=f"read logs with {argument('units', {'temperature': 'K'})}, or give degrees Celsius",
        )


def _is_frozen(values: Any) -> bool:
    """Whether nobody can write to these numbers: a part of a recording is no copy of it."""
    if not isinstance(values, np.ndarray) or values.dtype != np.float64 or values.flags.writeable:
        return False
    owner = values
    # A read-only view of an array that its owner may still write to is not frozen.
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return owner.base is None and not owner.flags.writeable


def _refuse_missing(array: Array, first: slice, field: str, name: str) -> None:
    where = np.argwhere(~np.isfinite(np.asarray(array[first])))[0]
    count = sum(int((~np.isfinite(np.asarray(array[whole]))).sum()) for whole, _ in pieces(len(array)))
    column = f", joint {where[1] + 1}" if len(where) > 1 else ""
    raise RecordingError(
        f"{name}: {field} is not a number at sample {first.start + where[0]}{column} ({count} in all); cut such "
        "samples out or fill them"
    )


def _check_time(t: Array, name: str) -> None:
    for first, steps in steps_of(t):
        backwards = np.flatnonzero(steps < 0)
        if len(backwards):
            k = first + int(backwards[0])
            raise RecordingError(
                f"{name}: time runs backwards after sample {k} ({t[k]:.6g} s to {t[k + 1]:.6g} s); sort the samples, "
                "or split the file where the clock was reset"
            )
    typical = typical_step(t)
    if not typical:
        raise RecordingError(f"{name}: all time stamps are the same; map the column that holds the time")
    # Milliseconds read as seconds: the commonest mistake with logs, told before it becomes a wrong velocity.
    if typical >= MAX_SAMPLE_PERIOD:
        unit = "ns" if typical > 1e5 else "us" if typical > 300 else "ms"
        raise RecordingError(
            f"{name}: samples are {typical:g} apart, so time seems to be in {TIME_UNITS[unit][0]}",
            argument="time_unit",
            remedy=f"convert it to seconds, for example with {call('read_recording', time_unit=unit)}",
        )
