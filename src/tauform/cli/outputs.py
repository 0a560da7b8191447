"""Outputs of a verb: conflicts are found before any work, and what can be written is written whatever else fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TypeVar

from tauform.errors import GenerationError, TauformError

Result = TypeVar("Result")


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
    # After each by itself: the nearer reason is told first.
    _check_apart(*given)


def _check_apart(folders: list[Path], files: list[Path]) -> None:
    """Refuse two results in one place: the second would replace the first."""
    from tauform.files.file import is_stream

    # Without links: two names may be one place.
    places = [(path, path.expanduser().resolve()) for path in (*folders, *files) if not is_stream(path)]
    for (one, first), (other, second) in combinations(places, 2):
        if first == second:
            raise GenerationError(f"{other}: two results cannot have one place; give each its own name")
        # A folder is replaced as a whole: a file inside would go with it.
        # Both ways round: the file may be named before the folder that would hold it.
        for inner, outer, around in ((second, first, one), (first, second, other)):
            if around in folders and inner.is_relative_to(outer):
                raise GenerationError(f"{inner}: stands in {around}, which is written as a whole; choose another place")


@dataclass
class Writing:
    """Results as they are written: one that fails does not take the others with it.

    Attributes:
        written: files.
        failures: sentences.
    """

    written: list[Path] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def attempt(self, result: Callable[[], Result]) -> Result | None:
        """A result; None, and its reason noted, where it fails."""
        try:
            return result()
        except TauformError as error:
            self.failures.append(str(error))
        # A full disk or a missing right is no error of the package, but ends one result only.
        except OSError as error:
            self.failures.append(f"{error.filename}: {error.strerror}" if error.filename is not None else str(error))
        return None

    def keep(self, place: Path | None, write: Callable[[Path], Path | Sequence[Path]]) -> None:
        """Write to a place, if one was given, and note what was written."""
        found = None if place is None else self.attempt(lambda: write(place))
        # Writers of folders return several paths, writers of files one.
        self.written += [] if found is None else [found] if isinstance(found, Path) else list(found)

    @property
    def failure(self) -> str | None:
        """Failures, and the place of what was written; None where nothing did."""
        if not self.failures:
            return None
        # Each place once, in the order written.
        tops = list(dict.fromkeys(str(path) for path in self.written))
        rest = f"written all the same: {', '.join(tops)}" if tops else "nothing was written"
        return f"{'; '.join(self.failures)}; {rest}"
