"""inspect_log: what a log holds, before it is read as a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

import numpy as np

from tauform.arrays import LARGEST, Array
from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.identification.logs.column_names import listed, plain_name
from tauform.identification.logs.contents import SAMPLES, Contents, blocks_of_names, guess_contents
from tauform.identification.logs.field_files import field_of
from tauform.identification.logs.field_names import FIELD_NAMES, MATRIX_NAMES, TIME_NAMES
from tauform.identification.logs.formats.log import Log
from tauform.identification.logs.formats.open import open_log, readable
from tauform.identification.logs.guesses import Clock, LogColumn, clock_of, mapped, sentences
from tauform.identification.logs.joints import joint_columns

# Samples that are read at once.
ROWS_PER_CHUNK = 50_000
# Columns of which the numbers are looked at; logs of whole machines have thousands.
MOST_COLUMNS = 2000


class NoNumbersError(RecordingError):
    """No column of a log holds numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class LogSummary:
    """What a log holds.

    Attributes:
        name: of the file.
        n_samples: rows.
        columns: in the order of the file; those of a matrix one by one ("q:1").
        clock: how time runs; None without a time column.
        joints: names of the joints, as the log calls them.
        findings: sentences on what it holds and lacks, each with what mends it.
        options: what `read_recording` needs beside the robot, as far as that can be told: "columns", "units", ...
        others: columns that may be meant as well, where other readings of the numbers stand close.
    """

    name: str
    n_samples: int
    columns: tuple[LogColumn, ...]
    clock: Clock | None
    joints: tuple[str, ...]
    findings: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[Mapping[str, Any], ...] = ()

    def __repr__(self) -> str:
        at = "" if self.clock is None else f", {self.clock}"
        return "\n".join([f"{self.name}: {len(self.columns)} columns, {self.n_samples} samples{at}", *self.findings])


# A text is a sequence of texts as well, but the first form comes first.
@overload
def inspect_log(  # type: ignore[overload-overlap]
    path: str | Path, *, topic: str | None = None, robot: Robot | None = None
) -> LogSummary:
    """What one log holds."""


@overload
def inspect_log(
    path: Sequence[str | Path], *, topic: str | None = None, robot: Robot | None = None
) -> tuple[LogSummary, ...]:
    """What each of several logs holds."""


def inspect_log(
    path: str | Path | Sequence[str | Path], *, topic: str | None = None, robot: Robot | None = None
) -> LogSummary | tuple[LogSummary, ...]:
    """Look at a log: its columns, rates, ranges, and what each column likely holds.

    Names tell where they are usual ones, else the numbers do: a column that rises evenly is the clock, one that is the
    rate of another holds velocities.

    Args:
        path: .csv, .npz, .parquet, .mat, or a rosbag2; of several a summary each.
        topic: of a bag with several JointState topics.
        robot: that it is of; without one, the number of joints is a guess too.

    Raises:
        RecordingError: the file cannot be read.
        MissingExtraError: the format's reader is not installed.
    """
    if not isinstance(path, str | Path):
        return tuple(inspect_log(each, topic=topic, robot=robot) for each in path)
    path = Path(path)
    return look_for(path, open_log(path, topic), None if robot is None else robot.n_joints)


def look_for(path: Path, log: Log, n_joints: int | None, *, whole: bool = True) -> LogSummary:
    """What a log that was opened holds, as positions and torques of so many joints, or of others if it does not."""
    seen = look(path, log, n_joints, whole=whole)
    if n_joints is None or _n_measured(seen):
        return seen
    other = look(path, log, whole=whole)
    return other if _n_measured(other) else seen


def _n_measured(seen: LogSummary) -> int:
    """Joints with positions and torques."""
    held = [column.field for column in seen.columns]
    return held.count("q") if "tau" in held else 0


def look(path: Path, log: Log, n_joints: int | None = None, *, whole: bool = True) -> LogSummary:
    """What a log that was opened holds.

    Args:
        n_joints: of the robot that it may be of; any number where None.
        whole: whether all of it is read; else its beginning has to do.
    """
    # Matrices are opened to columns by the reader: "q:1".
    names = [name for name, width in log.widths.items() if width is None][:MOST_COLUMNS]
    with readable(path):
        names, first = _readable_columns(path, log, names)
        statistics = [_Statistics() for _ in names]
        clocks = {name: Clock.empty() for name in names if plain_name(name) in TIME_NAMES}
        n_samples = 0
        tables = log.chunks(names, ROWS_PER_CHUNK) if whole else iter((first,))
        for table in tables if names else ():
            n_samples += len(table[names[0]])
            for name, column in zip(names, statistics, strict=True):
                # One pass over the file: the log may be larger than memory.
                column.add(table[name])
            for name in clocks:
                clocks[name] = clocks[name].later(table[name])
    contents = guess_contents(first, n_joints)
    roles = _roles(path, log, names, contents)
    time = next((name for name, (role, _, _) in roles.items() if role == "t"), None)
    columns = tuple(
        column.summary(k + 1, name, *roles.get(name, ("", "", "")))
        for k, (name, column) in enumerate(zip(names, statistics, strict=True))
    )
    # A clock found by its numbers was not counted in the pass: its first samples have to do.
    clock = clock_of(clocks.get(time) if time else None, first.get(time) if time else None)
    # In the order of their first appearance.
    joints = tuple(dict.fromkeys(column.joint for column in columns if column.joint and column.field != "t"))
    told, options = sentences(
        path.name, columns, clock, time, contents, first, has_names=log.has_names, n_joints=n_joints
    )
    others = tuple(mapped(time, fields) for fields in contents.others) if "columns" in options else ()
    return LogSummary(path.name, n_samples, columns, clock, joints, (*log.findings, *told), options, others)


