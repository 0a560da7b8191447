"""Condensed: what the logs of a unit say, as one small triangle per recording; they add up in any order."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import TauformError
from tauform.identification.fit import Fit
from tauform.identification.logs.read import read_recording
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.rows import RowSource

# Samples of neighbouring files that are joined into one recording at most; bounds the memory of a worker.
MOST_SAMPLES = 4_000_000
# Files follow one another where the gap between them is at most so many sample periods.
MAX_GAP_PERIODS = 1.5


@dataclass(frozen=True, eq=False)
class Plan:
    """What every worker needs: the pooled model's columns and filters, and how logs are read.

    Attributes:
        robot: of all units.
        source: design, filters and smoother; its segments are none.
        reading: options of `read_recording`.
    """

    robot: Robot
    source: RowSource
    reading: Mapping[str, Any]

    @classmethod
    def of(cls, fit: Fit, robot: Robot, reading: Mapping[str, Any]) -> Plan:
        """The plan of a fit on some of the logs."""
        assert fit.source is not None
        # Without segments: samples would travel to every worker.
        return cls(robot, replace(fit.source, segments=()), reading)


@dataclass(frozen=True, eq=False)
class Window:
    """One recording of a unit, condensed.

    Attributes:
        start, end: [s] on the clock of the log.
        evidence: triangles of its blocks of time.
        files: names of the logs that it was joined from.
    """

    start: float
    end: float
    evidence: Evidence
    files: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class UnitLogs:
    """All windows of a unit, and the files that were set aside, each with a reason."""

    unit: str
    windows: tuple[Window, ...]
    excluded: tuple[tuple[str, str], ...]


def condense(unit: str, files: Sequence[Path], plan: Plan) -> UnitLogs:
    """Read the logs of a unit one after the other; what cannot be read is set aside with its reason.

    Files that follow each other are joined before they are filtered, so that the result does not depend on where a
    recording was cut into files.
    """
    windows: list[Window] = []
    excluded: list[tuple[str, str]] = []
    run: list[Recording] = []
    for path in files:
        try:
            recording = read_recording(path, plan.robot, **plan.reading)
        # A damaged log costs itself only; a fleet always has some.
        except (TauformError, OSError) as error:
            excluded.append((path.name, str(error)))
            continue
        # A gap ends the recording; filters must not reach across it.
        if run and not _follows(run, recording):
            _add(run, plan, windows, excluded)
            run = []
        run.append(recording)
    if run:
        _add(run, plan, windows, excluded)
    return UnitLogs(unit, tuple(windows), tuple(excluded))


def _follows(run: Sequence[Recording], recording: Recording) -> bool:
    last = run[-1]
    # The last hundred steps: files of hours need not be read again for a median.
    period = float(np.median(np.diff(np.asarray(last.t[-100:]))))
    gap = _start(recording) - (last.clock + float(last.t[-1]))
    # Columns that one file lacks cannot be joined.
    same = (last.qd is None) == (recording.qd is None) and (last.temperature is None) == (recording.temperature is None)
    return same and 0 < gap <= MAX_GAP_PERIODS * period and sum(len(part.t) for part in run) < MOST_SAMPLES


def _add(run: Sequence[Recording], plan: Plan, windows: list[Window], excluded: list[tuple[str, str]]) -> None:
    names = tuple(recording.name for recording in run)
    try:
        recording = run[0] if len(run) == 1 else _joined(run)
        segments = uniform_segments(recording, 0).segments
        # The recording's own number is zero: each window stands alone until it is merged.
        source = replace(plan.source, segments=tuple(segments))
        evidence = gather(source, source)
    except TauformError as error:
        excluded.extend((name, str(error)) for name in names)
        return
    windows.append(Window(_start(recording), recording.clock + float(recording.t[-1]), evidence, names))


def _start(recording: Recording) -> float:
    return recording.clock + float(recording.t[0])


def _joined(run: Sequence[Recording]) -> Recording:
    """Neighbouring files as one recording, on the clock of the first."""
    clock = run[0].clock
    held: dict[str, Any] = {
        name: None if getattr(run[0], name) is None else np.concatenate([getattr(part, name) for part in run])
        for name in ("q", "tau", "qd", "qdd", "reference", "temperature")
    }
    # On one clock, so that the joint between files is an ordinary step.
    held["t"] = np.concatenate([np.asarray(part.t) + (part.clock - clock) for part in run])
    return Recording(**held, name=f"{run[0].name} to {run[-1].name}", clock=clock)


def merged(parts: Sequence[Evidence]) -> Evidence:
    """All blocks of several windows, as if they had been one recording's."""
    return Evidence(
        np.concatenate([part.triangles for part in parts]),
        np.concatenate([part.counts for part in parts]),
        # Blocks keep which window they came from.
        tuple(k for k, part in enumerate(parts) for _ in part.recordings),
        np.max([part.peaks for part in parts], axis=0),
        np.max([part.torque_peaks for part in parts], axis=0),
    )


def arrays_of(logs: UnitLogs) -> dict[str, Any]:
    """A unit's evidence as arrays by name, for checkpoints."""
    arrays: dict[str, Any] = {"excluded": np.array(logs.excluded, dtype=str).reshape(-1, 2)}
    for k, window in enumerate(logs.windows):
        arrays[f"{k}_span"] = np.array([window.start, window.end])
        arrays[f"{k}_files"] = np.array(window.files, dtype=str)
        for name in ("triangles", "counts", "peaks", "torque_peaks"):
            arrays[f"{k}_{name}"] = getattr(window.evidence, name)
    return arrays


def unpacked(unit: str, data: bytes, shape: tuple[int, int]) -> UnitLogs | None:
    """An archive of `arrays_of`; None where it is damaged or of another model: the logs are read again then.

    Args:
        shape: joints and columns of the model.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as held:
            count = sum(name.endswith("_span") for name in held.files)
            windows = tuple(_window(held, k, shape) for k in range(count))
            excluded = tuple((str(name), str(why)) for name, why in held["excluded"])
    except Exception:  # a damaged archive raises many kinds
        return None
    return UnitLogs(unit, windows, excluded)


def _window(held: Any, k: int, shape: tuple[int, int]) -> Window:
    triangles, counts = np.asarray(held[f"{k}_triangles"]), np.asarray(held[f"{k}_counts"])
    n, p = shape
    arrays: tuple[Array, Array] = np.asarray(held[f"{k}_peaks"]), np.asarray(held[f"{k}_torque_peaks"])
    # A checkpoint of another design has other shapes; NaN marks a damaged one.
    if triangles.shape != (len(counts), n, p + 1, p + 1) or not np.isfinite(triangles).all():
        raise ValueError("of another model")
    start, end = held[f"{k}_span"].tolist()
    return Window(
        start, end, Evidence(triangles, counts, (0,) * len(counts), *arrays), tuple(map(str, held[f"{k}_files"]))
    )
