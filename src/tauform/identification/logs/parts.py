"""A file of a recording, opened: which of its columns are read, and how its numbers become those of a Recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.identification.logs.columns import Given, LogLayout, guess_layout
from tauform.identification.logs.contents import numbered
from tauform.identification.logs.field_files import layouts_of, refuse_one_field
from tauform.identification.logs.field_names import FIELD_NAMES
from tauform.identification.logs.formats.log import Log, Table
from tauform.identification.logs.formats.open import open_log, readable
from tauform.identification.logs.inspect import NoNumbersError, look_for
from tauform.identification.logs.joints import Joints, column_of, remedy_for
from tauform.identification.logs.missing_fields import by_numbers
from tauform.identification.logs.rows import Ranges, Trigger
from tauform.identification.logs.units import Scales, Units, scales
from tauform.identification.recording.stored import Buffer, Spool
from tauform.wording import argument

# Files from this size on stay on disk.
STREAMED_BYTES = 400_000_000
# Samples that are read at once.
ROWS_PER_CHUNK = 100_000


@dataclass(frozen=True)
class Reading:
    """What a user says about a log, as `read_recording` takes it.

    Attributes:
        drive: torques from what the torque columns hold.
        scaled: whether gains were given.
        rate: samples per second; None where there are time stamps.
        between: seconds that are kept; None keeps all.
    """

    joints: Joints
    drive: Callable[[Array], Array]
    scaled: bool = False
    units: Units | None = None
    degrees: bool = False
    time_unit: str = "s"
    rate: float | None = None
    trigger: Trigger | None = None
    topic: str | None = None
    stream: bool | None = None
    between: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class LogPart:
    """A file that is read, and what for.

    Attributes:
        trigger: which rows are kept, if this file says it.
        own_findings: what was done on the way; complete once the arrays were read.
        clock: of the log where time is zero [s]; there once the arrays were read.
        held: lowest and highest position of joints that the description holds still, from then on.
    """

    path: Path
    log: Log
    layout: LogLayout
    scales: Scales
    reading: Reading
    trigger: Trigger | None = None
    own_findings: list[str] = field(default_factory=list)
    clock: list[float] = field(default_factory=list)
    held: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def findings(self) -> tuple[str, ...]:
        """Sentences about what was repaired or left out."""
        return (*self.log.findings, *self.scales.findings, *self.own_findings)

    @property
    def trigger_column(self) -> str | None:
        """Column that says which rows are kept; None without a trigger."""
        names = [name for name, width in self.log.widths.items() if width is None]
        return None if self.trigger is None else self.trigger.column_in(names, self.path.name)

    @property
    def is_streamed(self) -> bool:
        """Whether samples go to temporary files."""
        if self.reading.stream is not None:
            return self.reading.stream
        files = [file for file in self.path.rglob("*") if file.is_file()] if self.path.is_dir() else [self.path]
        # Packed files grow when read: the larger of both sizes decides.
        n_bytes = self.log.n_bytes(wanted(self.layout))
        return max(n_bytes, sum(file.stat().st_size for file in files)) >= STREAMED_BYTES

    def arrays(self, since: float | None = None) -> dict[str, Any]:
        """The fields of a recording, in memory or in temporary files; time counts from the first sample, or `since`.

        Raises:
            RecordingError: there are no samples.
        """
        with readable(self.path):
            read = self._collected(since)
        if not read:
            raise RecordingError(f"{self.path.name}: holds no samples")
        return read

    def _collected(self, since: float | None) -> dict[str, Any]:
        # One sink per field: pieces are appended, and no table of the whole log is ever held.
        sinks = {name: Spool() if self.is_streamed else Buffer() for name in ("t", *self.layout.fields())}
        column = self.trigger_column
        ranges = None if self.trigger is None else Ranges(self.trigger, self.path.name)
        held = held_columns(self.log.widths, self.reading.joints.robot)
        names, rows, any_sample = [*wanted(self.layout), *held.values()], 0, False
        # The trigger's column is read along, once, even where it is a field too.
        for table in self.log.chunks(list(dict.fromkeys([*names, *([column] if column else [])])), ROWS_PER_CHUNK):
            # Rows before the trigger count too: stamps made from the rate must keep the pauses.
            fields = self._fields(table, rows) | {joint: table[column] for joint, column in held.items()}
            rows += len(fields["t"])
            if ranges is not None and column is not None:
                kept = ranges.add(table[column])
                fields = {name: values[kept] for name, values in fields.items()}
            if not len(fields["t"]):
                continue
            any_sample = True
            # absolute stamps lose digits in differences
            since = float(fields["t"][0]) if since is None else since
            with np.errstate(
                invalid="ignore", over="ignore"
            ):  # of damaged stamps; those that are no number are refused
                fields["t"] = (fields["t"] - since) * self.scales.second
            for joint in held:
                self._see(joint, fields["t"], fields.pop(joint))
            for name, values in fields.items():
                sinks[name].add(self._in_si(name, values))
        if ranges is not None:
            self.own_findings.append(ranges.finding())
        if since is not None and self.layout.t is not None:
            self.clock.append(since * self.scales.second)
        return {name: sink.finish() for name, sink in sinks.items()} if any_sample else {}

    def _fields(self, table: Table, first: int) -> dict[str, Array]:
        """Columns put together; time stamps from the rate where there are none, `first` rows having come before."""
        fields = {
            # A matrix (N, n) as it is, single columns (N,) side by side.
            name: table[names[0]] if table[names[0]].ndim == 2 else np.column_stack([table[column] for column in names])
            for name, names in self.layout.fields().items()
        }
        if self.layout.t is not None:
            return {"t": table[self.layout.t], **fields}
        count = len(next(iter(fields.values())))
        # The rate stands for stamps: `first` keeps pieces in one clock.
        return {"t": np.arange(first, first + count) / (self.reading.rate or 1.0), **fields}

    def _see(self, joint: str, t: Array, positions: Array) -> None:
        """Widen the range of a joint that the description holds still."""
        start, end = self.reading.between or (-np.inf, np.inf)
        seen = positions[(t >= start) & (t <= end) & np.isfinite(positions)]
        # Units of each joint's own column are none of this one's.
        scale = np.unique(self.scales.fields.get("q", 1.0))
        if len(seen) and len(scale) == 1:
            ends = (*self.held.get(joint, ()), *(float(scale[0] * x) for x in (seen.min(), seen.max())))
            self.held[joint] = min(ends), max(ends)

    def _in_si(self, name: str, values: Array) -> Array:
        # Units first, where they were told; gains multiply what comes of it.
        # What a huge factor makes of them is no number, which the recording refuses.
        with np.errstate(over="ignore", invalid="ignore"):
            values = values * self.scales.fields[name] if name in self.scales.fields else values
            values = values + self.scales.zeros[name] if name in self.scales.zeros else values
            return self.reading.drive(values) if name == "tau" else values


def held_columns(names: Iterable[str], robot: Robot) -> dict[str, str]:
    """Joint that the robot's description holds still -> column with its positions."""
    words, listed = FIELD_NAMES["q"], list(names)
    found = {own.name: column_of(own.name, listed, words) for own in robot.held}
    return {joint: column for joint, column in found.items() if column is not None}


