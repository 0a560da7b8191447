"""Log files of several formats, read in pieces: CSV, NPZ, Parquet, MAT."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.errors import MissingExtraError, RecordingError

Table = dict[str, Array]
NUMBERS = "fiub"
# What files raise that are cut off, or are no archives at all.
BROKEN = (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile)


@dataclass(frozen=True, eq=False)
class Log:
    """What a file holds, before anybody knows which column is what.

    Attributes:
        widths: name -> None for a column (N,), or the number of columns of a matrix (N, width).
        chunks: (names, rows) -> tables with just these names, of at most that many rows each, in order.
    """

    widths: Mapping[str, int | None]
    chunks: Callable[[Sequence[str], int], Iterator[Table]]


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


def open_npz(path: Path) -> Log:
    """Arrays that `numpy.savez` or `savez_compressed` wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            headers = {name: _npy_header(archive, name) for name in archive.namelist() if name.endswith(".npy")}
    except BROKEN as error:
        raise RecordingError(f"{path.name}: not an NPZ of numbers ({error})") from None
    shapes = {
        name.removesuffix(".npy"): shape
        for name, (shape, _, kind) in headers.items()
        if kind.kind in NUMBERS and len(shape) in (1, 2)
    }

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        _check_lengths({name: shapes[name][0] for name in wanted}, path)
        try:
            with ExitStack() as stack:
                archive = stack.enter_context(zipfile.ZipFile(path))
                streams = {name: stack.enter_context(_npy_rows(archive, f"{name}.npy")) for name in wanted}
                for first in range(0, shapes[wanted[0]][0], rows):
                    count = min(rows, shapes[wanted[0]][0] - first)
                    yield {name: stream.read(count) for name, stream in streams.items()}
        except BROKEN as error:
            raise RecordingError(f"{path.name}: cut off or damaged ({error}); copy it again") from None

    return Log({name: _width(shape) for name, shape in shapes.items()}, chunks)


def _npy_header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    with archive.open(name) as member:
        return _read_header(member)


def _read_header(member: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(member)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(member)


class _npy_rows:
    """Rows of an array inside an archive, one block after another."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.member = archive.open(name)
        self.shape, self.by_columns, self.kind = _read_header(self.member)
        self.whole: Array | None = None
        self.given = 0

    def __enter__(self) -> _npy_rows:
        return self

    def __exit__(self, *_: object) -> None:
        self.member.close()

    def read(self, count: int) -> Array:
        width = int(np.prod(self.shape[1:], dtype=int))
        if self.by_columns and self.whole is None:  # the first row ends where the file does
            self.whole = np.frombuffer(self.member.read(), self.kind).reshape(self.shape, order="F")
        if self.whole is None:
            block = np.frombuffer(self.member.read(count * width * self.kind.itemsize), self.kind)
            block = block.reshape(count, *self.shape[1:])
        else:
            block = self.whole[self.given : self.given + count]
        self.given += count
        return block.astype(np.float64)


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


def open_mat(path: Path) -> Log:
    """Variables of numbers, written by MATLAB with -v7 or older, or with -v7.3 where h5py is installed."""
    from scipy.io import loadmat, whosmat

    try:
        listed = whosmat(path)
    except NotImplementedError:
        return _open_hdf5(path)
    except Exception as error:  # SciPy raises its own classes too
        raise RecordingError(f"{path.name}: cannot read it ({error}); save it with MATLAB's option -v7") from None
    numeric = ("double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "logical")
    # MATLAB has no vectors: a row or column of N is one.
    shapes = {n: _vector(shape) for n, shape, kind in listed if kind in numeric and len(shape) == 2 and max(shape) > 1}

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        _check_lengths({name: shapes[name][0] for name in wanted}, path)
        try:
            content = loadmat(path, variable_names=list(wanted))
        except Exception as error:
            raise RecordingError(f"{path.name}: cut off or damaged ({error}); save it again") from None
        table = {name: np.asarray(content[name], dtype=np.float64).reshape(shapes[name]) for name in wanted}
        for first in range(0, shapes[wanted[0]][0], rows):
            yield {name: values[first : first + rows] for name, values in table.items()}

    return Log({name: _width(shape) for name, shape in shapes.items()}, chunks)


def _open_hdf5(path: Path) -> Log:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError(
            f"{path.name}: files of MATLAB's option -v7.3 need h5py; install it with: pip install 'tauform[logs]', or "
            "save with -v7"
        ) from None
    with h5py.File(path) as file:
        sets = {name: item for name, item in file.items() if isinstance(item, h5py.Dataset)}
        # The file holds what MATLAB shows, transposed.
        shapes = {n: _vector(d.shape[::-1]) for n, d in sets.items() if d.dtype.kind in NUMBERS and d.ndim == 2}

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        _check_lengths({name: shapes[name][0] for name in wanted}, path)
        with h5py.File(path) as file:
            for first in range(0, shapes[wanted[0]][0], rows):
                part = slice(first, first + rows)
                yield {name: _hdf5_rows(file[name], part, shapes[name]) for name in wanted}

    return Log({name: _width(shape) for name, shape in shapes.items()}, chunks)


def _hdf5_rows(data: Any, part: slice, shape: tuple[int, ...]) -> Array:
    if len(shape) == 2:
        return np.asarray(data[:, part], dtype=np.float64).T
    return np.asarray(data[0, part] if data.shape[0] == 1 else data[part, 0], dtype=np.float64)


def _vector(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (max(shape),) if min(shape) == 1 else shape


def _width(shape: tuple[int, ...]) -> int | None:
    return shape[1] if len(shape) == 2 else None


def _check_lengths(lengths: Mapping[str, int], path: Path) -> None:
    (first, count), *others = lengths.items()
    for name, other in others:
        if other != count:
            raise RecordingError(
                f"{path.name}: {name} holds {other} rows, {first} {count}; one row a sample, one column a joint: "
                "transpose it, or cut both to the same samples"
            )


OPENERS = {
    ".csv": open_csv,
    ".txt": open_csv,
    ".tsv": open_csv,
    ".npz": open_npz,
    ".parquet": open_parquet,
    ".mat": open_mat,
}
