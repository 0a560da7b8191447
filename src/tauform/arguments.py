"""Types of arguments, checked at the door of every public function: what its annotations say is what it takes.

A value of another type, or a name that is none of those to choose from, ends in one sentence that names the argument
and what to write instead, before any work is done. Shapes are left to the functions: they know more about them than an
annotation says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache, wraps
from inspect import CO_VARKEYWORDS, unwrap
from numbers import Integral, Real
from types import FunctionType, NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from tauform.errors import ArgumentError, UnknownNameError

# Whole numbers from 0 on, as generators of random numbers take them.
Natural = Annotated[int, "from 0 on"]

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = TypeVar("Kind")

# Expected type -> how to make one. {} stands for the value where that is a name or a path.
REMEDIES = {
    "Robot": "load it with tf.load({})",
    "Recording": "read it with tf.read_recording({}, robot)",
    "Program": "make one with tf.generate(robot, 'inverse_dynamics')",
    "Fit": "make one with tf.identify(robot, recording), or read it with tf.load_fit({})",
    "BoundModel": "make one with tf.derive(robot).bind(robot)",
    "BaseParameters": "make one with tf.base_parameters(robot)",
    "Profile": "make one, for example with tf.Profile.within(robot)",
    "Trajectory": "make one with tf.excite(robot)",
    "Inertia": "make one with tf.Inertia.of(mass, com=[x, y, z])",
    "Generator": "make one with numpy.random.default_rng(0)",
}
EXAMPLES = {"Robot": "'kr6_r700'", "Recording": "'log.csv'", "Fit": "'fit.npz'"}
WORDS = {float: "a number", int: "a whole number", bool: "True or False", str: "a text", NoneType: "None"}


def checked(function: Function) -> Function:
    """The function with its arguments checked against its annotations at every call.

    Raises:
        ArgumentError: at the call, for the first argument of another type.
    """
    title = function.__qualname__  # Profile.slow, or the bare name of a function

    @wraps(function)
    def door(*arguments: Any, **options: Any) -> Any:
        expected = hints_of(function)
        for (name, annotation), value in zip(expected.items(), arguments, strict=False):
            if annotation is not Any and type(value) is not annotation:  # the common cases, without a further look
                check(value, annotation, f"{title}: {name}")
        for name, value in options.items():
            if name not in expected and not function.__code__.co_flags & CO_VARKEYWORDS:
                raise ArgumentError(f"{title}: {_no_argument(name, expected)}")
            check(value, expected.get(name, Any), f"{title}: {name}")
        return function(*arguments, **options)

    return door  # type: ignore[return-value]


def check_arguments(function: Callable[..., Any], **options: Any) -> None:
    """Check some arguments of a public function without calling it: what it would refuse is refused before long work.

    Raises:
        ArgumentError: for the first value that its annotation does not allow.
    """
    expected = hints_of(unwrap(function))
    for name, value in options.items():
        check(value, expected.get(name, Any), f"{function.__name__}: {name}")


def _no_argument(name: str, known: Iterable[str]) -> str:
    names = [other for other in known if other not in ("self", "cls")]
    near = get_close_matches(name, names, n=1)
    return f"no argument {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(names)}")


def checked_methods(kind: type[Kind]) -> type[Kind]:
    """Class decorator: every public method checks its arguments, as public functions do."""
    for name, value in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if isinstance(value, FunctionType):
            setattr(kind, name, checked(value))
        elif isinstance(value, classmethod):
            setattr(kind, name, classmethod(checked(value.__func__)))
    return kind


class _PublicNames(dict[str, Any]):
    """Names that a module imports for the type checker only: those of the package itself."""

    def __missing__(self, name: str) -> Any:
        package = sys.modules["tauform"]
        if name not in package.__all__:
            raise KeyError(name)
        return getattr(package, name)


@cache
def hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of the parameters in order; evaluated at the first call, as importing must be quick."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    # Not typing.get_type_hints: what a function returns may be known to the type checker only.
    return {name: _evaluated(function.__annotations__.get(name, Any), function.__globals__) for name in names}


def _evaluated(annotation: Any, module: dict[str, Any]) -> Any:
    try:
        return eval(annotation, module, _PublicNames()) if isinstance(annotation, str) else annotation
    except NameError:  # a type of ours that only the type checker sees
        return Any


def check_fields(instance: Any) -> None:
    """Check the fields of a dataclass that users build themselves against their annotations.

    Raises:
        ArgumentError: for the first field of another type.
    """
    kind: Any = type(instance)
    for name, annotation in _fields_of(kind).items():
        check(getattr(instance, name), annotation, f"{kind.__name__}: {name}")


@cache
def _fields_of(kind: Any) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(kind).items() if name in kind.__dataclass_fields__}


def check(value: Any, annotation: Any, place: str) -> None:
    """Check a value against an annotation.

    Raises:
        ArgumentError: it is of another type; the message says what to write instead.
        UnknownNameError: it is none of the names to choose from.
    """
    if not fits(value, annotation):
        raise ArgumentError(f"{place} must be {_named(annotation)}, not {_shown(value)}{_remedy(value, annotation)}")
    if isinstance(value, str):
        _check_choice(value, annotation, place)
    if annotation == Natural and value < 0:
        raise ArgumentError(f"{place} must be {_named(annotation)}, not {value}")


def _check_choice(value: str, annotation: Any, place: str) -> None:
    members = list(_members(annotation))
    choices = [choice for member in members if get_origin(member) is Literal for choice in get_args(member)]
    others = [member for member in members if get_origin(member) is not Literal]
    if choices and value not in choices and not any(fits(value, member) for member in others):
        if any(value in get_args(item) for member in others for item in get_args(member)):
            raise ArgumentError(f"{place} must be {_named(annotation)}; put it into a list: [{value!r}]")
        instead = f", or give {_joined(map(_one_named, others))}" if others else ""
        raise UnknownNameError(f"{place}: no {value!r:.60}; choose from {', '.join(map(repr, choices))}{instead}")


def fits(value: Any, annotation: Any) -> bool:
    """Whether a value is of a type, with the usual leniency: any integer is a number, any path-like a path."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return any(fits(value, member) for member in inner)
    if origin is Literal:
        return value in inner if value is None else isinstance(value, type(inner[0]))
    if origin is Annotated:
        return fits(value, inner[0])
    if origin is not None:
        return _generic_fits(value, origin, inner)
    if annotation is Any or not isinstance(annotation, type) or _is_array(annotation):
        return True  # Any, and arrays: their own door sees to them
    if annotation is float:
        return isinstance(value, Real) or (getattr(value, "ndim", None) == 0 and hasattr(value, "__float__"))
    if annotation is int or annotation is bool:
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
        return isinstance(value, Mapping) and all(fits(item, inner[1]) for item in value.values())
    if issubclass(origin, Iterable):
        # A text would be taken apart into letters.
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        # Rows of a table are named by the function that reads them.
        alike = (len(inner) == 1 or Ellipsis in inner) and get_origin(inner[0]) in (None, Union, UnionType, Literal)
        return all(fits(item, inner[0]) for item in value) if alike and isinstance(value, list | tuple) else True
    return isinstance(value, origin)


