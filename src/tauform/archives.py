"""Archives of arrays (.npz) from anywhere: sizes are checked before anything is unpacked, objects are never read."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from tauform.arrays import AnyArray

# Bytes that models and fits may unpack to.
MOST_UNPACKED = 4 << 30
# Measurements and models shrink to a fortieth at best; what unpacks to more than this many times its size, and to more
# than so many bytes, was made to fill memory or disk.
MOST_COMPRESSION, HARMLESS_BYTES = 200, 256 << 20


@dataclass(frozen=True)
class Member:
    """An array of an archive, by its header."""

    file: str
    shape: tuple[int, ...]
    by_columns: bool
    dtype: np.dtype[Any]
    packed: int

    @property
    def n_bytes(self) -> int:
        """Size of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


@contextmanager
def damage_as_value_error() -> Iterator[None]:
    """Raise ValueError for whatever else damage ends in: headers are evaluated, members unpacked by many layers."""
    try:
        yield
    except (ValueError, MemoryError):  # which says what is the matter
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:100]
        raise ValueError(reason or type(error).__name__) from None


def members_of(archive: zipfile.ZipFile) -> dict[str, Member]:
    """Name -> array; call within `damage_as_value_error`.

    Raises:
        ValueError: a header and its member differ in size, or a name is there twice.
    """
    members: dict[str, Member] = {}
    for info in archive.infolist():
        name = info.filename.removesuffix(".npy")
        if name in members:
            raise ValueError(f"two arrays are named {name[:40]!r}")
        # Not an array: other files in an archive are left alone.
        if name == info.filename:
            continue
        with archive.open(info) as stream:
            shape, by_columns, dtype = read_header(stream)
            member = Member(info.filename, shape, by_columns, dtype, info.compress_size)
            # A header may claim any size; the member's own must agree before it is read.
            if not dtype.hasobject and member.n_bytes != info.file_size - stream.tell():
                raise ValueError(f"{name[:40]!r} is of another size than it says")
        members[name] = member
    return members


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type of the array that follows in the stream."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_columns, dtype = read(stream)
    # A negative size would reshape to anything.
    if min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape}")
    return shape, by_columns, dtype


def check_unpacked(n_bytes: int, packed: int) -> None:
    """Refuse what unpacks to far more than any measurement does.

    Raises:
        ValueError: with both sizes.
    """
    if n_bytes > HARMLESS_BYTES and n_bytes > MOST_COMPRESSION * packed:
        raise ValueError(f"{packed / 1e6:.2g} MB would unpack to {n_bytes / 1e9:.2g} GB")


def ordinary(path: Path) -> Path:
    """The path, unless opening it could wait for ever or never end: a pipe, a socket, a device.

    Raises:
        OSError: it is one of these.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise OSError(f"{path} is a pipe or a device, no file")
    return path


def read_archive(path: Path) -> dict[str, AnyArray]:
    """The arrays of an .npz file that this package wrote.

    Raises:
        OSError: the file cannot be opened.
        ValueError: it is no such archive, a damaged one, or would unpack to more than any model or fit.
    """
    with ordinary(path).open("rb") as file:
        return unpacked(file)


def unpacked(file: IO[bytes]) -> dict[str, AnyArray]:
    """The arrays of an open archive; see `read_archive`."""
    with damage_as_value_error(), zipfile.ZipFile(file) as archive:
        members = members_of(archive)
        objects = next((name for name, member in members.items() if member.dtype.hasobject), None)
        if objects is not None:
            raise ValueError(f"{objects[:40]!r} holds Python objects, which are not read")
        n_bytes = sum(member.n_bytes for member in members.values())
        check_unpacked(n_bytes, sum(member.packed for member in members.values()))
        if n_bytes > MOST_UNPACKED:
            raise ValueError(f"it would unpack to {n_bytes / 1e9:.2g} GB")
        return {name: _read(archive, member) for name, member in members.items()}


def _read(archive: zipfile.ZipFile, member: Member) -> AnyArray:
    with archive.open(member.file) as stream:
        # Skips the header: the data follows it.
        read_header(stream)
        data = bytearray(stream.read())
    if member.dtype.kind == "b":  # other bytes than 0 and 1 would be neither True nor False
        data = bytearray(map(bool, data))
    order = "F" if member.by_columns else "C"
    return np.frombuffer(data, member.dtype).reshape(member.shape, order=order)  # type: ignore[call-overload]
