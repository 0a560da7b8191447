"""Answer of a verb: a page for people, the same facts as JSON for machines, notes and complaints on stderr."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from textwrap import TextWrapper
from typing import TYPE_CHECKING, Any

from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

# What rich raises where standard error is closed at its other end: the exit code says it all.
NOBODY_LISTENS = (OSError, SystemExit)


@dataclass(frozen=True, eq=False)
class Page:
    """The result of a verb.

    Attributes:
        data: what `--json` prints; arrays and paths are converted, numbers that are not finite become null.
        shown: rich renderables, printed in order without `--json`.
        doubt: why the result must not be relied on; said on standard error, with exit code 1.
        failure: what could not be done, and where the rest is; said on standard error, with exit code 2.
    """

    data: Any
    shown: tuple[RenderableType, ...] = ()
    doubt: str | None = None
    failure: str | None = None


def print_page(page: Page, as_json: bool) -> None:
    """Write a page to standard output, and nothing else there."""
    if as_json:
        # allow_nan=False guards plain(): NaN is no JSON, and parsers stop at it.
        print(json.dumps(plain(page.data), indent=2, allow_nan=False))
        return
    from rich.console import Console

    # Without highlighting: numbers and paths in colours of their own distract from the table.
    console = Console(highlight=False)
    for renderable in page.shown:
        # Neither cut nor folded by rich: _readable has broken the lines where they may break.
        console.print(_readable(renderable, console.width), overflow="ignore", crop=False)


def _readable(renderable: RenderableType, width: int) -> RenderableType:
    """Render with lines that break between words only, so that paths can be copied."""
    from rich.text import Text

    # Tables know their own width.
    if not isinstance(renderable, str | Text):
        return renderable
    text = Text(renderable) if isinstance(renderable, str) else renderable
    # Names from files may hold control codes, which a terminal would obey.
    lines = [wrapped(visible(line), width) for line in text.plain.split("\n")]
    return Text("\n".join(lines), style=text.style)


def wrapped(line: str, width: int) -> str:
    """A line broken between words where it is wider, further lines as far in as the first."""
    indent = " " * (len(line) - len(line.lstrip()))
    # Paths and flags keep their hyphens together, so that they can be copied.
    whole = TextWrapper(width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return whole.fill(line) if len(line) > width else line


def plain(value: Any) -> Any:
    """The value in the types that JSON has: NumPy arrays and numbers unpacked, infinity and NaN as null."""
    if hasattr(value, "tolist"):  # NumPy arrays and scalars, without importing NumPy here
        # Now plain Python: falls through to the cases below.
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    # What is left (paths, fractions) is written as its text.
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def note(sentence: str) -> None:
    """One yellow line on stderr, for what does not stop the work."""
    from rich.console import Console
    from rich.text import Text

    with suppress(*NOBODY_LISTENS):
        # soft_wrap: one sentence is one line, whatever the terminal's width.
        Console(stderr=True, highlight=False).print(Text(_one_line(sentence), style="yellow"), soft_wrap=True)


def complain(sentence: str, hint: str | None = None) -> None:
    """One red line on stderr, and a dim one for a hint."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    with suppress(*NOBODY_LISTENS):
        console.print(Text(_one_line(sentence), style="red"), soft_wrap=True)
        if hint:
            console.print(Text(_one_line(hint), style="dim"), soft_wrap=True)


def _one_line(sentence: str) -> str:
    """Line breaks in a library's message would make two sentences of one; control codes would reach the terminal."""
    return visible(" ".join(sentence.split()))
