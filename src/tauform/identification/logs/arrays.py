"""Logs that are arrays by name, read in pieces: NPZ and MAT."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.errors import MissingExtraError, RecordingError
from tauform.identification.logs.log import Log, Table

NUMBERS = "fiub"
# What files raise that are cut off, or are no archives at all.
BROKEN = (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile)


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
                streams = {name: stack.enter_context(_Rows(archive, f"{name}.npy")) for name in wanted}
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


class _Rows:
    """Rows of an array inside an archive, one block after another."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self.member = archive.open(name)
        self.shape, self.by_columns, self.kind = _read_header(self.member)
        self.whole: Array | None = None
        self.given = 0

    def __enter__(self) -> _Rows:
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


def open_mat(path: Path) -> Log:
    """Variables of numbers, written by MATLAB with -v7 or older, or with -v7.3 where h5py is installed."""
    from scipy.io import loadmat, whosmat

    try:
        listed = whosmat(path)
    except NotImplementedError:  # SciPy's answer to -v7.3, which is HDF5
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
