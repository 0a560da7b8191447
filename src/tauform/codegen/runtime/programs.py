"""Programs on disk: what a search found for a robot is not searched for again.

A program that is read is checked as one that is made: its parts, and its results against the textbook function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauform.codegen.program.document import decoded, encoded
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.cache import cached, is_cached
from tauform.codegen.runtime.content import content, package
from tauform.errors import TauformError

# Tests that change how programs are made turn it off.
ENABLED = True


def kept_program(
    depends_on: tuple[Any, ...], make: Callable[[], Program], check: Callable[[Program], object] | None = None
) -> Program:
    """The program of this robot and these options: read if it is on disk and intact, else made and kept.

    Args:
        check: compares a program that was read with what it should compute, as one that is made has been; it raises
            TauformError where they differ.
    """
    if not ENABLED:
        return make()
    # The program itself is kept beside its bytes: what was made need not be decoded.
    held: list[Program] = []

    def build() -> bytes:
        held[:] = [make()]
        return encoded(held[0])

    def usable(data: bytes) -> bool:
        held[:] = _read(data, check)
        return bool(held)

    key = _key(depends_on)
    if key is None:
        return make()
    cached(key, build, "program", usable)
    return held[0]


def is_kept(depends_on: tuple[Any, ...]) -> bool:
    """Whether a program of this robot and these options is on disk."""
    key = _key(depends_on)
    return ENABLED and key is not None and is_cached(key, "program")


def _key(depends_on: tuple[Any, ...]) -> str | None:
    try:
        # The package's own text is part of the key: another version searches anew.
        return f"{package()} {content(depends_on)}"
    except (TypeError, OSError):  # a part of the robot without a digest, or a package without files
        return None


def _read(data: bytes, check: Callable[[Program], object] | None) -> list[Program]:
    """The program of an entry, or none."""
    try:
        program = decoded(data)
        if check is not None:
            # A wrong program may divide by zero; the check says so in words of its own.
            with np.errstate(all="ignore"):
                check(program)
    except (ValueError, TauformError):
        return []
    return [program]
