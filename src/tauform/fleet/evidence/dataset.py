"""Dataset: the logs of a fleet, by unit, and how they are read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path, PurePath
from typing import Any

from tauform.arguments import check_arguments
from tauform.documents import parse_toml
from tauform.errors import RecordingError
from tauform.escaping.shown import visible
from tauform.fleet.evidence.places import found_at, local_folder, text_at
from tauform.identification.logs.read import read_recording
from tauform.messages import no_such

SUFFIXES = (".parquet", ".csv", ".npz", ".mat", ".mcap", ".db3")
SETTINGS = "fleet.toml"
# Folders of a data set that is partitioned as Hive and Spark do it.
HIVE = re.compile(r"^(?P<key>\w+)=(?P<value>.+)$")


@dataclass(frozen=True)
class LogFile:
    """A log of one unit; size and time of change say whether it is the one that was read before.

    Attributes:
        path: on this machine, or its address.
        name: its place within the data set.
    """

    path: Path | str
    name: str
    size: int
    changed: int | str

    @property
    def mark(self) -> str:
        """Name and version in one word; see `name_of`."""
        # Size and time stand for the contents, which would take as long to hash as to read.
        return f"{self.size}|{self.changed}|{self.name}"


def name_of(mark: str) -> str:
    """The log's name in a mark."""
    return mark.split("|", 2)[2]


@dataclass(frozen=True)
class Dataset:
    """Files by unit, in the order of their names, which is that of time.

    Attributes:
        root: folder or address that holds them.
        units: name -> files.
        reading: options of `tf.read_recording` that hold for all of them.
    """

    root: Path | str
    units: Mapping[str, tuple[LogFile, ...]]
    reading: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, root: str | Path, by: str = "unit") -> Dataset:
        """Look through a folder: `unit=A7/2024-03-01.parquet`, `A7/log.csv` or `A7.csv` are logs of unit A7.

        `fleet.toml` in it may hold a table `[read]` with options of `tf.read_recording` (columns, units, gains, ...).

        Args:
            root: a folder, or an address that fsspec knows (`s3://bucket/logs`).
            by: key of partitioned folders that names the unit.

        Raises:
            RecordingError: no such folder, no logs in it, or settings that are none.
        """
        folder = local_folder(root)
        if folder is not None and not folder.is_dir():
            raise RecordingError(f"{folder}: no such folder; a data set is a folder of logs by unit")
        units: dict[str, list[LogFile]] = defaultdict(list)
        # Sorted by name: with dates in the names that is the order in time.
        for place, log in _files(folder) if folder is not None else _files_at(str(root)):
            # Hidden files are leftovers of copying and editors.
            if place.suffix.lower() in SUFFIXES and not place.name.startswith("."):
                # Names of files may hold anything; those of units reach pages, tables and terminals.
                units[visible(_unit(place, by))].append(log)
        if not units:
            raise RecordingError(f"{root}: no logs in it ({', '.join(SUFFIXES)})")
        named = {name: tuple(files) for name, files in sorted(units.items())}
        return cls(folder if folder is not None else str(root), named, _settings(root, folder))

    @property
    def n_files(self) -> int:
        """Logs of all units."""
        return sum(map(len, self.units.values()))


def _unit(place: PurePath, by: str) -> str:
    """The unit of a file: its partition, the first folder it lies in, or its own name."""
    for part in place.parts[:-1]:
        # A partition may lie at any depth, such as year=2024/unit=A7.
        found = HIVE.match(part)
        if found and found["key"] == by:
            return found["value"]
    return place.parts[0] if len(place.parts) > 1 else place.stem


def _files(folder: Path) -> Iterator[tuple[PurePath, LogFile]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            place, found = path.relative_to(folder), path.stat()
            yield place, LogFile(path, visible(place.as_posix()), found.st_size, found.st_mtime_ns)


def _files_at(address: str) -> Iterator[tuple[PurePath, LogFile]]:
    for place, path, size, version in found_at(address):
        yield place, LogFile(path, visible(str(place)), size, version)


def _settings(root: str | Path, folder: Path | None) -> dict[str, Any]:
    path = f"{str(root).rstrip('/')}/{SETTINGS}" if folder is None else str(folder / SETTINGS)
    try:
        text = text_at(path) if folder is None else _text(folder / SETTINGS)
        if text is None:
            return {}
        held = parse_toml(text)
    except (ValueError, OSError) as error:
        raise RecordingError(f"{path}: {error}") from None
    unknown = set(held) - {"read"}
    # Silently ignored settings would read all logs in the wrong units.
    if unknown or not isinstance(held.get("read", {}), dict):
        raise RecordingError(f"{path}: expected one table [read], found {', '.join(sorted(unknown)) or 'a value'}")
    options: dict[str, Any] = held.get("read", {})
    known = signature(read_recording).parameters
    for name in options:
        # Path and robot are given by the fleet itself.
        if name not in known or name in ("path", "robot"):
            raise no_such(f"{path}: [read]: option", name, [other for other in known if other not in ("path", "robot")])
    check_arguments(read_recording, **options)
    return options


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
