"""condense: the logs of a unit become triangles, one recording after the other, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.errors import IdentificationError, RecordingError, TauformError
from tauform.fleet.evidence.condensed import Plan, UnitLogs, Window
from tauform.fleet.evidence.moving import AT_REST, is_at_rest, travel_of
from tauform.fleet.evidence.plausible import implausible
from tauform.fleet.evidence.prints import print_of
from tauform.fleet.sources.joining import MAX_RATE_DIFFERENCE, Span, are_alike, joined, start_of
from tauform.fleet.sources.reading import LogFile, name_of
from tauform.identification.recording.recording import Recording, pieces
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.evidence import Evidence, updated
from tauform.identification.regression.rows import Rows
from tauform.identification.signals.filters import HIGHEST_POSITION

# Rows of a window that pages show; a few kilobytes.
ROWS_SHOWN = 300


def condense(unit: str, files: Sequence[LogFile], plan: Plan, known: UnitLogs | None = None) -> UnitLogs:
    """Read the logs of a unit one after the other; what cannot be read is set aside with its reason.

    Files that follow each other are joined before they are filtered, so that the result does not depend on where a
    recording was cut into files.

    Args:
        known: what was condensed before; its files are read again only where a new one continues their recording.
    """
    task = _Condensing(unit, plan, {file.mark: file for file in files})
    # A mark changes with the file, so that what was condensed of unchanged files counts as it is.
    windows, excluded = task.still_valid(known)
    before = {mark: window for window in windows for mark in window.files}
    task.excluded += excluded
    left_out = {mark for mark, _ in excluded}
    # In the order of time: neighbours can only be joined where they meet.
    for file in files:
        if file.mark in before:
            task.add_window(before[file.mark])
        elif file.mark not in left_out:
            task.add_file(file)
    task.close()
    return UnitLogs(unit, tuple(task.windows), tuple(task.excluded), frozenset(task.passing))


@dataclass(frozen=True, eq=False)
class _Read:
    """A log that was read: its mark, a print of what it holds, and that."""

    mark: str
    print: int
    recording: Recording


class _Condensing:
    """The recording that is being joined, and what is finished."""

    def __init__(self, unit: str, plan: Plan, files: Mapping[str, LogFile]) -> None:
        self.unit, self.plan, self.files = unit, plan, files
        self.windows: list[Window] = []
        self.excluded: list[tuple[str, str]] = []
        self.passing: set[str] = set()
        self.run: list[_Read] = []
        # By their first file: several files of the data set lead to one window.
        self.taken: set[str] = set()
        # What each log holds -> its mark.
        self.prints: dict[int, str] = {}

    def still_valid(self, known: UnitLogs | None) -> tuple[list[Window], list[tuple[str, str]]]:
        """Windows and exclusions all of whose files are unchanged."""
        if known is None:
            return [], []
        windows = [window for window in known.windows if all(mark in self.files for mark in window.files)]
        for window in windows:
            self.prints |= dict(zip(window.prints, window.files, strict=True))
        return windows, [pair for pair in known.excluded if pair[0] in self.files]

    def add_file(self, file: LogFile) -> None:
        """Read a file; it continues the recording before it, or begins another."""
        read = self._read(file)
        if read is None:
            return
        start = start_of(read.recording)
        # What was condensed before is read again only where this file continues it.
        if not self.run and self.windows and _span(self.windows[-1]).is_continued_at(start):
            self._open(self.windows.pop())
        # Joined files have no filter transient at their border, which costs rows at both ends.
        if self.run and not (
            self._open_span().is_continued_at(start) and are_alike(self.run[-1].recording, read.recording)
        ):
            self.close()
        self.run.append(read)

    def add_window(self, window: Window) -> None:
        """Take over what is known, unless it continues a file that was just read."""
        if window.files[0] in self.taken:
            return
        self.taken.add(window.files[0])
        if self.run and self._open_span().is_continued_at(window.start):
            self._open(window)
            return
        self.close()
        self.windows.append(window)

    def close(self) -> None:
        """Condense the recording that is open."""
        if self.run:
            self._add(self.run)
        self.run = []

    def _open_span(self) -> Span:
        return Span.of([read.recording for read in self.run])

    def _open(self, window: Window) -> None:
        for mark in window.files:
            read = self._read(self.files[mark])
            if read is not None:
                self.run.append(read)

    def _read(self, file: LogFile) -> _Read | None:
        try:
            recording = self.plan.reading.read(self.plan.robot, self.unit, file)
        # A damaged log costs itself only; a fleet always has some.
        except (TauformError, OSError) as error:
            self.excluded.append((file.mark, str(error)))
            # Of the storage, not of the log: worth another attempt in the next run.
            if isinstance(error, OSError):
                self.passing.add(file.mark)
            return None
        read = _Read(file.mark, print_of(recording), recording)
        first = self.prints.setdefault(read.print, file.mark)
        if first == file.mark:
            return read
        self.excluded.append((file.mark, f"holds the same samples as {name_of(first)}, which count once; remove one"))
        # Until that one goes.
        self.passing.add(file.mark)
        return None

    def _add(self, run: Sequence[_Read]) -> None:
        marks = tuple(read.mark for read in run)
        try:
            recording = joined([read.recording for read in run])
            if is_at_rest(travel_of(recording.q), self.plan.travel):
                raise RecordingError(AT_REST)
            segments = uniform_segments(recording, 0).segments
            _check_rate(min(segment.rate for segment in segments), self.plan)
            source = replace(self.plan.source, segments=tuple(segments))
            evidence, excerpt = _evidence(source, self.plan)
            # Alone it would be told from a fault by nobody: the unit's other windows would be spoilt with it.
            if why := _strange(evidence, self.plan):
                raise RecordingError(why)
        except TauformError as error:
            self.excluded.extend((mark, str(error)) for mark in marks)
            return
        own, warm = Span.of([recording]), _temperature(recording)
        span = own.start, own.end, own.period, own.n_samples
        self.windows.append(Window(*span, evidence, marks, tuple(read.print for read in run), excerpt, warm))


@on_one_thread
def _evidence(source: Iterable[Rows], plan: Plan) -> tuple[Evidence, Array]:
    """One triangle per joint of [A, predicted torques of all joints, tau], and the excerpt of a window.

    The predicted torques, of the pooled values, tell gains and exchanged columns from other faults.
    """
    n, p = plan.shape
    triangles, count = np.zeros((n, p + 1, p + 1)), 0
    peaks, torque_peaks, excerpt = np.zeros((n, p)), np.zeros(n), np.zeros((0, 1 + 2 * n))
    for rows in source:
        predicted = rows.A @ plan.values
        count += len(rows.tau)
        if len(excerpt) < ROWS_SHOWN:
            first = np.column_stack([rows.t, rows.tau, predicted])[: ROWS_SHOWN - len(excerpt)]
            excerpt = np.concatenate([excerpt, first])
        torque_peaks = np.maximum(torque_peaks, np.abs(rows.tau).max(axis=0))
        for j in range(n):
            # With the fleet's predictions as columns, gains and swapped torques of a unit follow without the rows.
            table = np.column_stack([rows.A[:, j], predicted, rows.tau[:, j]])
            peaks[j] = np.maximum(peaks[j], np.abs(table[:, :-1]).max(axis=0))
            triangles[j] = updated(triangles[j], table)
    if not count:
        raise IdentificationError("too short for the filters to settle, or at rest throughout")
    return Evidence(triangles[None], np.array([count]), (0,), peaks, torque_peaks), excerpt


def _check_rate(rate: float, plan: Plan) -> None:
    """Raise RecordingError for a rate at which the fleet's filters cannot be: its rows would be of another equation."""
    filters = plan.source.filters
    # Cut-offs above this share of half the rate let everything pass; rates that are measured scatter.
    needed = 0.0 if filters is None else 2 * filters.torque / HIGHEST_POSITION
    if rate < (1 - MAX_RATE_DIFFERENCE) * needed:
        raise RecordingError(
            f"{rate:.3g} samples per second are too few for the fleet's motion, whose torques are compared up to "
            f"{needed / 2 * HIGHEST_POSITION:.3g} Hz; log at least {needed:.3g} per second, or put such logs into a "
            "data set of their own"
        )


def _strange(evidence: Evidence, plan: Plan) -> str:
    """Why a window cannot be one of this robot; see `implausible`."""
    # R holds the same squares and products as all rows: [A, predicted torques of all joints, tau].
    R, (n, width) = evidence.triangles[0], plan.shape
    p = width - n
    unknown = np.linalg.norm(R[:, :, :p] @ plan.root, axis=(1, 2))
    return implausible(R[:, :, -1], R[:, :, p:-1].transpose(0, 2, 1), unknown, plan.robot.joint_names)


def _span(window: Window) -> Span:
    return Span(window.start, window.end, window.period, window.n_samples)


def _temperature(recording: Recording) -> Array:
    """(n,) mean of each joint, or empty."""
    if recording.temperature is None:
        return np.zeros(0)
    # Piece by piece: recordings may be larger than memory.
    sums = [np.asarray(recording.temperature[part]).sum(axis=0) for part, _ in pieces(recording.n_samples)]
    return np.asarray(np.sum(sums, axis=0) / recording.n_samples)
