"""Joining: logs that follow each other on their own clock are one recording, wherever it was cut into files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.description.robot import Robot
from tauform.errors import TauformError
from tauform.fleet.sources.reading import LogFile, Reading
from tauform.identification.recording.recording import FIELDS, Recording

# Samples of neighbouring files that are joined into one recording at most; bounds the memory of a worker.
MOST_SAMPLES = 4_000_000
# Relative difference of sampling rates beyond which recordings are not joined.
MAX_RATE_DIFFERENCE = 0.02
# Files follow one another where the gap between them is at most so many sample periods.
MAX_GAP_PERIODS = 1.5


@dataclass(frozen=True)
class Span:
    """Where a recording lies on the clock of its log [s], and how densely it was sampled."""

    start: float
    end: float
    period: float
    n_samples: int

    @classmethod
    def of(cls, run: Sequence[Recording]) -> Span:
        """Of recordings that follow each other."""
        end = run[-1].clock + float(run[-1].t[-1])
        return cls(start_of(run[0]), end, period_of(run[-1]), sum(part.n_samples for part in run))

    def is_continued_at(self, start: float) -> bool:
        """Whether a recording that starts then continues it."""
        # Overlapping files are not joined: two samples of one instant contradict each other.
        return 0 < start - self.end <= MAX_GAP_PERIODS * self.period and self.n_samples < MOST_SAMPLES


def are_alike(last: Recording, recording: Recording) -> bool:
    """Whether two recordings hold the same quantities at the same rate; what one lacks cannot be joined."""
    alike = abs(period_of(recording) / period_of(last) - 1) < MAX_RATE_DIFFERENCE
    own = all((getattr(last, name) is None) == (getattr(recording, name) is None) for name in ("qd", "temperature"))
    return alike and own


def period_of(recording: Recording) -> float:
    """Seconds from sample to sample."""
    # The last hundred steps: files of hours need not be read again for a median.
    return float(np.median(np.diff(np.asarray(recording.t[-100:]))))


def start_of(recording: Recording) -> float:
    """Its first sample, on the clock of the log [s]."""
    return recording.clock + float(recording.t[0])


def joined(run: Sequence[Recording]) -> Recording:
    """Neighbouring files as one recording, on the clock of the first."""
    if len(run) == 1:
        return run[0]
    clock = run[0].clock
    held: dict[str, Any] = {
        name: None if getattr(run[0], name) is None else np.concatenate([getattr(part, name) for part in run])
        for name in FIELDS
        if name != "t"
    }
    # On one clock, so that the joint between files is an ordinary step.
    held["t"] = np.concatenate([np.asarray(part.t) + (part.clock - clock) for part in run])
    return Recording(**held, name=f"{run[0].name} to {run[-1].name}", clock=clock)


def first_recording(
    reading: Reading, robot: Robot, unit: str, files: Iterable[LogFile], seconds: float
) -> tuple[Recording | None, tuple[LogFile, ...], str]:
    """The beginning of the first recording of a unit that can be read, joined from files that follow each other.

    Args:
        seconds: of it at most.

    Returns:
        it and its files; None where no file can be read, and why not.
    """
    run: list[Recording] = []
    used: list[LogFile] = []
    refused = ""
    for file in files:
        try:
            recording = reading.read(robot, unit, file)
        except (TauformError, OSError) as error:
            refused = str(error)
            if run:
                break
            continue
        if run and not (Span.of(run).is_continued_at(start_of(recording)) and are_alike(run[-1], recording)):
            break
        run.append(recording)
        used.append(file)
        if Span.of(run).end - start_of(run[0]) >= seconds:
            break
    if not run:
        return None, (), refused
    whole = joined(run)
    # To the sample: where the last file ends must not count.
    return whole.between(0.0, seconds), tuple(used), refused
