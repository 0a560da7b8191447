"""JSON and TOML from anywhere: what is not meant, such as a key that is there twice, is refused and not guessed."""

from __future__ import annotations

import json
import tomllib
from typing import Any, NoReturn

# Digits of an integer; no count and no measured number has more.
MOST_DIGITS = 40


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: not JSON, nested too deeply, a key twice in one object, NaN, or an integer that nobody counts to.
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_constant, parse_int=_integer)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text.

    Raises:
        ValueError: not TOML, nested too deeply, or an integer of thousands of digits; the message names the line.
    """
    try:
        # Editors of Windows mark UTF-8 with a byte order mark, which is no part of the text.
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is there twice")
    return found


def _constant(name: str) -> float:
    # Infinity passes: a gap or a limit may be infinite.
    if name == "NaN":
        _refuse("NaN")
    return float(name)


def _integer(digits: str) -> int:
    return int(digits) if len(digits) <= MOST_DIGITS else _refuse(f"an integer of {len(digits)} digits")


def _refuse(what: str) -> NoReturn:
    raise ValueError(f"holds {what}")


def is_texts(value: Any) -> bool:
    """Whether a value is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_indices(value: Any, count: int) -> bool:
    """Whether a value is a list of different indices below `count`."""
    # type, not isinstance: True would pass for 1.
    whole = isinstance(value, list) and all(type(item) is int and 0 <= item < count for item in value)
    return whole and len(set(value)) == len(value)


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")
