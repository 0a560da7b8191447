"""Compiled kernels on disk: one file each, named by the hash of all that it depends on, the key.

What is read is executed, so only a folder and files of our own are used (`private`), and a file's digest covers the key
too: another kernel under that name is not taken for this one. Files are written beside their place and renamed, so that
two processes may compile the same kernel at once. Whatever is wrong with an entry, the kernel is built again; a folder
that cannot be used costs time only.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from tauform.files.file import keep
from tauform.files.private import private_folder

_DIGEST_SIZE = hashlib.sha256().digest_size


def folder() -> Path:
    """The cache folder: $TAUFORM_CACHE, or the platform's place for caches.

    Raises:
        RuntimeError: the user has no home folder, as in some containers.
    """
    chosen = os.environ.get("TAUFORM_CACHE")
    if chosen:
        return Path(chosen)
    import platformdirs

    if not os.environ.get("XDG_CACHE_HOME"):
        Path.home()  # platformdirs would make a folder "~" where there is none
    return platformdirs.user_cache_path("tauform", appauthor=False)


def cached(key: str, build: Callable[[], bytes]) -> bytes:
    """The bytes that belong to this key: read if they are on disk and intact, else built and kept."""
    try:
        place = folder()
    except RuntimeError:
        return build()
    of_key = hashlib.sha256(key.encode())
    name = of_key.hexdigest() + ".kernel"
    with private_folder(place) as own:
        found = None if own is None else _intact(own.read(name), of_key.digest())
        if found is None:
            found = build()
            if own is not None:
                keep(place / name, _digest(of_key.digest(), found) + found)
    return found


def _intact(data: bytes | None, of_key: bytes) -> bytes | None:
    """The payload of an entry, if it is whole and belongs to this key."""
    if data is None:
        return None
    digest, payload = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
    return payload if digest == _digest(of_key, payload) else None


def _digest(of_key: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(of_key + payload).digest()