def open_parts(paths: Sequence[Path], columns: Given | None, reading: Reading) -> list[LogPart]:
    """Open files that make up one recording, and find what each holds.

    Raises:
        RecordingError: a field is missing, or is there more than once.
    """
    logs = [_opened(path, reading) for path in paths]
    if len(paths) == 1:
        layouts = [_layout(logs[0], columns, paths[0], reading)]
    else:
        # Several files: each may hold one field, and says so by its columns or its name.
        layouts = layouts_of(logs, paths, columns, reading.joints, timed=reading.rate is None)
    triggering = _triggering(logs, reading.trigger)
    return [
        LogPart(
            path, log, layout, _scales(layout, path, reading), reading, reading.trigger if k == triggering else None
        )
        for k, (path, log, layout) in enumerate(zip(paths, logs, layouts, strict=True))
    ]


def _triggering(logs: Sequence[Log], trigger: Trigger | None) -> int | None:
    """Which file holds the trigger; the first where none does, which then says so."""
    if trigger is None:
        return None
    return next((k for k, log in enumerate(logs) if trigger.column in log.widths), 0)


def _scales(layout: LogLayout, path: Path, reading: Reading) -> Scales:
    return scales(
        layout,
        reading.joints.robot,
        path.name,
        units=reading.units,
        degrees=reading.degrees,
        time_unit=reading.time_unit,
        scaled=reading.scaled,
    )


