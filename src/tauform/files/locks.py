"""Locks that end with the process that holds them, however it ends; they hold across containers too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # systems without POSIX locks
    fcntl = None  # type: ignore[assignment]


def lock(handle: int) -> bool | None:
    """Whether an open file or folder is locked by us now; None where the file system knows no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # Network file systems often know no locks.
    except OSError:
        return None
    return True


def is_at(handle: int, path: Path) -> bool:
    """Whether what was opened still stands at this path."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except FileNotFoundError:
        return False


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait for others who ask for the same folder, and keep them waiting; no lock where there are none."""
    while True:
        handle = os.open(folder, os.O_RDONLY)
        try:
            if fcntl is not None:
                with suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_EX)
            if is_at(handle, folder):  # it was not exchanged for another one while we waited
                yield
                return
        finally:
            os.close(handle)
