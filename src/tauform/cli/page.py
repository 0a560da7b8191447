"""What a verb says: a page for people, the same facts as JSON for machines, progress and complaints on stderr."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, eq=False)
class Page:
    """The result of a verb.

    Attributes:
        data: what `--json` prints; arrays and paths are converted, numbers that are not finite become null.
        shown: rich renderables, printed in order without `--json`.
    """

    data: Any
    shown: tuple[RenderableType, ...] = ()


def print_page(page: Page, as_json: bool) -> None:
    """Write a page to standard output, and nothing else there."""
    if as_json:
        print(json.dumps(plain(page.data), indent=2, allow_nan=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for renderable in page.shown:
        console.print(renderable)


def plain(value: Any) -> Any:
    """The value in the types that JSON has: NumPy arrays and numbers unpacked, infinity and NaN as null."""
    if hasattr(value, "tolist"):  # NumPy arrays and scalars, without importing NumPy here
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def note(sentence: str) -> None:
    """One yellow line on stderr, for what does not stop the work."""
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True, highlight=False).print(Text(" ".join(sentence.split()), style="yellow"), soft_wrap=True)


def complain(sentence: str, hint: str | None = None) -> None:
    """One red line on stderr, and a dim one for a hint."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    # Line breaks in a library's message would make two sentences of one.
    console.print(Text(" ".join(sentence.split()), style="red"), soft_wrap=True)
    if hint:
        console.print(Text(hint, style="dim"), soft_wrap=True)


@contextmanager
def progress(description: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """A bar (or, without a total, a spinner) on stderr that vanishes when the work is done.

    Yields a function that advances the bar: `with progress("deriving", total=n) as advance: ... advance(1)`.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    # Where nobody watches, a bar that vanishes would still leave an empty line.
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=total)
        yield partial(bar.advance, task)
