"""Words about names, numbers and progress: names that do not exist, how many there are of something, stages."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable

from tauform.errors import UnknownNameError

# Called with a few words when a stage of long work begins.
Progress = Callable[[str], None]
# Called with the share of a stage that is done, from 0 to 1.
Reached = Callable[[float], None]
# More would bury the sentence.
MOST_LISTED = 12


def no_such(what: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """The error for a name that does not exist, with the nearest of the names that do."""
    # Each once: a name may be known in several ways.
    names = list(dict.fromkeys(known))
    near = difflib.get_close_matches(str(name), names, n=3, cutoff=0.6)
    listed = ", ".join(names[:MOST_LISTED]) + (f" and {len(names) - MOST_LISTED} more" * (len(names) > MOST_LISTED))
    remedy = f"did you mean {' or '.join(map(repr, near))}?" if near else f"known: {listed}"
    return UnknownNameError(f"{what} {name!r} does not exist", value=name, remedy=remedy)


def counted(number: int, noun: str) -> str:
    """`1 joint`, `2 joints`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def percent(share: float) -> str:
    """`0.034 %`, `12 %`, `100 %`: two digits, and never an exponent."""
    value = 100 * share
    return f"{value:.0f} %" if abs(value) >= 10 else f"{value:.2g} %" if abs(value) >= 1e-3 or value == 0 else "0 %"


def with_interval(value: float, half: float) -> str:
    """`8.02 +- 0.13`: the half width of an interval to two digits, the value as far; `about 8` without one."""
    if not math.isfinite(half):
        return f"about {value:.2g}"
    decimals = 0 if half <= 0 else max(0, 1 - math.floor(math.log10(half)))
    return f"{value:.{decimals}f} +- {half:.{decimals}f}"