def _is_array(kind: type) -> bool:
    """Whether a type is NumPy's array or one of the protocols that ArrayLike is made of."""
    return kind.__name__ == "ndarray" or getattr(kind, "_is_protocol", False)


def _members(annotation: Any) -> Iterator[Any]:
    """The types that a union offers, and the annotation itself where it is none."""
    if get_origin(annotation) in (Union, UnionType):
        for member in get_args(annotation):
            yield from _members(member)
    else:
        yield annotation


def _named(annotation: Any) -> str:
    return _joined(_one_named(member) for member in _members(annotation))


def _joined(nouns: Iterable[str]) -> str:
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
        return "a dict" if inner[1] is Any else f"a dict, each value {_named(inner[1])}"
    if issubclass(kind, Iterable) and origin is not None:
        return f"a list, each item {_named(inner[0])}"
    return _with_article(kind.__name__)


def _shown(value: Any) -> str:
    if value is None or isinstance(value, str | Real | os.PathLike):
        return f"{value!r:.60}"
    if isinstance(value, list | tuple | Mapping) and value:
        items = list(value.values()) if isinstance(value, Mapping) else value
        return f"{_with_article(type(value).__name__)} that holds {_shown(items[0])}"
    return _with_article(type(value).__name__)


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"


def _remedy(value: Any, annotation: Any) -> str:
    names = [getattr(m, "__name__", "") for member in _members(annotation) for m in (member, *get_args(member))]
    for name in names:
        if name in REMEDIES:
            given = f"{os.fspath(value)!r}" if isinstance(value, str | os.PathLike) else EXAMPLES.get(name, "")
            return "; " + REMEDIES[name].format(given)
    if isinstance(value, str) and any(get_origin(member) and fits([value], member) for member in _members(annotation)):
        return f"; put it into a list: [{value!r}]"
    return ""
