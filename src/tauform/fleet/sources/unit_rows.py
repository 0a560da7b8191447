"""Rows of one unit in a log that several share: a column holds the name of the unit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tauform.archives import damage_as_value_error, ordinary
from tauform.errors import RecordingError
from tauform.files.file import fresh_file
from tauform.files.temporaries import scratch_folder
from tauform.identification.logs.formats.csv_head import cells_of, read_head
from tauform.identification.logs.formats.log import check_packing
from tauform.identification.logs.formats.parquet import damaged, parquet_library
from tauform.identification.logs.formats.parquet_pages import unpacked_bytes
from tauform.identification.logs.formats.tables import lines_of

# More are not units: a column of numbers was named.
MOST_UNITS = 100_000


def units_in(path: Path, column: str) -> list[str]:
    """Units of a log, in the order of their names.

    Raises:
        RecordingError: it has no such column, or is no table with names.
    """
    found = sorted({_word(value) for value in _values(path, column)} - {""})
    if len(found) > MOST_UNITS:
        raise RecordingError(f"{path.name}: unit_column {column!r} holds {len(found)} values; name the one of units")
    return found


@contextmanager
def rows_at(path: Path, rows: tuple[str, str] | None) -> Iterator[Path]:
    """A log with the rows of one unit, (column, unit), that is removed afterwards; None takes the log itself."""
    if rows is None:
        yield path
        return
    with scratch_folder() as folder:
        part = folder / path.name
        if path.suffix.lower() == ".parquet":
            _write_parquet(path, part, *rows)
        else:
            _write_csv(path, part, *rows)
        yield part


def _values(path: Path, column: str) -> Iterator[Any]:
    if path.suffix.lower() == ".parquet":
        yield from _table(path, [column], column)[column].unique().to_pylist()
    else:
        yield from (unit for _, unit in _lines(path, column))


def _word(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _table(path: Path, wanted: list[str] | None, column: str) -> Any:
    parquet = parquet_library(ordinary(path))
    try:
        with damage_as_value_error(), path.open("rb") as file:
            names = parquet.read_schema(file).names
            _check_column(path, column, names)
            # A small file may unpack to any size.
            n_bytes = unpacked_bytes(file, wanted or names)
            check_packing(n_bytes, path.stat().st_size, path)
            return parquet.read_table(file, columns=wanted)
    except ValueError as error:
        if isinstance(error, RecordingError):
            raise
        raise damaged(path, error) from None


def _write_parquet(path: Path, part: Path, column: str, unit: str) -> None:
    from pyarrow import parquet

    table = _table(path, None, column)
    own = table.filter([_word(value) == unit for value in table[column].to_pylist()])
    with fresh_file(part, RecordingError) as file, parquet.ParquetWriter(file, own.schema) as writer:
        writer.write(own)


def _write_csv(path: Path, part: Path, column: str, unit: str) -> None:
    with fresh_file(part, RecordingError) as file:
        for line, of_unit in _lines(path, column):
            # Names and units stand above all samples and are everyone's.
            if of_unit in ("", unit):
                file.write(line.encode())


def _lines(path: Path, column: str) -> Iterator[tuple[str, str]]:
    """Lines of a table and their units, none for those above the samples."""
    if path.suffix.lower() != ".csv":
        raise RecordingError(f"{path.name}: unit_column is for .csv and .parquet; give each unit files of its own")
    try:
        with ordinary(path).open(encoding="utf-8-sig") as file:
            head = read_head(lines_of(file, path.name))
            _check_column(path, column, list(head.names))
            file.seek(0)
            place = head.names.index(column)
            for k, line in enumerate(lines_of(file, path.name)):
                cells = cells_of(line, head.separator) if k >= head.n_lines else []
                # Lines that are too short are damaged; they go to everyone, whose reader says so.
                yield line, cells[place].strip() if place < len(cells) else ""
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path.name}: not text ({error.reason}); export it as CSV in UTF-8") from None


def _check_column(path: Path, column: str, names: list[str]) -> None:
    if column not in names:
        raise RecordingError(f"{path.name}: no column {column!r}, the unit_column of [keys]; it has {', '.join(names)}")