def _readable_columns(path: Path, log: Log, names: list[str]) -> tuple[list[str], dict[str, Array]]:
    """Columns of numbers of one length, and their first samples; of a table, those that hold text are left out.

    Raises:
        RecordingError: no column can be read.
    """
    # Archives hold arrays of several lengths: samples are those of the most frequent, then the longest.
    counts = [log.lengths[name] for name in names if name in log.lengths]
    if counts:
        longest = max(set(counts), key=lambda count: (counts.count(count), count))
        names = [name for name in names if log.lengths.get(name) == longest]
        return names, next(iter(log.chunks(names, SAMPLES)), {}) if names else {}
    if not names:
        return names, {}
    try:
        return names, next(iter(log.chunks(names, SAMPLES)), {})
    # Readers raise errors of their own for text; only which column it is matters here.
    except Exception:  # some hold text: find out which
        faults = {name: _fault(log, name) for name in names}
        kept = [name for name, fault in faults.items() if fault is None]
        if not kept:
            raise _unreadable(path, faults) from None
        return kept, next(iter(log.chunks(kept, SAMPLES)), {})


def _fault(log: Log, name: str) -> Exception | None:
    """What keeps a column from being read."""
    try:
        next(iter(log.chunks([name], SAMPLES)), None)
    except Exception as error:
        return error
    return None


def _unreadable(path: Path, faults: Mapping[str, Exception | None]) -> Exception:
    first = next(iter(faults.values()))
    # A damaged line is the same fault for every column; words are one of each.
    if isinstance(first, RecordingError) and len({str(fault) for fault in faults.values()}) == 1:
        return first
    sentence = f"{path.name}: none of its columns ({listed(list(faults))}) holds numbers"
    return NoNumbersError(sentence, remedy="export time, positions and torques of the joints as columns of numbers")


def _roles(path: Path, log: Log, names: list[str], contents: Contents) -> dict[str, tuple[str, str, str]]:
    """Column -> field, joint, and whether its name, that of the file or its numbers told."""
    roles: dict[str, tuple[str, str, str]] = {}
    for name in names:
        if plain_name(name) in TIME_NAMES:
            roles[name] = "t", "", "name"
    # Columns of a matrix go by its name: joint 1 is its first column.
    for matrix, width in log.widths.items():
        of = next((fld for fld, usual in MATRIX_NAMES.items() if plain_name(matrix) in usual), None)
        for k in range(width or 0) if of else ():
            roles[f"{matrix}:{k + 1}"] = str(of), str(k + 1), "name"
    for of, by_joint in joint_columns([n for n in names if ":" not in n], FIELD_NAMES).items():
        for joint, name in by_joint.items():
            roles.setdefault(name, (of, joint, "name"))
    # Usual names found: numbers are not asked, for two answers would contradict each other.
    if {"q", "tau"} & {role for role, _, _ in roles.values()}:
        return roles
    if contents.t is not None and not any(role == "t" for role, _, _ in roles.values()):
        roles[contents.t] = "t", "", "numbers"
    # Columns that are called as the joints are: what they hold, the name of the file says.
    one = field_of(path) if log.has_names and not blocks_of_names(list(names), None).size else None
    if one is not None:
        return {name: (one, name, "file") for name in names if ":" not in name} | roles
    for of, places in contents.fields.items():
        for k, name in enumerate(places):
            roles.setdefault(name, (of, str(k + 1), "numbers"))
    return roles


class _Statistics:
    """Range, mean and deviation of a column, piece by piece."""

    def __init__(self) -> None:
        self.count = self.missing = 0
        self.smallest, self.largest, self.step = np.inf, -np.inf, np.inf
        self.total = self.squares = 0.0
        self.origin: float | None = None

    def add(self, values: Array) -> None:
        known = values[np.abs(values) <= LARGEST]
        self.missing += len(values) - len(known)
        if not len(known):
            return
        # sums about a value of the column itself, so that large stamps keep their digits
        self.origin = float(known[0]) if self.origin is None else self.origin
        about = known - self.origin
        self.count, self.total, self.squares = (
            self.count + len(known),
            self.total + float(about.sum()),
            self.squares + float((about**2).sum()),
        )
        self.smallest, self.largest = min(self.smallest, float(known.min())), max(self.largest, float(known.max()))
        changes = np.abs(np.diff(known))
        self.step = min(self.step, float(changes[changes > 0].min(initial=np.inf)))

    def summary(self, number: int, name: str, role: str, joint: str, by: str) -> LogColumn:
        if not self.count or self.origin is None:
            nan = float("nan")
            return LogColumn(number, name, nan, nan, nan, nan, nan, self.missing, role, joint, by)
        mean = self.total / self.count
        # Rounding can make a constant column's variance slightly negative.
        deviation = float(np.sqrt(max(0.0, self.squares / self.count - mean**2)))
        step = self.step if np.isfinite(self.step) else 0.0
        return LogColumn(
            number,
            name,
            self.smallest,
            self.largest,
            self.origin + mean,
            deviation,
            step,
            self.missing,
            role,
            joint,
            by,
        )
