"""What a verb may write: nothing of others is overwritten without --force, and that is said before any work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def check_outputs(force: bool, folders: Iterable[Path | None] = (), files: Iterable[Path | None] = ()) -> None:
    """Refuse folders that hold files of others, and files that exist, unless they may be overwritten.

    Args:
        folders, files: as the options name them; None is one that was not given.

    Raises:
        GenerationError: the first of them that may not be written.
    """
    from tauform.files.checks import check_file, check_folder

    for folder in folders:
        if folder is not None:
            check_folder(folder, force)
    for file in files:
        if file is not None:
            check_file(file, force)
