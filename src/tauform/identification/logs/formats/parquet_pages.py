"""Sizes of the pages of a Parquet file: a reader takes as much memory for each as its header says."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import IO, Any

# Bytes of a header that are read at first, and at most: it holds the least and the largest value of its page.
FIRST, MOST = 1 << 10, 1 << 24
# Structs within structs; headers of pages know three.
DEEPEST = 8
# Kinds of Thrift's compact protocol.
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
INTEGERS = (4, 5, 6)
# Fields of a header.
UNPACKED, PACKED = 2, 3


def unpacked_bytes(file: IO[bytes], metadata: Any, names: Collection[str]) -> int:
    """Bytes that the pages of these columns unpack to, by their own headers.

    Raises:
        ValueError: a header is not one.
    """
    total = 0
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        for k in range(row_group.num_columns):
            column = row_group.column(k)
            # Columns that nobody reads may be as large as they like.
            if column.path_in_schema in names:
                total += sum(_pages(file, *_extent(column)))
    return total


def _extent(column: Any) -> tuple[int, int]:
    """First byte and the one after the last: dictionaries come before the data."""
    start = column.data_page_offset
    if column.dictionary_page_offset is not None and 0 < column.dictionary_page_offset < start:
        start = column.dictionary_page_offset
    return start, start + column.total_compressed_size


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
