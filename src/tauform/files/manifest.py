"""The list of what we wrote into a folder, with digests, so that the next run knows it from what others wrote."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import filterfalse
from pathlib import Path, PurePosixPath
from typing import Any

from tauform.files.temporaries import NAME

MANIFEST = ".tauform.json"
# Folder inside another one that holds what is on its way there.
JOURNAL = ".tauform-journal"
# First bytes of programs and libraries of Linux, macOS (one processor, several) and Windows.
BINARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ", b"!<arch>\n")
# Bytes of the largest list that is read; ours have some hundred entries.
MAX_MANIFEST_BYTES = 10_000_000


@dataclass(frozen=True)
class Manifest:
    """Manifest of a folder that we wrote.

    Attributes:
        files: relative path -> SHA-256 of what we wrote there.
        products: relative paths that a build of ours makes.
    """

    files: Mapping[str, str] = field(default_factory=dict)
    products: tuple[str, ...] = ()

    def owns(self, folder: Path, name: str) -> bool:
        """Whether this file of the folder is ours: as we wrote it, or made by a build of ours."""
        path = folder / name
        if path.is_symlink() or not path.is_file():
            return False
        # Compared by content: a file that was edited since belongs to who edited it.
        if name in self.files:
            return self.files[name] == digest(path)
        return name in self.products and _is_built(path)

    def text(self) -> str:
        """Text as it stands in the folder."""
        return json.dumps({"files": dict(self.files), "products": list(self.products)}, indent=2) + "\n"


def read_manifest(folder: Path) -> Manifest | None:
    """The folder's list; None where there is none that makes sense. Names that lead out of the folder are left out."""
    path = folder / MANIFEST
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_MANIFEST_BYTES:
            return None
        found = json.loads(path.read_bytes())
        files = {name: str(found["files"][name]) for name in found["files"] if is_inside(folder, name)}
        return Manifest(files, tuple(name for name in found["products"] if is_inside(folder, name)))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def manifest_of(folder: Path, products: tuple[str, ...] = ()) -> Manifest:
    """A list of all files that a folder of ours holds now."""
    paths = sorted(path for path in folder.rglob("*") if not path.is_dir())
    return Manifest({path.relative_to(folder).as_posix(): digest(path) for path in paths}, products)


def is_inside(folder: Path, name: Any) -> bool:
    """Whether a relative path stays inside a folder, also where links stand on its way."""
    if not isinstance(name, str) or "\0" in name or not name:
        return False
    # A forged list may name files anywhere: only what stays below the folder counts.
    parts = PurePosixPath(name).parts
    if PurePosixPath(name).is_absolute() or ".." in parts or Path(name).is_absolute():
        return False
    place = folder
    for part in parts[:-1]:
        place /= part
        if place.is_symlink():
            return False
    return True


def foreign_files(folder: Path) -> Iterator[str]:
    """Paths in the folder that are not ours: others wrote them, or changed them since we did."""
    known = read_manifest(folder)
    for root, folders, files in os.walk(folder):
        place = Path(root)
        # In place: `os.walk` then leaves out our own temporaries.
        folders[:] = sorted(name for name in folders if name != JOURNAL and not NAME.fullmatch(name))
        links = [name for name in folders if (place / name).is_symlink()]
        for name in sorted([*filterfalse(NAME.fullmatch, files), *links]):
            path = (place / name).relative_to(folder).as_posix()
            if known is None or not (path == MANIFEST or known.owns(folder, path)):
                yield path
        if place != folder and not folders and not files:
            yield place.relative_to(folder).as_posix()


def _is_built(path: Path) -> bool:
    """Whether a compiler made a file: nobody knows its digest, and a forged list may name what a user wrote."""
    with path.open("rb") as file:
        return file.read(8).startswith(BINARIES)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
