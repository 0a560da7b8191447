"""Compiled kernels on disk: one file each, named by the hash of all that it depends on.

Files are written beside their place and renamed, so that two processes may compile the same kernel at once; a file
that was cut short or altered fails its checksum and is built again. A folder that is
not there or cannot be written to costs time only.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_DIGEST_SIZE = hashlib.sha256().digest_size


def folder() -> Path:
    """The cache folder: $TAUFORM_CACHE, or the platform's place for caches.

    Raises:
        RuntimeError: the user has no home folder, as in some containers.
    """
    chosen = os.environ.get("TAUFORM_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "tauform" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tauform"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tauform"


def cached(key: str, build: Callable[[], bytes]) -> bytes:
    """The bytes that belong to this key: read if they are on disk and intact, else built and kept."""
    try:
        path = folder() / (hashlib.sha256(key.encode()).hexdigest() + ".kernel")
    except RuntimeError:
        return build()
    found = _read(path)
    if found is None:
        found = build()
        _write(path, found)
    return found


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, payload = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
    return payload if hashlib.sha256(payload).digest() == digest else None


def _write(path: Path, payload: bytes) -> None:
    with suppress(OSError):
        # object code is executed: nobody else may write here
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(payload).digest() + payload)
            os.replace(name, path)
        except OSError:
            with suppress(OSError):
                os.unlink(name)
