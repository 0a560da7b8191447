"""Operations and methods that expressions of xacro files may use, each refused before its result would be large."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from tauform.description.formats.xacro.budget import MAX_BITS, MAX_WEIGHT, ExpansionRefusedError
from tauform.description.formats.xacro.budget import weight as weight_of

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
# Methods that read their own object and bound what they return.
SEARCHES = ("startswith", "endswith", "find", "rfind", "index", "count", "isdigit", "isalpha", "isalnum", "isnumeric")
SHAPES = ("split", "rsplit", "splitlines", "strip", "lstrip", "rstrip", "upper", "lower", "title", "capitalize")
METHODS: dict[type, tuple[str, ...]] = {
    str: (*SEARCHES, *SHAPES, "partition", "rpartition", "removeprefix", "removesuffix", "replace", "join"),
    dict: ("get", "keys", "values", "items", "copy"),
    list: ("index", "count", "copy"),
    tuple: ("index", "count"),
}
MAX_FORMAT = 1000
# Flags, width and precision of a printf format; a star takes them from the data.
FORMAT = re.compile(r"[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?")


def bounded_method(owner: Any, name: str) -> Callable[..., Any]:
    """A method of METHODS, bound to its object."""
    # These two build texts whose length their arguments alone do not show.
    if name == "replace":
        return lambda old, new, count=-1: _replaced(owner, old, new, count)
    if name == "join":
        return lambda parts: _joined(owner, list(parts))
    # Only names of METHODS arrive here: other attributes lead to classes.
    method = getattr(owner, name)
    # Views of a dictionary are no data of their own.
    return (lambda: list(method())) if name in ("keys", "values", "items") else method


def _replaced(text: str, old: str, new: str, count: int) -> str:
    _check_weight(len(text) + (text.count(old) + 1) * len(new))
    return text.replace(old, new, count)


def _joined(separator: str, parts: list[Any]) -> str:
    _check_weight(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def _check_weight(total: int) -> None:
    if total > MAX_WEIGHT:
        raise ExpansionRefusedError(f"a text of {total} characters cannot be meant")


def check_size(kind: type[ast.operator], left: Any, right: Any) -> None:
    """Refuse an operation whose result would be large before it is computed."""
    # Python's integers have no limit, its floats have one.
    numbers = isinstance(left, int) and isinstance(right, int)
    bits = left.bit_length() if isinstance(left, int) else 0
    if kind is ast.Mult and not numbers:
        for sequence, count in ((left, right), (right, left)):
            # Either side may be the count: 3 * "ab" is "ab" * 3.
            if isinstance(count, int) and not isinstance(sequence, float):
                _check_weight(weight_of(sequence) * max(count, 0))
    elif kind is ast.Pow and numbers and right > 0:
        # Bits of a power: at most those of the base, so many times.
        _check_bits(bits * right)
    elif kind is ast.LShift and numbers:
        _check_bits(bits + right)
    elif kind is ast.Mod and isinstance(left, str):
        _check_format(left)
        _check_weight(len(left) + left.count("%") * (weight_of(right) + 1000))


def _check_format(text: str) -> None:
    """Refuse widths of more than three digits: '%999999999d' % 1 is a gigabyte."""
    for start in [found.end() for found in re.finditer("%", text[:MAX_FORMAT])]:
        if text[start : start + 1] == "(":  # a key, in which brackets may nest
            depth = 0
            for place in range(start, len(text)):
                depth += {"(": 1, ")": -1}.get(text[place], 0)
                if depth == 0:
                    start = place + 1
                    break
        widths = FORMAT.match(text, start)
        if len(text) > MAX_FORMAT or any(part and (part == "*" or len(part) > 3) for part in widths.groups()):  # type: ignore[union-attr]
            raise ExpansionRefusedError(f"the format {text[:60]!r} is wider than any text of a robot")


def _check_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise ExpansionRefusedError(f"a number of {bits} bits cannot be meant; write it as a decimal")
