"""Dataset: the logs of a fleet, by unit, and how they are read."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from stat import S_ISREG
from typing import Any

from tauform.description.formats.load import load
from tauform.description.robot import Robot
from tauform.errors import RecordingError, TauformError
from tauform.escaping.shown import visible
from tauform.files.manifest import MANIFEST, read_manifest
from tauform.fleet.sources.keys import Keys
from tauform.fleet.sources.places import at_hand, found_at, local_folder, text_at
from tauform.fleet.sources.reading import LogFile, Reading
from tauform.fleet.sources.settings import Settings, settings_in
from tauform.fleet.sources.unit_rows import units_in

SUFFIXES = (".parquet", ".csv", ".npz", ".mat", ".mcap", ".db3")
SETTINGS = "fleet.toml"
# (unit, file, reason) of what is not used.
Excluded = tuple[str, str, str]


@dataclass(frozen=True)
class Dataset:
    """Files by unit, in the order of time: that of their keys, or of their names.

    Attributes:
        root: folder or address that holds them.
        units: name -> files.
        reading: how all of them are read.
        excluded: (unit, file, reason) of logs that belong to nobody.
        settings: what fleet.toml says.
    """

    root: Path | str
    units: Mapping[str, tuple[LogFile, ...]]
    reading: Reading = field(default_factory=Reading)
    excluded: tuple[Excluded, ...] = ()
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def of(cls, root: str | Path, by: str = "unit") -> Dataset:
        """Look through a folder: `unit=A7/2024-03-01.parquet`, `A7/log.csv` or `A7.csv` are logs of unit A7.

        `fleet.toml` in it may say more: robots, keys of units and times, how logs are read, tools.

        Args:
            root: a folder, or an address that fsspec knows (`s3://bucket/logs`).
            by: key of partitioned folders that names the unit; by default the one in fleet.toml, or "unit".

        Raises:
            RecordingError: no such folder, no logs in it, or settings that are none.
        """
        folder = local_folder(root)
        if folder is not None and not folder.is_dir():
            raise RecordingError(f"{folder}: no such folder; a data set is a folder of logs by unit")
        settings = _settings(root, folder)
        keys = settings.keys if by == "unit" else replace(settings.keys, unit=by)
        units: dict[str, list[LogFile]] = defaultdict(list)
        excluded: list[Excluded] = []
        for place, log in _files(folder) if folder is not None else _files_at(str(root)):
            # Hidden files are leftovers of copying and editors.
            if place.suffix.lower() in SUFFIXES and not place.name.startswith("."):
                for name, file, why in _owners(place, log, keys, settings.robots):
                    if why:
                        excluded.append((name, file.name, why))
                    else:
                        units[name].append(file)
        if not units:
            first = f": {excluded[0][1]}: {excluded[0][2]}" if excluded else f" ({', '.join(SUFFIXES)})"
            raise RecordingError(f"{root}: no logs in it{first}")
        # By their keys; without any, names with dates in them are in the order of time as they stand.
        named = {name: tuple(sorted(files, key=_order)) for name, files in sorted(units.items())}
        place_of_all: Path | str = folder if folder is not None else str(root)
        return cls(place_of_all, named, settings.reading, tuple(excluded), settings)

    @property
    def n_files(self) -> int:
        """Logs of all units."""
        return sum(map(len, self.units.values()))

    def by_robot(self) -> dict[str, Dataset]:
        """Data sets of one robot each, by what fleet.toml calls it; none where it names no robot."""
        found: dict[str, dict[str, tuple[LogFile, ...]]] = {}
        for name, files in self.units.items():
            if (robot := _robot_of(name, self.settings.robots)) is not None:
                found.setdefault(robot, {})[name] = files
        # What belongs to nobody is told with the first.
        return {
            robot: replace(self, units=units, excluded=self.excluded if k == 0 else ())
            for k, (robot, units) in enumerate(found.items())
        }

    def load(self, robot: str, **options: Any) -> Robot:
        """A robot that fleet.toml names: a file beside the logs, or what `tf.load` takes.

        Args:
            options: of `tf.load`, in place of those of the file.
        """
        given = {**self.settings.loading, **options}
        if isinstance(self.root, Path):
            beside = self.root / robot
            return load(beside if beside.is_file() else robot, **given)
        address = f"{self.root.rstrip('/')}/{robot}"
        if text_at(address) is None:
            return load(robot, **given)
        with at_hand(address) as copy:
            return load(copy, **given)


def _order(file: LogFile) -> tuple[float, list[tuple[int, str]], str]:
    # run2 before run10. A number before any word, as in texts; words by their letters.
    parts = [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", file.name)]
    return file.start or 0.0, parts, file.name


def _robot_of(unit: str, robots: Mapping[str, str]) -> str | None:
    return next((robot for pattern, robot in robots.items() if fnmatchcase(unit, pattern)), None)


def _owners(place: PurePath, log: LogFile, keys: Keys, robots: Mapping[str, str]) -> Iterator[tuple[str, LogFile, str]]:
    """(unit, its part of a log, why it is not used)."""
    try:
        unit, start = keys.found(place)
        file = replace(log, start=start)
        if keys.unit_column is None:
            parts = {unit: file}
        else:
            with at_hand(log.path) as path:
                column = keys.unit_column
                parts = {name: replace(file, rows=(column, name)) for name in units_in(path, column)}
    except (TauformError, OSError) as error:
        yield "", log, str(error)
        return
    for raw, part in parts.items():
        # Names of files may hold anything; those of units reach pages, tables and terminals.
        name = visible(raw)
        strange = robots and _robot_of(name, robots) is None
        yield name, part, "[robots] of fleet.toml has no line for this unit; add one" if strange else ""


def _files(folder: Path) -> Iterator[tuple[PurePath, LogFile]]:
    # Sorted by name: with dates in the names that is the order in time.
    paths = sorted(folder.rglob("*"))
    # Tables of an earlier run, where its output stands among the logs, are none.
    ours = [path.parent for path in paths if path.name == MANIFEST]
    tables = {place / name for place in ours if (held := read_manifest(place)) is not None for name in held.files}
    for path in paths:
        if path in tables:
            continue
        try:
            found = path.stat()
        # Removed or renamed since it was listed: folders of running robots change while they are looked through.
        except OSError:
            continue
        if S_ISREG(found.st_mode):
            place = path.relative_to(folder)
            yield place, LogFile(path, visible(place.as_posix()), found.st_size, found.st_mtime_ns)


def _files_at(address: str) -> Iterator[tuple[PurePath, LogFile]]:
    for place, path, size, version in found_at(address):
        yield place, LogFile(path, visible(str(place)), size, version)


def _settings(root: str | Path, folder: Path | None) -> Settings:
    path = f"{str(root).rstrip('/')}/{SETTINGS}" if folder is None else str(folder / SETTINGS)
    try:
        text = text_at(path) if folder is None else _text(folder / SETTINGS)
    except (ValueError, OSError) as error:
        raise RecordingError(f"{path}: {error}") from None
    return Settings() if text is None else settings_in(text, path)


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
