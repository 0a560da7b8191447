"""Budget of the expansion of a xacro file: bounds on numbers, texts, lists and the work in total."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

from tauform.errors import DescriptionError
from tauform.wording import argument

# Bits of a whole number; characters and entries of a value, counted through what it holds.
MAX_BITS = 4096
MAX_WEIGHT = 200_000
# Steps of one expansion, each about a microsecond. A robot of a thousand links takes a fifth of it.
MAX_WORK = 3_000_000
NUMBERS = (bool, int, float, type(None), date)
CONTAINERS = (list, tuple, dict, set, frozenset)
HASHED = (dict, set, frozenset)


class ExpansionRefusedError(DescriptionError):
    """A file asks for more than the description of a robot needs; the message says what."""


class Budget:
    """Work that is left; every step of an expansion spends some."""

    def __init__(self, *, unlimited: bool = False) -> None:
        self.left = math.inf if unlimited else float(MAX_WORK)

    def spend(self, work: int) -> None:
        """Take some of it.

        Raises:
            ExpansionRefusedError: none is left.
        """
        self.left -= work
        if self.left < 0:
            raise ExpansionRefusedError(
                "its macros, includes or expressions multiply beyond any robot",
                remedy=f"load it with {argument('allow_code', True)} if it is meant to be that large",
            )


def hashing(entries: int) -> int:
    """Work to put so many entries into a set or a dictionary: a file may choose them so that all have one hash."""
    return entries * entries // 100


def weight(value: Any) -> int:
    """Characters and entries of a value, repeated where it holds the same list twice, as they would be printed.

    Raises:
        ExpansionRefusedError: there are more than MAX_WEIGHT, or a number of more than MAX_BITS.
    """
    total, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str | bytes | range):
            total += len(item)
        elif isinstance(item, CONTAINERS):
            # The list of those that wait grows no faster than the count of them.
            total += len(item)
            if total <= MAX_WEIGHT:
                waiting.extend(item)
                waiting.extend(item.values() if isinstance(item, dict) else ())
        elif isinstance(item, int) and item.bit_length() > MAX_BITS:
            raise ExpansionRefusedError(f"a number of {item.bit_length()} bits cannot be meant")
        total += 1
        if total > MAX_WEIGHT:
            raise ExpansionRefusedError(f"a value of more than {MAX_WEIGHT} characters or entries cannot be meant")
    return total
