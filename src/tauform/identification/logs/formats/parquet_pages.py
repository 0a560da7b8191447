"""Sizes of the pages of a Parquet file: a reader takes as much memory for each as its header says."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import IO

# Bytes of a header that are read at first, and at most: it holds the least and the largest value of its page.
FIRST, MOST = 1 << 10, 1 << 24
# Structs within structs; headers of pages know three.
DEEPEST = 8
# Kinds of Thrift's compact protocol.
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
# Fields of a header.
UNPACKED, PACKED = 2, 3
# Fields of the description at the end: of the file, a group of rows, a column of it, and what is said of that.
ROW_GROUPS, COLUMNS, META_DATA = 4, 1, 3
PATH, SIZE, DATA, DICTIONARY = 3, 7, 9, 11


def unpacked_bytes(file: IO[bytes], names: Collection[str]) -> int:
    """Bytes that the pages of these columns unpack to, by their own headers.

    Raises:
        ValueError: a header is not one.
    """
    # Columns that nobody reads may be as large as they like.
    return sum(sum(_pages(file, *extent)) for name, extent in _extents(_footer(file)) if name in names)


def _footer(file: IO[bytes]) -> bytes:
    """The description of all columns, before the last eight bytes."""
    end = file.seek(-8, os.SEEK_END)
    length = int.from_bytes(file.read(4), "little")
    if length > end:
        raise ValueError("no list of columns")
    file.seek(end - length)
    return file.read(length)


def _extents(footer: bytes) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name of each column of each group of rows, its first byte and the one after the last.

    Read here: where statistics are damaged, pyarrow ends the process as it hands out a column.
    """
    description = _Compact(footer)
    try:
        for group in description.structs(ROW_GROUPS):
            for chunk in group.structs(COLUMNS):
                for column in chunk.structs(META_DATA):
                    yield _extent(column)
    except IndexError:
        raise ValueError("a list of columns that ends too early") from None


def _extent(column: _Compact) -> tuple[str, tuple[int, int]]:
    found: dict[int, int] = {}
    path: list[str] = []
    for key, kind in column.fields():
        if key == PATH:
            path = [part.decode("utf-8", "replace") for part in column.texts()]
        else:
            found[key] = column.value(kind)
    if not {SIZE, DATA} <= found.keys():
        raise ValueError("a column without a place")
    # Dictionaries come before the data.
    start = found[DATA] if not 0 < found.get(DICTIONARY, 0) < found[DATA] else found[DICTIONARY]
    return ".".join(path), (start, start + found[SIZE])


def _pages(file: IO[bytes], at: int, end: int) -> Iterator[int]:
    """Unpacked bytes of each page between two places."""
    while at < end:
        length, sizes = _header(file, at)
        # A forged header could send the walk backwards, for ever.
        if min(sizes) < 0:
            raise ValueError("a page of negative size")
        yield sizes[0]
        at += length + sizes[1]


def _header(file: IO[bytes], at: int) -> tuple[int, tuple[int, int]]:
    """Length of the header there; unpacked and packed bytes of its page."""
    n_bytes = FIRST
    while True:
        file.seek(at)
        data = file.read(n_bytes)
        try:
            header = _Compact(data)
            found = {key: header.value(kind) for key, kind in header.fields()}
            return header.at, (found[UNPACKED], found[PACKED])
        except (IndexError, KeyError):
            # More bytes are read only where the file has them.
            if len(data) < n_bytes or n_bytes >= MOST:
                raise ValueError("a page without a header") from None
        n_bytes *= 16


class _Compact:
    """Thrift's compact protocol, as far as headers go; IndexError where the bytes end."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ValueError("a number without an end")

    def integer(self) -> int:
        value = self.varint()
        # Signs are the last bit.
        return (value >> 1) ^ -(value & 1)

    def fields(self) -> Iterator[tuple[int, int]]:
        """(number, kind) of each field of a struct; its value must be taken before the next."""
        key = 0
        while byte := self.byte():
            key = key + (byte >> 4) if byte >> 4 else self.integer()
            yield key, byte & 15

    def structs(self, wanted: int) -> Iterator[_Compact]:
        """The structs of a field, one or a list of them; all other fields are passed over."""
        for key, kind in self.fields():
            if key != wanted:
                self.value(kind)
            elif kind == STRUCT:
                yield self
            elif kind == LIST:
                for _ in range(self.count()):
                    yield self
            else:
                raise ValueError("a list of columns that is none")

    def texts(self) -> Iterator[bytes]:
        """The texts of a list."""
        for _ in range(self.count()):
            length = self.varint()
            self.at += length
            yield self.data[self.at - length : self.at]

    def count(self) -> int:
        """How many elements follow, of whatever kind."""
        byte = self.byte()
        return self.varint() if byte >> 4 == 15 else byte >> 4

    def value(self, kind: int, depth: int = 0) -> int:
        """An integer; of all else, 0 for what was passed over."""
        if kind in INTEGERS:
            return self.integer()
        if kind in (BYTE, DOUBLE):
            self.at += 1 if kind == BYTE else 8
        elif kind == BINARY:
            length = self.varint()
            self.at += length
        elif kind in (LIST, SET):
            byte = self.byte()
            count = self.varint() if byte >> 4 == 15 else byte >> 4
            # Each takes a byte at least, whatever the number says.
            if count > len(self.data):
                raise IndexError
            for _ in range(count):
                self.value(BYTE if byte & 15 in (TRUE, FALSE) else byte & 15, depth + 1)
        elif kind == STRUCT and depth < DEEPEST:
            for _, inner in self.fields():
                self.value(inner, depth + 1)
        elif kind not in (TRUE, FALSE):
            raise ValueError("a page without a header")
        return 0
