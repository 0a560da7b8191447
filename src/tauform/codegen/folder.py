"""Folders that we write: whole or not at all, and never over files of somebody else."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from tauform.errors import GenerationError

# Names the files that we wrote, so that we recognise them the next time.
MANIFEST = ".tauform.json"

# Writes files into the folder it is given; returns paths in it that a build makes later.
Fill = Callable[[Path], Sequence[str]]


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
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            products = list(fill(fresh))
            files = sorted(path.relative_to(fresh).as_posix() for path in fresh.rglob("*") if not path.is_dir())
            manifest = {"files": files, "products": products}
            (fresh / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", newline="\n")
            fresh.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o777 & ~_umask())
            # A folder that somebody stands in would be pulled away from under them.
            occupied = Path.cwd().resolve().is_relative_to(target)
            if not occupied and next(_foreign_files(target), None) is None:
                _swap(fresh, target)
            else:
                _merge(fresh, target, [*files, MANIFEST])
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    except OSError as error:
        raise GenerationError(f"{folder}: cannot be written ({error.strerror}); nothing was changed") from None
    return [target / file for file in files]


def check_folder(folder: str | os.PathLike[str], force: bool = False) -> Path:
    """The folder's absolute path, if `write_folder` may write there; ask before long work.

    Raises:
        GenerationError: it is a file, cannot be written, or holds files that we did not write and force is not set.
    """
    target = Path(folder).expanduser().resolve()
    if target.exists() and not target.is_dir():
        raise GenerationError(f"{folder}: is a file; give a folder")
    nearest = next(place for place in (target, *target.parents) if place.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        reason = "Permission denied" if nearest.is_dir() else f"{nearest.name} is a file"
        raise GenerationError(f"{folder}: cannot be written ({reason}); nothing was changed")
    others = [] if force else list(islice(_foreign_files(target), 3))
    if others:
        raise GenerationError(
            f"{folder}: holds files that tauform did not write ({', '.join(others)}); "
            "choose another folder, or allow it with force=True"
        )
    return target


def check_file(file: str | os.PathLike[str], force: bool = False) -> None:
    """Refuse to write over a file, unless force is set; ask before long work.

    Raises:
        GenerationError: it exists, or is a folder.
    """
    path = Path(file).expanduser()
    if path.is_dir():
        raise GenerationError(f"{file}: is a folder; give a file")
    if path.is_file() and not force:  # pipes and devices are there to be written to
        raise GenerationError(f"{file}: exists; choose another name, or allow it with force=True")


def record_files(folder: str | os.PathLike[str], files: Sequence[Path]) -> None:
    """Note that these files of a folder are ours, where they were written one after the other."""
    target = Path(folder).expanduser().resolve()
    known = _known_files(target) - {MANIFEST}
    ours = sorted({*known, *(path.resolve().relative_to(target).as_posix() for path in files)})
    (target / MANIFEST).write_text(json.dumps({"files": ours, "products": []}, indent=2) + "\n", newline="\n")


def _foreign_files(target: Path) -> Iterator[str]:
    """Paths in the folder that neither we wrote nor a build of ours makes."""
    known = _known_files(target)
    for root, folders, files in os.walk(target):
        place = Path(root)
        folders.sort()
        links = [name for name in folders if (place / name).is_symlink()]
        for name in sorted([*files, *links]):
            path = (place / name).relative_to(target).as_posix()
            if path not in known:
                yield path
        if place != target and not folders and not files:
            yield place.relative_to(target).as_posix()


def _known_files(target: Path) -> set[str]:
    try:
        ours = json.loads((target / MANIFEST).read_text())
        return {MANIFEST, *ours["files"], *ours["products"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _merge(fresh: Path, target: Path, files: Sequence[str]) -> None:
    """Move our files into a folder that holds others; those that we wrote before and no longer write go."""
    for file in _known_files(target) - set(files):
        (target / file).unlink(missing_ok=True)
    for file in files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        (fresh / file).replace(target / file)


def _swap(fresh: Path, target: Path) -> None:
    """Put the fresh folder in the target's place."""
    if not target.exists():
        fresh.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    target.rename(old / "old")
    try:
        fresh.rename(target)
    except OSError:
        (old / "old").rename(target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
