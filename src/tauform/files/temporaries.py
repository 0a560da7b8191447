"""Temporary files and folders that no end of a process leaves behind for good.

Each has a hidden name of its own and is locked for as long as its process lives. Whoever writes into the same folder
next removes those without a lock: their process was killed.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tauform.files.locks import is_at, lock

NAME = re.compile(r"\.tauform-[0-9a-f]{16}")
# Seconds after which a temporary is taken for abandoned where the file system knows no locks.
ABANDONED_AFTER = 24 * 3600.0
# Times that the removal of a folder is tried.
MAX_REMOVAL_TRIES = 10
# Open what stands there and nothing that it points to, and do not wait for a pipe.
_AS_IT_IS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)

_register: int | None = None
_announced: set[Path] = set()


@contextmanager
def temporary_file(folder: Path, mode: int = 0o666) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file in a folder, open for writing; gone at the end unless it was renamed."""
    sweep(folder)
    path, handle = _new_file(folder, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            yield path, file
    finally:
        with suppress(OSError):
            path.unlink()


@contextmanager
def temporary_folder(place: Path) -> Iterator[Path]:
    """A new folder for its owner alone, below another one; gone at the end with all that it holds."""
    sweep(place)
    path, handle = _new_folder(place)
    try:
        # One level down: the folder itself is locked, and who writes there would wait for us.
        inner = path / "new"
        inner.mkdir()
        yield inner
    finally:
        _remove_folder(path)
        os.close(handle)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder where the system keeps such."""
    import tempfile

    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        yield folder


def sweep(folder: Path) -> None:
    """Remove what killed processes left in a folder; temporaries of other users and of processes that live stay."""
    with suppress(OSError):
        for name in filter(NAME.fullmatch, os.listdir(folder)):
            with suppress(OSError):
                _remove_if_abandoned(folder / name)


def announce_to(register: int) -> None:
    """Write the names of folders to this file from now on, for a process that cleans up after this one."""
    global _register
    _register = register


def announced(register: int) -> list[Path]:
    """Folders that were written there."""
    # Names end with a zero byte, the only one that no path can hold.
    content = os.pread(register, os.fstat(register).st_size, 0)
    return [Path(os.fsdecode(name)) for name in content.split(b"\0") if name]


def announce(folder: Path) -> None:
    """Say that a folder may need cleaning up if this process is killed."""
    if _register is not None and folder not in _announced:
        _announced.add(folder)
        os.write(_register, os.fsencode(folder.absolute()) + b"\0")


def _new_name(folder: Path) -> Path:
    announce(folder)
    return folder / f".tauform-{os.urandom(8).hex()}"


def _new_file(folder: Path, mode: int) -> tuple[Path, int]:
    while True:
        # Announced before it exists: a kill between both leaves a name too many, never a file too many.
        path = _new_name(folder)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        if _claim(handle, path):
            return path, handle
        os.close(handle)


def _new_folder(place: Path) -> tuple[Path, int]:
    while True:
        path = _new_name(place)
        path.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            handle = os.open(path, _AS_IT_IS)
            if _claim(handle, path):
                return path, handle
            os.close(handle)


def _claim(handle: int, path: Path) -> bool:
    """Lock what was just made; False where a sweep took it for abandoned before that."""
    return lock(handle) is not False and is_at(handle, path)


def _remove_if_abandoned(path: Path) -> None:
    handle = os.open(path, _AS_IT_IS)
    try:
        found = os.fstat(handle)
        # A lock that can be taken: the process that held it is gone.
        free = lock(handle)
        if free is None:
            free = time.time() - found.st_mtime > ABANDONED_AFTER
        if free and (not hasattr(os, "geteuid") or found.st_uid == os.geteuid()):
            _remove_folder(path) if stat.S_ISDIR(found.st_mode) else path.unlink()
    finally:
        os.close(handle)


def _remove_folder(path: Path) -> None:
    for place, _, _ in os.walk(path):  # nothing can be removed from a folder that is read-only
        with suppress(OSError):
            os.chmod(place, 0o700)
    for _ in range(MAX_REMOVAL_TRIES):
        shutil.rmtree(path, ignore_errors=True)
        if not os.path.lexists(path):
            return
        time.sleep(0.01)  # a compiler that was killed too may still write there
