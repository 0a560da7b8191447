"""Columns that stay in a file: recordings larger than memory are walked through in pieces."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.errors import RecordingError

NUMBER = np.dtype(np.float64)
# Rows that are read at once, those between the wanted ones included.
ROWS_AT_ONCE = 500_000


@dataclass(frozen=True, eq=False)
class StoredArray:
    """Rows of numbers in a file, (N,) or (N, n); slices are views that read nothing, `np.asarray` reads.

    Attributes:
        file: open for reading; it vanishes with the last array that refers to it, if it is a temporary one.
        rows: which rows of the file.
        width: numbers in a row; None for a column of single ones.
    """

    file: IO[bytes]
    rows: range
    width: int | None

    dtype = NUMBER

    @property
    def shape(self) -> tuple[int, ...]:
        """(N,) or (N, n)."""
        return (len(self.rows),) if self.width is None else (len(self.rows), self.width)

    @property
    def ndim(self) -> int:
        """1 or 2."""
        return len(self.shape)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Any) -> Any:
        # Slices of a range are ranges: views of views stay views.
        if isinstance(key, slice) and (key.step is None or key.step > 0):
            return StoredArray(self.file, self.rows[key], self.width)
        if isinstance(key, int | np.integer):
            row = self.rows[int(key)]
            return np.asarray(StoredArray(self.file, range(row, row + 1), self.width))[0]
        # Masks and lists of indices need the numbers themselves.
        return np.asarray(self)[key]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        # Rows between the wanted ones are read too: a disk is faster through them than around them.
        at_once = max(1, ROWS_AT_ONCE // self.rows.step)
        parts = [self._read(self.rows[k : k + at_once]) for k in range(0, max(1, len(self.rows)), at_once)]
        whole = np.concatenate(parts) if len(parts) > 1 else parts[0]
        return whole.astype(dtype or NUMBER, copy=False)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another process cannot open a file that has no name: the numbers travel, and are stored again there.
        return _stored_again, (np.asarray(self),)

    def _read(self, rows: range) -> Array:
        count = self.width or 1
        if not rows:
            return np.empty((0, *self.shape[1:]))
        # From the first to the last wanted row; `rows.step` is applied in memory.
        block = np.empty((rows[-1] - rows[0] + 1, *self.shape[1:]))
        self._fill(block.data.cast("B"), rows[0] * count * NUMBER.itemsize)
        return block if rows.step == 1 else block[:: rows.step].copy()

    def _fill(self, buffer: memoryview, start: int) -> None:
        """Read bytes from a place that is stated: threads and forked processes share the file's own."""
        done = 0
        while done < len(buffer):
            # A read may return less than was asked for.
            count = os.preadv(self.file.fileno(), [buffer[done:]], start + done)
            if not count:
                raise RecordingError("a temporary file of the recording was cut short; read the recording again")
            done += count


class Spool:
    """A temporary file that grows by pieces and ends as a StoredArray."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="tauform-")  # noqa: SIM115 - it lives as long as the array
        self._rows = 0
        self._width: int | None = None

    def add(self, piece: Array) -> None:
        """Append rows."""
        try:
            self._file.write(np.ascontiguousarray(piece, dtype=NUMBER).data)
            # Readers use the file's descriptor, behind Python's own buffer.
            self._file.flush()
        except OSError as error:
            reason = error.strerror or "the disk is full"
            raise RecordingError(
                f"{tempfile.gettempdir()}: cannot hold the recording ({reason}); set TMPDIR to a folder with more room"
            ) from None
        self._rows += len(piece)
        self._width = piece.shape[1] if piece.ndim == 2 else None

    def finish(self) -> StoredArray:
        """All rows."""
        self._file.flush()
        return StoredArray(self._file, range(self._rows), self._width)


def _stored_again(values: Array) -> StoredArray:
    spool = Spool()
    spool.add(values)
    return spool.finish()


class Buffer:
    """The same in memory."""

    def __init__(self) -> None:
        self._pieces: list[Array] = []

    def add(self, piece: Array) -> None:
        """Append rows."""
        self._pieces.append(piece)

    def finish(self) -> Array:
        """All rows, read-only."""
        whole = np.concatenate(self._pieces) if len(self._pieces) != 1 else self._pieces[0]
        whole.setflags(write=False)  # so that a recording takes it as it is
        return whole


def collected(pieces: Iterable[Array], stored: bool) -> Any:
    """Pieces joined, in memory or in a temporary file."""
    whole = Spool() if stored else Buffer()
    for piece in pieces:
        whole.add(piece)
    return whole.finish()


def is_lazy(values: Any) -> bool:
    """Whether numbers stay in a file until they are asked for."""
    return isinstance(values, StoredArray | np.memmap)
