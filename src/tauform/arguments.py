"""Types of arguments, checked at each call of a public function: what its annotations say is what it takes.

A value of another type, or a name that is none of those to choose from, ends in one sentence that names the argument
and what to write instead, before any work is done. Shapes are left to the functions: they know more about them than an
annotation says.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import cache, wraps
from inspect import CO_VARKEYWORDS, unwrap
from types import FunctionType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from tauform.annotations import fits, joined, members, named, shown
from tauform.errors import ArgumentError, UnknownNameError
from tauform.wording import place

# Whole numbers from 0 on, as generators of random numbers take them.
Natural = Annotated[int, "from 0 on"]
# Which of three ways computes a function; `fast/tier.py` says which they are.
Tier = Literal[1, 2, 3]

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
AnyClass = TypeVar("AnyClass")

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


def checked(function: AnyFunction) -> AnyFunction:
    """The function with its arguments checked against its annotations at every call.

    Raises:
        ArgumentError: at the call, for the first argument of another type.
    """
    title = function.__qualname__  # Profile.slow, or the bare name of a function

    @wraps(function)
    def validated(*arguments: Any, **options: Any) -> Any:
        expected = hints_of(function)
        # Positional arguments may be fewer than the names.
        for (name, annotation), value in zip(expected.items(), arguments, strict=False):
            if annotation is not Any and type(value) is not annotation:  # the common cases, without a further look
                check(value, annotation, title, name)
        for name, value in options.items():
            # **options of a function take any name.
            if name not in expected and not function.__code__.co_flags & CO_VARKEYWORDS:
                remedy = _instead(name, expected)
                raise ArgumentError(f"{title}: no argument {name!r}", argument=name, value=value, remedy=remedy)
            check(value, expected.get(name, Any), title, name)
        return function(*arguments, **options)

    return validated  # type: ignore[return-value]


def check_arguments(function: Callable[..., Any], **options: Any) -> None:
    """Check some arguments of a public function without calling it: what it would refuse is refused before long work.

    Raises:
        ArgumentError: for the first value that its annotation does not allow.
    """
    expected = hints_of(unwrap(function))
    for name, value in options.items():
        check(value, expected.get(name, Any), function.__name__, name)


def _instead(name: str, known: Iterable[str]) -> str:
    names = [other for other in known if other not in ("self", "cls")]
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(names)}"


def checked_methods(kind: type[AnyClass]) -> type[AnyClass]:
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
        check(getattr(instance, name), annotation, kind.__name__, name)


@cache
def _fields_of(kind: Any) -> dict[str, Any]:
    return {name: hint for name, hint in get_type_hints(kind).items() if name in kind.__dataclass_fields__}


def check(value: Any, annotation: Any, owner: str, name: str) -> None:
    """Check the value of an argument of a function, or of a field of a class, against its annotation.

    Raises:
        ArgumentError: it is of another type; the message says what to write instead.
        UnknownNameError: it is none of the names to choose from.
    """
    if not fits(value, annotation) or (annotation == Natural and value < 0):
        sentence = f"{place(owner, name)} must be {named(annotation)}, not {shown(value)}"
        raise ArgumentError(sentence, argument=name, value=value, remedy=_remedy(value, annotation))
    if isinstance(value, str):
        _check_choice(value, annotation, owner, name)


def _check_choice(value: str, annotation: Any, owner: str, name: str) -> None:
    offered = list(members(annotation))
    choices = [choice for member in offered if get_origin(member) is Literal for choice in get_args(member)]
    others = [member for member in offered if get_origin(member) is not Literal]
    # Another member of the union may take any text.
    if not choices or value in choices or any(fits(value, member) for member in others):
        return
    # A name that a list would take: the list is missing.
    if any(value in get_args(item) for member in others for item in get_args(member)):
        sentence = f"{place(owner, name)} must be {named(annotation)}"
        raise ArgumentError(sentence, argument=name, value=value, remedy=f"put it into a list: [{value!r}]")
    instead = f", or give {joined(map(named, others))}" if others else ""
    remedy = f"choose from {', '.join(map(repr, choices))}{instead}"
    raise UnknownNameError(f"{place(owner, name)}: no {value!r:.60}", argument=name, value=value, remedy=remedy)


def _remedy(value: Any, annotation: Any) -> str | None:
    names = [getattr(m, "__name__", "") for member in members(annotation) for m in (member, *get_args(member))]
    for name in names:
        if name in REMEDIES:
            given = f"{os.fspath(value)!r}" if isinstance(value, str | os.PathLike) else EXAMPLES.get(name, "")
            return REMEDIES[name].format(given)
    if isinstance(value, str) and any(get_origin(member) and fits([value], member) for member in members(annotation)):
        return f"put it into a list: [{value!r}]"
    return None
