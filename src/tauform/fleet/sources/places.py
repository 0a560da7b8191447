"""Places: files of a data set, in a folder of this machine or at an address that fsspec knows (s3://, gs://, ...)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from tauform.errors import MissingExtraError, RecordingError
from tauform.files.temporaries import scratch_folder

# What storages say that changes with a file's contents, the surest first.
VERSIONS = ("ETag", "etag", "LastModified", "mtime", "created")


def is_address(place: str | Path) -> bool:
    """Whether it is an address rather than a path."""
    return isinstance(place, str) and "://" in place


def local_folder(place: str | Path) -> Path | None:
    """The folder of this machine that a path or a file:// address names; None for what lies elsewhere."""
    if not is_address(place):
        return Path(place)
    text = str(place)
    return Path(text.removeprefix("file://")) if text.startswith("file://") else None


def found_at(address: str) -> Iterator[tuple[PurePosixPath, str, int, str]]:
    """(place within, address, size, version) of all files under an address, in the order of their names.

    Raises:
        RecordingError: nothing is there, or it cannot be reached.
        MissingExtraError: the library for this kind of address is not installed.
    """
    files, root = _file_system(address)
    try:
        found: dict[str, Any] = files.find(root, detail=True)
    # Each kind of storage fails in its own way: no network, no rights, no such bucket.
    except Exception as error:
        raise RecordingError(f"{address}: cannot be listed: {error}") from None
    for path in sorted(found):
        info = found[path]
        # Whatever the storage calls the time of the last change, or the digest of the contents.
        version = next((str(info[key]) for key in VERSIONS if key in info), "")
        place = PurePosixPath(path.removeprefix(root).lstrip("/"))
        yield place, str(files.unstrip_protocol(path)), int(info.get("size") or 0), version


def text_at(address: str) -> str | None:
    """A small text; None where there is none."""
    files, path = _file_system(address)
    try:
        return bytes(files.cat_file(path)).decode("utf-8") if files.exists(path) else None
    except Exception as error:
        raise RecordingError(f"{address}: cannot be read: {error}") from None


@contextmanager
def at_hand(path: Path | str) -> Iterator[Path]:
    """A log as a file of this machine: itself, or a copy that is removed afterwards.

    Raises:
        OSError: it cannot be fetched; another time it may.
    """
    if isinstance(path, Path):
        yield path
        return
    files, root = _file_system(path)
    with scratch_folder() as folder:
        copy = folder / PurePosixPath(root).name
        try:
            files.get_file(root, str(copy))
        except Exception as error:
            raise OSError(f"{path}: cannot be fetched: {error}") from None
        yield copy


def _file_system(address: str) -> tuple[Any, str]:
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("addresses need fsspec", remedy="pip install tauform[fleet]") from None
    try:
        files, root = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise MissingExtraError(f"{address}: {error}") from None
    except ValueError as error:
        raise RecordingError(f"{address}: {error}") from None
    return files, str(root)
