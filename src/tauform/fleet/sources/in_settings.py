"""The words of fleet.toml: what Python calls `units={"q": "deg"}` is `[read] units = { q = "deg" }` there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature

from tauform.escaping.tables import toml_string
from tauform.identification.logs.read import read_recording
from tauform.wording import NAMED, Python

OPTIONS = frozenset(signature(read_recording).parameters) - {"path", "robot"}
# Keys of TOML that need no quotes.
BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class InSettings(Python):
    """Settings in place of arguments, for whoever reads a fleet; others keep their Python names."""

    def argument(self, name: str, value: object) -> str:
        """`[read] time_unit = "ms"`."""
        if name not in OPTIONS:
            return super().argument(name, value)
        return f"[read] {name}" if value is NAMED else f"[read] {name} = {_toml(value)}"

    def call(self, function: str, given: str, arguments: Mapping[str, object]) -> str:
        """Lines of [read] in fleet.toml in place of arguments of `read_recording`."""
        if function != "read_recording" or not arguments or not set(arguments) <= OPTIONS:
            return super().call(function, given, arguments)
        lines = " and ".join(f"{name} = {_toml(value)}" for name, value in arguments.items())
        return f"{lines} under [read] in fleet.toml"


def _toml(value: object) -> str:
    """A value as it is written into a file; TOML has no word for none."""
    if value is ... or value is None:
        return "..."
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(str(key))} = {_toml(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else toml_string(name)
