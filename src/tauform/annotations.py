"""Test of a value by its annotation, and the annotation's name in a sentence."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

WORDS = {float: "a number", int: "a whole number", bool: "True or False", str: "a text", NoneType: "None"}


def fits(value: Any, annotation: Any) -> bool:
    """Whether a value is of a type, with the usual leniency: any integer is a number, any path-like a path."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return any(fits(value, member) for member in inner)
    if origin is Literal:
        # Other names of a Literal are refused later, with the choices in the message.
        return value in inner if value is None else isinstance(value, type(inner[0]))
    if origin is Annotated:
        return fits(value, inner[0])
    if origin is not None:
        return _generic_fits(value, origin, inner)
    if annotation is Any or not isinstance(annotation, type) or _is_array(annotation):
        return True  # Any, and arrays: `arrays.py` checks them
    if annotation is float:
        # 0-d arrays are numbers to their users.
        return isinstance(value, Real) or (getattr(value, "ndim", None) == 0 and hasattr(value, "__float__"))
    if annotation is int or annotation is bool:
        # NumPy's bool is no Integral; told by name, so that NumPy need not be imported.
        return isinstance(value, Integral) or type(value).__name__ in ("bool_", "bool")
    if issubclass(annotation, os.PathLike):
        return isinstance(value, str | os.PathLike)
    return isinstance(value, annotation)


def _generic_fits(value: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    if not isinstance(origin, type) or _is_array(origin):
        return True
    if origin.__name__ == "Callable":
        return callable(value)
    if issubclass(origin, os.PathLike):
        return isinstance(value, str | os.PathLike)
    if issubclass(origin, Mapping):
        # Keys are names, and checked where they are used.
        return isinstance(value, Mapping) and all(fits(item, inner[1]) for item in value.values())
    if issubclass(origin, Iterable):
        # A text would be taken apart into letters.
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        # Rows of a table are named by the function that reads them.
        alike = (len(inner) == 1 or Ellipsis in inner) and get_origin(inner[0]) in (None, Union, UnionType, Literal)
        # Of an array the first item tells, for all are of one type; an iterator would be used up.
        items = islice(value, 1) if getattr(value, "ndim", 0) else value if isinstance(value, list | tuple) else ()
        return all(fits(item, inner[0]) for item in items) if alike else True
    return isinstance(value, origin)


def _is_array(kind: type) -> bool:
    """Whether a type is NumPy's array or one of the protocols that ArrayLike is made of."""
    return kind.__name__ == "ndarray" or getattr(kind, "_is_protocol", False)


def members(annotation: Any) -> Iterator[Any]:
    """The types that a union offers, and the annotation itself where it is none."""
    if get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from members(member)
    else:
        yield annotation


def named(annotation: Any) -> str:
    """Values that an annotation takes, in words: `a number or None`."""
    return joined(map(_one_named, members(annotation)))


def joined(nouns: Iterable[str]) -> str:
    """`a, b or c`, each once."""
    names = list(dict.fromkeys(nouns))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _one_named(annotation: Any) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    kind = annotation if origin is None else origin
    if annotation in WORDS:
        return WORDS[annotation]
    if origin is Annotated:
        return f"{_one_named(inner[0])} {inner[1]}"
    if origin is Literal:
        return "one of " + ", ".join(map(repr, inner))
    if not isinstance(kind, type) or _is_array(kind):
        return "an array of numbers"
    if kind.__name__ == "Callable":
        return "a function"
    if issubclass(kind, os.PathLike):
        return "a path"
    if issubclass(kind, Mapping):
        return "a dict" if inner[1] is Any else f"a dict, each value {named(inner[1])}"
    if issubclass(kind, Iterable) and origin is not None:
        return f"a list, each item {named(inner[0])}"
    return _with_article(kind.__name__)


def shown(value: Any) -> str:
    """A value, or what it is where it has no short form."""
    if value is None or isinstance(value, str | Real | os.PathLike):
        return f"{value!r:.60}"
    if isinstance(value, list | tuple | Mapping) and value:
        items = list(value.values()) if isinstance(value, Mapping) else value
        return f"{_with_article(type(value).__name__)} that holds {shown(items[0])}"
    return _with_article(type(value).__name__)


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"
