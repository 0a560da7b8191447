"""Substitutions of xacro files: $(find package), $(arg name), $(env NAME), $(optenv NAME default), $(eval ...)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tauform.description.formats.xacro.budget import ExpansionRefusedError
from tauform.description.formats.xacro.functions import MATH, PYTHON
from tauform.errors import DescriptionError
from tauform.wording import argument

if TYPE_CHECKING:
    from tauform.description.formats.xacro.expand import _Expansion

# A robot's settings are numbers, words and paths. What these names hold never belongs into a robot.
SECRET = re.compile("KEY|TOKEN|SECRET|PASS|PWD|AUTH|CRED|COOKIE|SESSION|PRIVATE|PROXY|URL|URI|DSN|LOGIN|CONNECT", re.I)
PLAIN = re.compile(r"[\w .,:/+=-]{0,256}", re.ASCII)
EVAL_NAMES = ("list", "dict", "map", "str", "float", "int")


def substituted(text: str, expansion: _Expansion) -> str:
    """Value of $(...); xacro hands over one at a time.

    Raises:
        DescriptionError: there is no such command, argument, package or variable.
        ExpansionRefusedError: an environment variable that may not be read, or code.
    """
    # Without "$(" and ")".
    inside = text[2:-1]
    # Its rest may hold spaces, which separate words below.
    if inside.startswith("eval "):
        return str(expansion.evaluate(inside[5:], _scope(expansion)))
    command, *words = inside.split() or [""]
    arguments = expansion.xacro.substitution_args_context.setdefault("arg", {})
    if command == "cwd" and not words:
        return os.getcwd()
    if command == "dirname" and not words:
        return os.path.dirname(os.path.abspath(expansion.xacro.filestack[-1]))
    if command == "find" and len(words) == 1:
        return expansion.files.find(words[0])
    if command == "arg" and len(words) == 1:
        if words[0] not in arguments:
            raise DescriptionError(f"the argument {words[0]!r} has no value; give <xacro:arg> a default")
        return str(arguments[words[0]])
    if command == "env" and len(words) == 1:
        return variable(words[0], None, expansion.allow_code)
    if command == "optenv" and words:
        return variable(words[0], " ".join(words[1:]), expansion.allow_code)
    raise DescriptionError(
        f"{text!r:.80} is no substitution of xacro; known are find, arg, env, optenv, dirname and eval"
    )


def variable(name: str, default: str | None, allow_code: bool = False) -> str:
    """An environment variable that holds a setting: no secret by its name, a number, word or path by its value.

    Raises:
        DescriptionError: it is not set and has no default.
        ExpansionRefusedError: it may not be read.
    """
    value = os.environ.get(name, default)
    if value is None:
        raise DescriptionError(
            f"the environment variable {name!r} is not set; set it, or write $(optenv {name} default)"
        )
    # A default of the file is its own text; only what the machine holds is kept back.
    if name in os.environ and not allow_code and (SECRET.search(name) or not PLAIN.fullmatch(value)):
        raise ExpansionRefusedError(
            f"it reads the environment variable {name!r}, which holds more than a setting of a robot",
            remedy=f"unset it, or load the file with {argument('allow_code', True)} if you trust it",
        )
    return value


def functions_of_eval(expansion: _Expansion) -> dict[str, Any]:
    """Functions that only $(eval ...) knows, named as the commands."""

    def call(command: str) -> Callable[..., Any]:
        return lambda *words: substituted(f"$({' '.join((command, *map(str, words)))})", expansion)

    functions: dict[str, Any] = {name: call(name) for name in ("env", "optenv", "find", "dirname")}
    return functions | {"arg": lambda name: _value(call("arg")(name))}


def _scope(expansion: _Expansion) -> dict[str, Any]:
    arguments = expansion.xacro.substitution_args_context.setdefault("arg", {})
    values = {name: _value(text) for name, text in arguments.items()}
    words = {name: PYTHON[name] for name in EVAL_NAMES}
    # As launch files spell them.
    truths = {"true": True, "false": False, "True": True, "False": False}
    return {**values, **MATH, **words, **truths, **expansion.substitutions}


def _value(text: Any) -> Any:
    """An argument as $(eval) sees it: a number or a truth value where it is one."""
    word = str(text)
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    # Integers first: as floats they could not index a list.
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
