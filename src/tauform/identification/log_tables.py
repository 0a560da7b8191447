"""Logs that are tables, read in pieces: CSV and Parquet."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.errors import MissingExtraError, RecordingError
from tauform.identification.logs import Log, Table


def open_csv(path: Path) -> Log:
    """Text with one line of names, then numbers between commas, semicolons, tabs or blanks.

    Raises:
        RecordingError: of this and all other formats, where the file is not what its name says.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            header = file.readline()
            first = next((line for line in file if line.strip()), None)
    except UnicodeDecodeError as error:
        raise RecordingError(f"{path.name}: not text ({error.reason}); export it as CSV") from None
    if first is None:
        raise RecordingError(f"{path.name}: holds no samples; write the columns' names, then one line a sample")
    usual = max(",;\t", key=header.count)
    separator = usual if usual in header else None
    names = [name.strip().strip("\"'").strip() for name in header.strip().lstrip("#").strip().split(separator)]
    if all(_is_number(name) for name in names):
        raise RecordingError(f"{path.name}: the first line holds numbers; add a line with the columns' names")
    n_values = len(first.strip().split(separator))
    if n_values != len(names):
        raise RecordingError(f"{path.name}: {len(names)} names in the first line but {n_values} columns")
    twice = next((name for k, name in enumerate(names) if name and name in names[:k]), None)
    if twice is not None:
        raise RecordingError(f"{path.name}: two columns are named {twice!r}; rename one")
    decimal_comma = separator in (";", "\t") and "," in first and "." not in first

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        read = 0
        with path.open(encoding="utf-8-sig") as file:
            file.readline()
            lines = (line.replace(",", ".") for line in file) if decimal_comma else file
            try:
                while (block := _csv_block(lines, separator, names, wanted, rows)) is not None:
                    yield dict(zip(wanted, block.T, strict=True))
                    read += len(block)
            except UnicodeDecodeError as error:
                raise RecordingError(f"{path.name}: not text after line {read + 1} ({error.reason})") from None
            except ValueError as error:
                raise RecordingError(f"{path.name}: {_explained(error, names, read)}; repair or delete it") from None

    return Log(dict.fromkeys(names), chunks)


def _csv_block(
    lines: Iterator[str], separator: str | None, names: Sequence[str], wanted: Sequence[str], rows: int
) -> Array | None:
    """The next rows of the wanted columns; None after the last."""
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # NumPy tells of empty lines, which are no samples
        block: Array = np.loadtxt(
            chain([first], lines),
            delimiter=separator,
            usecols=[names.index(name) for name in wanted],
            max_rows=rows,
            ndmin=2,
            comments=None,
            quotechar='"',
        )
    return block


def _explained(error: ValueError, names: Sequence[str], read: int) -> str:
    """What NumPy says about a line, with the line's number in the file and the column's name."""
    words = " ".join(str(error).split())
    if few := re.search(r"invalid column index .* at row (\d+) with (\d+) columns", words):
        return f"line {read + int(few[1]) + 1} holds {few[2]} values, the first line names {len(names)}"
    if text := re.search(r"could not convert string (.*) to float64 at row (\d+), column (\d+)", words):
        return f"line {read + int(text[2]) + 2}, column {names[int(text[3]) - 1]}: {text[1]} is not a number"
    return words.rstrip(".")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def open_parquet(path: Path) -> Log:
    """Columns of numbers; time may be a time stamp or a duration."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet logs need pyarrow; install it with: pip install 'tauform[logs]'") from None
    try:
        schema = parquet.read_schema(path)
    except Exception as error:  # pyarrow raises its own classes
        raise RecordingError(f"{path.name}: not a Parquet table ({' '.join(str(error).split())[:120]})") from None
    kinds = pyarrow.types
    clocks = {f.name for f in schema if kinds.is_timestamp(f.type) or kinds.is_duration(f.type)}
    numbers = {f.name for f in schema if kinds.is_floating(f.type) or kinds.is_integer(f.type)}

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        try:
            # Reading ahead would hold the whole file in memory.
            with parquet.ParquetFile(path, pre_buffer=False) as file:
                for batch in file.iter_batches(batch_size=rows, columns=list(wanted)):
                    yield {name: _seconds(batch[name]) if name in clocks else _plain(batch[name]) for name in wanted}
        except Exception as error:
            raise RecordingError(f"{path.name}: cut off or damaged ({' '.join(str(error).split())[:120]})") from None

    return Log({name: None for name in schema.names if name in clocks | numbers}, chunks)


def _plain(column: Any) -> Array:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _seconds(column: Any) -> Array:
    instants = column.to_numpy(zero_copy_only=False)
    since = instants - np.datetime64(0, "s") if instants.dtype.kind == "M" else instants
    return np.asarray(since / np.timedelta64(1, "s"), dtype=np.float64)
