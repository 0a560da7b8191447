"""What a verb may write: nothing of others is overwritten without --force, and that is said before any work."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from pathlib import Path


def check_outputs(force: bool, folders: Iterable[Path | None] = (), files: Iterable[Path | None] = ()) -> None:
    """Refuse what cannot be written, folders that hold files of others, and files that exist, unless force is set.

    Args:
        folders, files: as the options name them; None is one that was not given.

    Raises:
        GenerationError: the first of them that may not be written, or that would stand in another one.
    """
    from tauform.files.checks import check_file, check_folder

    given = [folder for folder in folders if folder is not None], [file for file in files if file is not None]
    for folder in given[0]:
        check_folder(folder, force)
    for file in given[1]:
        check_file(file, force)
    _check_apart(*given)


def _check_apart(folders: list[Path], files: list[Path]) -> None:
    """Refuse two results in one place: the second would replace the first."""
    from tauform.errors import GenerationError
    from tauform.files.file import is_stream

    places = [(path, path.expanduser().resolve()) for path in (*folders, *files) if not is_stream(path)]
    for (one, first), (other, second) in combinations(places, 2):
        if first == second:
            raise GenerationError(f"{other}: two results cannot have one place; give each its own name")
        for inner, outer, around in ((second, first, one), (first, second, other)):
            if around in folders and inner.is_relative_to(outer):
                raise GenerationError(f"{inner}: stands in {around}, which is written as a whole; choose another place")
