"""Files that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tauform.errors import TauformError
from tauform.files.temporaries import temporary_file

# Names of files that are open already; one that stood in their place would not be where the shell looks.
OPENED = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/self/fd/")


@contextmanager
def fresh_file(path: Path, refusal: type[TauformError]) -> Iterator[BinaryIO]:
    """A new file to write to, which takes the place of `path` once all of it is on the disk.

    A file that stood there keeps its mode; where writing fails, it stays. A link stays one, and its file is renewed.

    Args:
        refusal: what to raise where the disk refuses.
    """
    try:
        if is_stream(path):
            with path.open("wb") as stream:
                yield stream
            return
        target = resolved(path)
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "it is read-only")  # renaming would not ask
        # In the same folder: a rename between file systems would be a copy, which can stop half-way.
        with temporary_file(target.parent) as (own, file):
            yield file
            keep_mode(own, target)
            file.flush()
            # Before the rename: else a power cut could leave the new name with old, or no, content.
            os.fsync(file.fileno())
            os.replace(own, target)
    except OSError as error:
        raise refusal(f"{path}: cannot be written ({error.strerror}); choose another place") from error


def write_text(path: Path, text: str, refusal: type[TauformError]) -> Path:
    """Write a file of text as a whole, in UTF-8, whatever the system's own encoding and line ends are."""
    with fresh_file(path, refusal) as file:
        file.write(text.encode())
    return path


def keep(path: Path, payload: bytes) -> bool:
    """Keep bytes for later in a file that nobody else may touch; whether they could be written."""
    try:
        # No fsync: a cache entry that a power cut damages fails its digest, and is made anew.
        with temporary_file(path.parent, mode=0o600) as (own, file):
            file.write(payload)
            file.flush()
            os.replace(own, path)
    except OSError:
        return False
    return True


def used(path: Path) -> None:
    """Note that a kept file was read just now."""
    with suppress(OSError):
        os.utime(path)


def drop(path: Path) -> None:
    """Remove a kept file, if it is there and we may."""
    with suppress(OSError):
        path.unlink()


def is_stream(path: Path) -> bool:
    """Whether this is a pipe or a device, or what the shell opened for us: such take what they are given."""
    try:
        kind = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)) or str(path).startswith(OPENED)


def resolved(path: Path) -> Path:
    """The path without links; OSError where there is no such path."""
    try:
        return path.resolve()
    except (RuntimeError, ValueError):  # links that point at each other, a name with a zero in it
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL)) from None


def keep_mode(fresh: Path, target: Path) -> None:
    """Give what is to take the place of `target` its mode and, where we may, its owner."""
    try:
        before = target.stat()
    except OSError:
        return
    if hasattr(os, "chown"):
        with suppress(PermissionError):
            os.chown(fresh, before.st_uid, before.st_gid)
    # After the owner: changing that clears bits of the mode.
    fresh.chmod(before.st_mode & 0o777)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder written to the disk, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
