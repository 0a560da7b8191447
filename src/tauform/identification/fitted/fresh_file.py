"""Files of recordings, motions and fits: there as a whole or not at all."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from tauform import files
from tauform.errors import IdentificationError


def fresh_file(path: Path) -> AbstractContextManager[Path]:
    """A file beside `path` to write to; see `tauform.files.fresh_file`.

    Raises:
        IdentificationError: the disk refuses.
    """
    return files.fresh_file(path, IdentificationError)
