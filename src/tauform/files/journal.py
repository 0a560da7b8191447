"""Files that move into a folder which keeps its place: all of them, if need be at the next run.

What is to be put in place stands complete in a journal inside the folder before the first file moves. A process that is
killed half-way leaves the journal, and whoever asks for the folder next moves the rest.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

from tauform.errors import GenerationError
from tauform.files.file import sync_folder, write_text
from tauform.files.locks import locked
from tauform.files.manifest import JOURNAL, MANIFEST, Manifest, digest, is_inside, read_manifest
from tauform.files.temporaries import announce, sweep

# Digests of what stood in the way when the journal was made.
REPLACED = ".tauform-replaced.json"


def merge(new: Path, target: Path) -> None:
    """Move a folder's files into another one; ours that are no longer in its manifest go.

    Raises:
        GenerationError: a file cannot stand where it should; nothing was changed.
    """
    manifest = read_manifest(new) or Manifest()
    names = [name for name in (*manifest.files, MANIFEST) if (new / name).is_file()]
    # All ways are looked at before anything moves: a refusal half-way would be worse than one at the start.
    for name in names:
        _check_way(target, name)
    replaced = {name: digest(target / name) for name in names if _is_plain(target / name)}
    write_text(new / REPLACED, json.dumps(replaced), GenerationError)
    # From here on a kill leaves a journal: whoever watches over this process must know where.
    announce(target)
    new.rename(target / JOURNAL)
    finish(target)


def recover(folder: Path) -> None:
    """Complete what a killed process was about to write into a folder, and remove what it left there."""
    sweep(folder)
    with suppress(OSError), locked(folder):
        finish(folder)


def finish(target: Path) -> None:
    """Put in place what a journal in the folder holds, if there is one; ask for it under the folder's lock."""
    journal = target / JOURNAL
    if journal.is_symlink() or not journal.is_dir():
        return
    after = read_manifest(journal)  # moved last: without it, all is in place
    if after is not None:
        before = read_manifest(target) or Manifest()
        # Files of the last run that this one no longer writes; edited ones count as somebody's.
        for name in {*before.files, *before.products} - {*after.files, *after.products}:
            if before.owns(target, name):
                _remove(target, name)
        replaced = _read_replaced(journal)
        # The manifest last: as long as it is in the journal, there is work to complete.
        for name in (*after.files, MANIFEST):
            _move(journal, target, name, replaced.get(name))
        sync_folder(target)
    shutil.rmtree(journal)


def _move(journal: Path, target: Path, name: str, replaced: str | None) -> None:
    source, place = journal / name, target / name
    if not _is_plain(source) or not is_inside(target, name):
        return
    # What was changed since the journal was made is somebody's work.
    if place.is_symlink() or not place.exists() or (place.is_file() and digest(place) == replaced):
        place.parent.mkdir(parents=True, exist_ok=True)
        os.replace(source, place)


def _remove(target: Path, name: str) -> None:
    path = target / name
    path.unlink()
    with suppress(OSError):  # folders that are empty now
        while (path := path.parent) != target:
            path.rmdir()


def _check_way(target: Path, name: str) -> None:
    if not is_inside(target, name):
        raise GenerationError(f"{target / name}: a link on the way leads elsewhere; remove it or choose another folder")
    way = [target / parent for parent in Path(name).parents if parent.name]
    blocked = [target / name] if (target / name).is_dir() else [p for p in way if p.exists() and not p.is_dir()]
    if blocked:
        raise GenerationError(f"{blocked[0]}: stands in the way of what is to be written; move it elsewhere")


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _read_replaced(journal: Path) -> dict[str, str]:
    if not _is_plain(journal / REPLACED):
        return {}
    try:
        found = json.loads((journal / REPLACED).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