def _opened(path: Path, reading: Reading) -> Log:
    try:
        return open_log(path, reading.topic, reading.joints.called)
    except RecordingError as error:
        # Other errors are final; this one carries the names that a bag holds, for a remedy.
        if error.argument != "joints" or not isinstance(error.value, list):
            raise
        remedy = remedy_for(reading.joints, error.value)
        said = f"{error.args[0]}; the robot has {reading.joints.described()}"
        raise RecordingError(said, argument="joints", value=error.value, remedy=remedy) from None


def _layout(log: Log, columns: Given | None, path: Path, reading: Reading) -> LogLayout:
    """Columns of a file that holds all fields."""

    def suggest() -> Mapping[str, Any]:
        return suggested_options(path, log, len(reading.joints), timed=reading.rate is None)

    try:
        return guess_layout(log.widths, reading.joints, columns, path.name, timed=reading.rate is None, suggest=suggest)
    except RecordingError:
        if not columns:
            refuse_one_field(path, log, reading.joints)
        # With names or a mapping, the message about these is the useful one.
        if log.has_names or columns:
            raise
        n = len(reading.joints)
        example = {"t": "1", "q": f"2-{n + 1}", "tau": f"{n + 2}-{2 * n + 1}"}
        raise RecordingError(
            f"{path.name}: the first line holds numbers and no names of its {len(log.widths)} columns",
            argument="columns",
            remedy=by_numbers(suggest(), reading.joints)
            or f"say which is what, for example {argument('columns', example)}",
        ) from None


def suggested_options(path: Path, log: Log, n_joints: int, *, timed: bool = True) -> dict[str, Any]:
    """What `read_recording` may have to be told, as `inspect_log` says it; empty where the numbers do not tell.

    "joints" is how many there seem to be, where these are fewer than the robot's; "others" are columns that fit nearly
    as well.
    """
    try:
        seen = look_for(path, log, n_joints, whole=False)
    except NoNumbersError:  # says more than which name is missing
        raise
    except RecordingError:  # columns of different lengths
        return {}
    held = sum(column.field == "q" for column in seen.columns)
    known = {name: seen.options[name] for name in ("rate",) if timed and name in seen.options}
    # Where names tell, nothing is to be mapped.
    if "tau" not in seen.options.get("columns", {}):
        return known
    told: dict[str, Any] = {
        name: seen.options[name] for name in ("columns", "units", "time_unit") if name in seen.options
    }
    if timed and "t" not in told["columns"]:
        told |= known or {"rate": 1000.0, "rate_is_example": True}
    elif not timed:  # the rate was given: stamps would say it twice
        told["columns"] = {name: places for name, places in told["columns"].items() if name != "t"}
    told["others"] = seen.others
    if held > n_joints:  # which of them are the robot's is for the user to say
        kept = {of: [c.name for c in seen.columns if c.field == of][:n_joints] for of in told["columns"] if of != "t"}
        told |= {"columns": {**told["columns"], **{of: numbered(names) for of, names in kept.items()}}, "others": ()}
    return told if held == n_joints else {**told, "joints": held}


def wanted(layout: LogLayout) -> list[str]:
    """Every column that is read, once."""
    clock = [] if layout.t is None else [layout.t]
    return list(dict.fromkeys([*clock, *(column for names in layout.fields().values() for column in names)]))


def checked_rate(rate: float | None) -> float | None:
    """Raise RecordingError for a rate that is none."""
    if rate is not None and not 0 < rate < np.inf:
        sentence = f"{argument('rate')} takes samples per second, not {rate:g}"
        raise RecordingError(sentence, argument="rate", value=rate, remedy=f"for example {argument('rate', 1000.0)}")
    return rate


def drive_of(gains: ArrayLike | None, robot: Robot) -> Callable[[Array], Array]:
    """Torques from what the torque column holds."""
    if gains is None:
        return lambda values: values
    needed = f"{argument('gains')} needs {robot.n_joints} numbers or a square matrix"
    try:
        matrix = np.asarray(gains, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise RecordingError(f"{needed}, not {gains!r:.60}", argument="gains", value=gains) from None
    if matrix.shape not in ((robot.n_joints,), (robot.n_joints,) * 2):
        raise RecordingError(f"{needed}, not {matrix.shape}", argument="gains", value=gains)
    if not np.isfinite(matrix).all():
        sentence, remedy = "holds something that is not a number", "give torque for a unit of current"
        raise RecordingError(f"{argument('gains')} {sentence}", argument="gains", value=gains, remedy=remedy)
    # tau = gains @ current at every sample
    return lambda values: values * matrix if matrix.ndim == 1 else values @ matrix.T
