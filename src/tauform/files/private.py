"""Folders and files that nobody else can have written: what is read from them may be executed.

Whatever is checked is open already, so that nobody can exchange it between the check and the reading. Root is held to
the same rule: a file of another user is not run with root's rights. Systems without owners of files (Windows) keep
caches in a folder of the user's profile, which others cannot write to.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Open what stands there and nothing that it points to, and do not wait for a pipe.
_AS_IT_IS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_HAS_OWNERS = hasattr(os, "geteuid")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class PrivateFolder:
    """A folder of our own, open for reading."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path = path
        self._handle = handle

    def read(self, name: str) -> bytes | None:
        """The content of a file that is ours alone; None where there is no such file."""
        try:
            if self._handle is None:
                handle = os.open(self.path / name, _AS_IT_IS)
            else:
                handle = os.open(name, _AS_IT_IS, dir_fd=self._handle)
        except OSError:
            return None
        # Of what is open, not of the name: nobody can exchange it between check and reading.
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or objection(found):
            os.close(handle)
            return None
        with os.fdopen(handle, "rb") as file:
            return file.read()


@contextmanager
def private_folder(path: Path) -> Iterator[PrivateFolder | None]:
    """The folder, made if it does not exist; None, and a warning, where it is not ours alone or cannot be made."""
    try:
        # For its owner alone from the first moment on.
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, _AS_IT_IS | os.O_DIRECTORY) if _HAS_OWNERS else None
    except OSError:
        _warn(path, "is a link" if path.is_symlink() else "")
        yield None
        return
    try:
        reason = "" if handle is None else objection(os.fstat(handle))
        _warn(path, reason)
        yield None if reason else PrivateFolder(path, handle)
    finally:
        if handle is not None:
            os.close(handle)


def objection(found: os.stat_result) -> str:
    """Why others may have written what was found; empty where they cannot have."""
    if _HAS_OWNERS and found.st_uid != os.geteuid():
        return "belongs to another user"
    return "can be written by others" if _HAS_OWNERS and found.st_mode & _WRITABLE_BY_OTHERS else ""


def _warn(path: Path, reason: str) -> None:
    if reason:
        words = f"{path}: {reason}, so compiled code is not kept there; make it yours alone (chmod 700), or set "
        warnings.warn(f"{words}TAUFORM_CACHE to another folder", stacklevel=2)
