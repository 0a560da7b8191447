"""Folders that we write: whole or not at all, and never over files of somebody else."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from tauform.errors import GenerationError, TauformError
from tauform.files.checks import check_folder, check_owner, workplace
from tauform.files.file import keep_mode, sync_folder, write_text
from tauform.files.journal import finish, merge
from tauform.files.locks import locked
from tauform.files.manifest import JOURNAL, MANIFEST, Manifest, foreign_files, manifest_of, read_manifest
from tauform.files.temporaries import temporary_folder

# Writes files into the folder it is given; returns paths in it that a build makes later.
Fill = Callable[[Path], Sequence[str]]

_AT_CURRENT_FOLDER = -100
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def write_folder(folder: str | os.PathLike[str], fill: Fill, force: bool = False) -> list[Path]:
    """Have a folder filled elsewhere, then put it in place, so that it is never half-written.

    Args:
        folder: made if it does not exist; one that we wrote before is replaced.
        fill: writes the files.
        force: also write into a folder that holds other files; they are kept unless they have our files' names.

    Returns:
        Paths of the files.

    Raises:
        GenerationError: the folder is not ours, is a file, or cannot be written; nothing was changed.
    """
    target = check_folder(folder, force)
    with _put_together(folder, target) as new:
        manifest = manifest_of(new, tuple(fill(new)))
        write_text(new / MANIFEST, manifest.text(), GenerationError)
        sync_folder(new)
        # Three ways, the best first: rename where nothing is, exchange where all is ours, else file by file.
        if not _renamed(new, target):
            with locked(target):
                finish(target)
                check_owner(folder, target, force)
                _keep_modes(new, target)
                if not _exchanged(new, target):
                    check_owner(folder, target, force)  # somebody may have written there meanwhile
                    merge(new, target)
        sync_folder(target.parent)
    return [target / name for name in manifest.files]


def write_texts(folder: Path, texts: Mapping[str, str]) -> None:
    """Write files of text into a folder that is being filled, by their relative paths."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text, GenerationError)


def made_folder(folder: str | os.PathLike[str], refusal: type[TauformError]) -> Path:
    """A folder for files that are written one by one, made where there is none.

    Args:
        refusal: what to raise where the disk refuses, or where a file has its name.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise refusal(f"{folder}: a file has this name, or that of a folder above it; choose another one") from None
    except OSError as error:
        raise refusal(f"{folder}: cannot be made ({error.strerror}); choose another place") from None
    return path


def drop_folder(folder: Path) -> None:
    """Take away a part of a folder that is being filled, where it turned out not to be fit for use."""
    shutil.rmtree(folder, ignore_errors=True)


def add_to_folder(folder: str | os.PathLike[str], fill: Fill, force: bool = False) -> list[Path]:
    """Write further files into a folder of ours, beside those that we wrote before; see `write_folder`."""
    target = check_folder(folder, force)
    with _put_together(folder, target) as new:
        fresh = manifest_of(new, tuple(fill(new)))
        target.mkdir(parents=True, exist_ok=True)
        with locked(target):
            finish(target)
            check_owner(folder, target, force)
            before = read_manifest(target) or Manifest()
            whole = replace(fresh, files={**before.files, **fresh.files}, products=before.products + fresh.products)
            write_text(new / MANIFEST, whole.text(), GenerationError)
            _keep_modes(new, target)
            merge(new, target)
    return [target / name for name in fresh.files]


@contextmanager
def _put_together(folder: str | os.PathLike[str], target: Path) -> Iterator[Path]:
    """A folder to fill, which can be renamed to the target or into it."""
    try:
        with temporary_folder(workplace(target)) as new:
            yield new
    except (OSError, TauformError) as error:
        # A file that was refused has a hidden name, of which nobody knows.
        reason = error if isinstance(error, OSError) else error.__cause__
        if not isinstance(reason, OSError):
            raise
        left = os.path.lexists(target / JOURNAL)
        outcome = "it is half-way, and the next run completes it" if left else "nothing was changed"
        raise GenerationError(f"{folder}: cannot be written ({reason.strerror}); {outcome}") from None


def _renamed(new: Path, target: Path) -> bool:
    """Whether the folder was put where there was none."""
    if target.exists():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        new.rename(target)
    except OSError:
        if not target.is_dir():  # nobody was quicker
            raise
        return False
    return True


def _exchanged(new: Path, target: Path) -> bool:
    """Whether the target was replaced as a whole; not where it holds anything of others, or cannot be moved."""
    # The working folder may have been removed under us.
    with suppress(OSError):
        # A folder that somebody stands in would be pulled away from under them.
        if Path.cwd().resolve().is_relative_to(target):
            return False
    if next(foreign_files(target), None) is not None or not exchange(new, target):
        return False
    # What was the target is under our hidden name now: looked through again, since nobody can reach it any more.
    if next(foreign_files(new), None) is None:
        return True
    exchange(new, target)  # somebody wrote there at this very moment
    return False


def _keep_modes(new: Path, target: Path) -> None:
    """Give the new folder, and what is in it, the modes of what it replaces."""
    for path in (new, *new.rglob("*")):
        before = target / path.relative_to(new)
        if not before.is_symlink():
            keep_mode(path, before)


# Two folders exchange their names in one step, so that no moment knows one without the other.


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths; False where the system or the file system cannot, and nothing has changed."""
    call = _system_call()
    return call is not None and call(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _system_call() -> Any:
    # Python has no call for it; both systems' C libraries do.
    library: Any = ctypes.CDLL(None) if os.name == "posix" else None
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: library.renamex_np(one, other, ctypes.c_uint(_EXCHANGE))
    if hasattr(library, "renameat2"):
        here = ctypes.c_int(_AT_CURRENT_FOLDER)
        return lambda one, other: library.renameat2(here, one, here, other, ctypes.c_uint(_EXCHANGE))
    return None
