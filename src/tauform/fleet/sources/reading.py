"""Reading: how a log of a fleet becomes a recording of its bare arm, on the clock of the fleet."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tauform.description.robot import Robot
from tauform.fleet.sources.carried import Tool, without_tools
from tauform.fleet.sources.in_settings import InSettings
from tauform.fleet.sources.keys import FIRST_DATE
from tauform.fleet.sources.places import at_hand
from tauform.fleet.sources.unit_rows import rows_at
from tauform.identification.logs.read import read_recording
from tauform.identification.recording.recording import Recording
from tauform.wording import spoken_by


@dataclass(frozen=True)
class LogFile:
    """A log of one unit; size and time of change say whether it is the one that was read before.

    Attributes:
        path: on this machine, or its address.
        name: its place within the data set.
        start: when it began, by its place [s since 1970].
        rows: (column, unit) of the rows that are this unit's; None where all are.
    """

    path: Path | str
    name: str
    size: int
    changed: int | str
    start: float | None = None
    rows: tuple[str, str] | None = None

    @property
    def mark(self) -> str:
        """Name and version in one word; see `name_of`."""
        # Size and time stand for the contents, which would take as long to hash as to read. Keys count too: what they
        # say of a log's beginning, and of its rows, is part of the evidence.
        keys = f"{self.start}|{self.rows}".encode()
        return f"{self.size}|{self.changed};{zlib.crc32(keys):08x}|{self.name}"


def name_of(mark: str) -> str:
    """The log's name in a mark.

    Raises:
        ValueError: no mark.
    """
    _, _, name = mark.split("|", 2)
    return name


@dataclass(frozen=True)
class Reading:
    """How logs are read.

    Attributes:
        options: of `tf.read_recording`.
        tools: that units carry, by time.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    tools: tuple[Tool, ...] = ()

    def read(self, robot: Robot, unit: str, file: LogFile) -> Recording:
        """The recording in a log.

        Raises:
            TauformError: the log is not usable.
            OSError: it cannot be fetched; another time it may.
        """
        # Remedies are for fleet.toml: its reader has no flags, and workers speak as the process that asks does.
        with at_hand(file.path) as path, rows_at(path, file.rows) as own, spoken_by(InSettings()):
            recording = read_recording(own, robot, **self.options)
        # A clock that starts with the log says nothing about the order of logs: their places do.
        if file.start is not None and recording.clock + float(recording.t[0]) < FIRST_DATE:
            recording = replace(recording, clock=recording.clock + file.start)
        return without_tools(recording, robot, [tool for tool in self.tools if tool.is_for(unit)])
