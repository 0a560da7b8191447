"""Whether a place can be written to, asked before the work whose result is to stand there."""

from __future__ import annotations

import errno
import os
import re
from itertools import islice
from pathlib import Path

from tauform.errors import GenerationError
from tauform.files.file import is_stream, resolved
from tauform.files.journal import finish
from tauform.files.locks import locked
from tauform.files.manifest import foreign_files, read_manifest
from tauform.files.temporaries import temporary_file
from tauform.wording import argument

# Bytes that must be free on the disk: what a small result takes.
LEAST_SPACE = 256 * 1024


def check_file(file: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse a file that cannot be written, or that exists where force is not set; ask before long work.

    Raises:
        GenerationError: it exists, is a folder or a mount, or the disk would refuse it.
    """
    path = Path(file)
    if is_stream(path):
        return
    try:
        target = resolved(path)
        if target.is_dir():
            raise GenerationError(f"{file}: is a folder; give a file")
        if not target.parent.is_dir():
            raise GenerationError(f"{file}: the folder {target.parent} does not exist; create it first")
        # A dangling link counts as there: writing would follow it.
        if os.path.lexists(path) and not force:
            remedy = f"choose another name, or allow it with {argument('force', True)}"
            raise GenerationError(f"{file}: exists", value=file, remedy=remedy)
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, "it is read-only")
        if is_mount_point(target):
            raise GenerationError(f"{file}: is mounted by itself, so that no file can replace it; mount its folder")
        _try_out(target.parent)
    except OSError as error:
        raise GenerationError(f"{file}: cannot be written ({error.strerror}); choose another place") from None


def check_folder(folder: str | os.PathLike[str], force: bool = False) -> Path:
    """The folder's absolute path, if `write_folder` may write there; ask before long work.

    What a killed process left half-way is put in place first.

    Raises:
        GenerationError: it is a file, cannot be written, or holds files that are not ours and force is not set.
    """
    try:
        target = resolved(Path(folder).expanduser())
        if target.exists() and not target.is_dir():
            raise GenerationError(f"{folder}: is a file; give a folder")
        # A folder that does not exist yet is made: what counts is the first that does.
        near = nearest_folder(target)
        if target.exists():
            # A killed process may have left half of its work: it is completed before anything is judged.
            with locked(target):
                finish(target)
                check_owner(folder, target, force)
        for place in {near, workplace(target)}:
            _try_out(place)
    except (OSError, RuntimeError) as error:  # no home folder
        reason = getattr(error, "strerror", None) or error
        raise GenerationError(f"{folder}: cannot be written ({reason}); nothing was changed") from None
    return target


def check_owner(folder: str | os.PathLike[str], target: Path, force: bool) -> None:
    """Refuse a folder that holds what is not ours, unless force is set."""
    # Three names are enough for a sentence; the folder may hold millions of files.
    others = [] if force else list(islice(foreign_files(target), 3))
    if not others:
        return
    manifest = read_manifest(target)
    if manifest is not None and set(others) <= set(manifest.files):
        raise GenerationError(
            f"{folder}: {', '.join(others)} changed since tauform wrote it",
            value=folder,
            remedy=f"keep it elsewhere and write it anew with {argument('force', True)}, or choose another folder",
        )
    raise GenerationError(
        f"{folder}: holds files that tauform did not write ({', '.join(others)})",
        value=folder,
        remedy=f"choose another folder, or allow it with {argument('force', True)}",
    )


def workplace(target: Path) -> Path:
    """Place where a folder is put together: beside its place, or inside where it cannot be renamed."""
    parent = nearest_folder(target.parent)
    stays = target.is_dir() and (is_mount_point(target) or not os.access(parent, os.W_OK | os.X_OK))
    return target if stays else parent


def nearest_folder(path: Path) -> Path:
    """The folder itself, or the first that exists above it; NotADirectoryError where that is a file."""
    # The root always exists.
    nearest = next(place for place in (path, *path.parents) if place.exists())
    if not nearest.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{nearest.name} is a file")
    return nearest


def is_mount_point(path: Path) -> bool:
    """Whether another file system, or another part of this one, is mounted here; such cannot be renamed."""
    try:
        # `is_mount` compares devices, which bind mounts of the same device do not change.
        table = Path("/proc/self/mountinfo").read_bytes()
    except OSError:
        return path.is_mount()
    places = (line.split(b" ")[4] for line in table.splitlines())
    return os.fsencode(path) in {re.sub(rb"\\(\d{3})", lambda code: bytes([int(code[1], 8)]), p) for p in places}


def _try_out(folder: Path) -> None:
    """Write something to a folder: permissions say little to root, and nothing of disks that are full or read-only."""
    with temporary_file(folder) as (_, file):
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, LEAST_SPACE)
