"""Programs on disk: what a search found for a robot is not searched for again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tauform.codegen.program.document import decoded, encoded
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.cache import cached
from tauform.codegen.runtime.content import content, package

# Tests that change how programs are made turn it off.
ENABLED = True


def kept_program(depends_on: tuple[Any, ...], make: Callable[[], Program]) -> Program:
    """The program of this robot and these options: read if it is on disk and intact, else made and kept."""
    if not ENABLED:
        return make()
    made: list[Program] = []

    def build() -> bytes:
        made.append(make())
        return encoded(made[0])

    try:
        key = f"{package()} {content(depends_on)}"
    except (TypeError, OSError):  # a part of the robot without a digest, or a package without files
        return make()
    data = cached(key, build, "program")
    return made[0] if made else _read(data, make)


def _read(data: bytes, make: Callable[[], Program]) -> Program:
    try:
        return decoded(data)
    except ValueError:
        return make()
