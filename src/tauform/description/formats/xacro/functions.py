"""Functions that expressions of xacro files may call: those of xacro and math, and what they take of Python's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tauform.description.formats.xacro.budget import CONTAINERS, MAX_BITS, MAX_WEIGHT, ExpansionRefusedError

# Beyond these the results of n! and its like have more bits than a number may.
MAX_FACTORIAL = 500
MAX_DIGITS = 300


class Functions(dict[str, Any]):
    """A namespace: math.sin, python.len, xacro.load_yaml."""


def _bounded_range(*bounds: int) -> range:
    numbers = range(*bounds)
    if len(numbers) > MAX_WEIGHT:
        raise ExpansionRefusedError(f"a range of {len(numbers)} numbers cannot be meant")
    return numbers


def _round(value: Any, digits: int | None = None) -> Any:
    # Python computes 10**digits.
    if digits is not None and abs(digits) > MAX_DIGITS:
        raise ExpansionRefusedError(f"rounding to {digits} digits cannot be meant")
    return round(value, digits) if digits is not None else round(value)


def _small(function: Callable[..., int]) -> Callable[..., int]:
    def bounded(*numbers: int) -> int:
        if any(abs(number) > MAX_FACTORIAL for number in numbers):
            raise ExpansionRefusedError(f"{function.__name__} of a number beyond {MAX_FACTORIAL} cannot be meant")
        return function(*numbers)

    return bounded


def _product(factors: Iterable[Any], start: Any = 1) -> Any:
    numbers = [*factors, start]
    if not isinstance(start, int | float):
        raise TypeError("prod() starts with a number")
    if sum(number.bit_length() for number in numbers if isinstance(number, int)) > MAX_BITS:
        raise ExpansionRefusedError("a product that large cannot be meant")
    return math.prod(numbers)


def _of_numbers(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Take numbers and lists of them alone: products of texts and numbers repeat the texts."""

    def checked(*arguments: Any, **options: Any) -> Any:
        given = [*arguments, *options.values()]
        entries = [entry for one in given for entry in (one if isinstance(one, (*CONTAINERS, range)) else [one])]
        if not all(isinstance(entry, int | float) for entry in entries):
            raise TypeError(f"{name}() takes numbers")
        return function(*arguments, **options)

    return checked


def _sum(terms: Iterable[Any], start: float = 0) -> Any:
    # Lists would be copied once for each term.
    if not isinstance(start, int | float):
        raise TypeError("sum() adds numbers")
    return sum(terms, start)


def _eager(function: Callable[..., Iterable[Any]]) -> Callable[..., list[Any]]:
    """Return a list, so that nothing is computed after the expression was judged."""
    return lambda *arguments: list(function(*arguments))


PYTHON: dict[str, Any] = {
    **{kind.__name__: kind for kind in (list, dict, str, float, int, bool, tuple, set, frozenset)},
    **{function.__name__: function for function in (len, min, max, sorted, abs, all, any, divmod, isinstance, ord)},
    **{function.__name__: _eager(function) for function in (map, zip, enumerate, filter, reversed)},
    "True": True,
    "False": False,
    "round": _round,
    "range": _bounded_range,
    "sum": _sum,
    "repr": repr,
}
# Only these few are global in xacro; the others are python.abs and so on.
GLOBAL = ("list", "dict", "map", "len", "str", "float", "int", "bool", "True", "False", "min", "max", "round")
MATH: dict[str, Any] = {name: value for name, value in vars(math).items() if not name.startswith("_")}
MATH |= {name: _small(MATH[name]) for name in ("factorial", "comb", "perm")}
MATH |= {"prod": _product, "lcm": lambda *numbers: _product(numbers) and math.lcm(*numbers)}
MATH = {name: _of_numbers(name, value) if callable(value) else value for name, value in MATH.items()}


def symbols(own: Mapping[str, Any]) -> dict[str, Any]:
    """The names that every expression knows.

    Args:
        own: functions of xacro itself, which need the file at hand.
    """
    direct = {name: PYTHON[name] for name in (*GLOBAL, "sorted", "range")}
    old = {name: own[name] for name in ("load_yaml", "abs_filename", "dotify")}
    spaces = {"python": Functions(PYTHON), "math": Functions(MATH), "xacro": Functions(own)}
    return {**MATH, **direct, **old, **spaces}


def callables(names: Mapping[str, Any]) -> dict[int, Any]:
    """Functions that may be called, by identity."""
    found: dict[int, Any] = {}
    for value in names.values():
        if isinstance(value, Functions):
            found |= callables(value)
        elif callable(value):
            found[id(value)] = value
    return found
