"""Programs and compiled kernels on disk: one file each, named by the hash of all that it depends on, the key.

What is read is executed, so only a folder and files of our own are used (`private`), and a file's digest covers the key
too: another kernel under that name is not taken for this one. Files are written beside their place and renamed, so that
two processes may compile the same kernel at once. Whatever is wrong with an entry, the kernel is built again; a folder
that cannot be used costs time only. Beyond a size, what was not read for longest goes.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tauform.files.file import drop, keep, used
from tauform.files.private import private_folder

_DIGEST_SIZE = hashlib.sha256().digest_size


# Bytes that entries may take together; what was read longest ago goes first.
MAX_CACHE_BYTES = 256 * 2**20
SWITCHED_OFF = "off"
KINDS = ("kernel", "program")
_NAME = re.compile(rf"[0-9a-f]{{64}}\.({'|'.join(KINDS)})")
_refused: set[Path] = set()


def folder() -> Path | None:
    """The cache folder: $TAUFORM_CACHE, or the platform's place for caches; None where that is `off`.

    Raises:
        RuntimeError: the user has no home folder, as in some containers.
    """
    chosen = os.environ.get("TAUFORM_CACHE")
    if chosen:
        return None if chosen == SWITCHED_OFF else Path(chosen)
    import platformdirs

    if not os.environ.get("XDG_CACHE_HOME"):
        Path.home()  # platformdirs would make a folder "~" where there is none
    return platformdirs.user_cache_path("tauform", appauthor=False)


def cached(
    key: str, build: Callable[[], bytes], kind: str = "kernel", usable: Callable[[bytes], bool] | None = None
) -> bytes:
    """The bytes that belong to this key: read if they are on disk and intact, else built and kept.

    Args:
        usable: looks at what was read; where it returns False the entry is built again and replaced.
    """
    try:
        place = folder()
    except RuntimeError:
        place = None
    if place is None:
        # Nothing is kept: compiled anew in every process.
        return build()
    # Keys hold whole programs: a digest makes a file name of them.
    of_key = hashlib.sha256(key.encode())
    name = f"{of_key.hexdigest()}.{kind}"
    with private_folder(place) as own:
        found = None if own is None else _intact(own.read(name), of_key.digest())
        if found is not None and (usable is None or usable(found)):
            used(place / name)
            return found
    found = build()  # the folder is not held open meanwhile
    if own is not None and keep(place / name, _digest(of_key.digest(), found) + found):
        trim(place, MAX_CACHE_BYTES)
    else:
        _say_once(place, own is None)
    return found


def is_cached(key: str, kind: str = "kernel") -> bool:
    """Whether there is an entry of this key; reading may still find it damaged."""
    try:
        place = folder()
    except RuntimeError:
        return False
    return place is not None and (place / f"{hashlib.sha256(key.encode()).hexdigest()}.{kind}").exists()


def entries(place: Path) -> list[tuple[float, int, Path]]:
    """Time at which each entry was last read or written, its size and its place, the oldest first."""
    found = []
    for path in place.glob("*"):
        if not _NAME.fullmatch(path.name):  # files of others are not ours to count or to remove
            continue
        with suppress(OSError):  # another process may just have removed it
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    return sorted(found)


def trim(place: Path, allowed: int) -> int:
    """Remove the entries that were not used for longest until the others fit; how many went."""
    listed = entries(place)
    total, removed = sum(size for _, size, _ in listed), 0
    for _, size, path in listed:
        if total <= allowed:
            break
        drop(path)
        total, removed = total - size, removed + 1
    return removed


def _say_once(place: Path, unusable: bool) -> None:
    """One sentence per process about a folder that takes nothing; why one is not used was said already."""
    if place in _refused or (unusable and place.is_dir()):
        return
    _refused.add(place)
    words = f"{place} cannot be written, so programs and compiled code are made anew in each process; set TAUFORM_CACHE"
    warnings.warn(f"{words} to another folder, or to {SWITCHED_OFF!r}", stacklevel=3)


def _intact(data: bytes | None, of_key: bytes) -> bytes | None:
    """The payload of an entry, if it is whole and belongs to this key."""
    if data is None:
        return None
    digest, payload = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
    return payload if digest == _digest(of_key, payload) else None


def _digest(of_key: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(of_key + payload).digest()
