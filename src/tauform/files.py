"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from tauform.errors import TauformError


@contextmanager
def fresh_file(path: Path, refusal: type[TauformError]) -> Iterator[Path]:
    """A file of its own name beside `path` to write to; it takes the place of `path` once all is written.

    Args:
        refusal: what to raise where the disk refuses.
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
        raise refusal(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    finally:
        with suppress(OSError):  # it took its place, or was never there
            own.unlink()
