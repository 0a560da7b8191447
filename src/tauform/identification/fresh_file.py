"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from tauform.errors import IdentificationError


@contextmanager
def fresh_file(path: Path) -> Iterator[Path]:
    """A file of its own name beside `path` to write to; it takes the place of `path` once all is written.

    Raises:
        IdentificationError: the disk refuses.
    """
    target = path.resolve()  # a link stays one
    own = target.with_name(f".{uuid4().hex}{path.suffix}")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device takes what it is given
            yield target
        else:
            yield own
            os.replace(own, target)
    except OSError as error:
        raise IdentificationError(f"{path}: cannot be written ({error.strerror})") from None
    finally:
        with suppress(OSError):  # it took its place, or was never there
            own.unlink()
