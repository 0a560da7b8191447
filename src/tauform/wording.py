"""Wording of arguments and functions in sentences: as Python spells them, or as a front end does that says so.

Sentences are made with `argument("snap", 1e-5)` in their midst: `snap=1e-05` for Python, `--snap 1e-05` once the
command line speaks. No sentence is taken apart again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol


class Wording(Protocol):
    """The words of one front end."""

    def argument(self, name: str, value: object) -> str:
        """An argument with a value, or NAMED in its place."""

    def call(self, function: str, given: str, arguments: Mapping[str, object]) -> str:
        """A call of a public function, of which only some arguments matter."""

    def place(self, owner: str, name: str) -> str:
        """Beginning of a sentence about an argument of a function or class."""


class Named:
    """Placeholder for a value: the argument itself is meant."""


NAMED = Named()


class Python:
    """The words of Python."""

    def argument(self, name: str, value: object) -> str:
        """`snap=1e-05`, and `snap=` where no value is meant."""
        return f"{name}=" if value is NAMED else f"{name}={written(value)}"

    def call(self, function: str, given: str, arguments: Mapping[str, object]) -> str:
        """`tf.load(..., tip=...)`, and `tf.load` without any arguments."""
        words = [self.argument(name, value) for name, value in arguments.items()]
        return f"tf.{function}({', '.join([given or '...', *words])})" if given or words else f"tf.{function}"

    def place(self, owner: str, name: str) -> str:
        """`identify: smoother`."""
        return f"{owner}: {name}"


# One front end speaks in a process, and its threads too: not a context variable, which new threads would not see.
_speaking: list[Wording] = [Python()]


@contextmanager
def spoken_by(wording: Wording) -> Iterator[None]:
    """Say everything inside in these words."""
    _speaking.append(wording)
    try:
        yield
    finally:
        # Its own entry, not the last one: threads may end in another order.
        _speaking.remove(wording)


def argument(name: str, value: object = NAMED) -> str:
    """An argument of the public function at hand, with a value that is advised (`...`: any), or by its name alone."""
    # The latest front end speaks.
    return _speaking[-1].argument(name, value)


def call(function: str, given: str = "", **arguments: object) -> str:
    """A call that is advised, positional arguments as text and others by name; without any, the function itself."""
    return _speaking[-1].call(function, given, arguments)


def place(owner: str, name: str) -> str:
    """The beginning of a sentence about an argument of a function or class."""
    return _speaking[-1].place(owner, name)


def written(value: object) -> str:
    """A value as it is typed in Python: numbers short, `...` as dots."""
    if value is ...:
        return "..."
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {written(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return repr(value)
