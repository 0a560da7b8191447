"""fleet.toml: what is said once about a data set: robots, how logs are read, keys of units and times, tools."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from inspect import signature
from typing import Any

from tauform.arguments import check_arguments
from tauform.description.formats.load import load
from tauform.description.inertia import Inertia
from tauform.documents import is_number, parse_toml
from tauform.errors import RecordingError, TauformError
from tauform.fleet.sources.carried import Tool
from tauform.fleet.sources.keys import Keys, seconds_of
from tauform.fleet.sources.reading import Reading
from tauform.identification.logs.read import read_recording
from tauform.messages import no_such

TABLES = ("robot", "robots", "load", "keys", "read", "tools")
TOOL = ("units", "from", "to", "mass", "com", "inertia", "inertia_about")
# Given by the fleet itself; a file must not let another one run code.
NOT_SETTINGS = ("path", "robot", "source", "allow_code")


@dataclass(frozen=True)
class Settings:
    """What a fleet.toml says.

    Attributes:
        robots: pattern of units -> file or name of the catalogue; the first that fits counts.
        loading: options of `tf.load` for these.
        keys: how unit and time of a log are found.
        reading: how logs are read.
    """

    robots: Mapping[str, str] = field(default_factory=dict)
    loading: Mapping[str, Any] = field(default_factory=dict)
    keys: Keys = field(default_factory=Keys)
    reading: Reading = field(default_factory=Reading)


def settings_in(text: str, path: str) -> Settings:
    """The settings that a text holds.

    Raises:
        RecordingError: it is not TOML, or says something that is no setting.
        UnknownNameError: a key that does not exist; the message names the nearest.
    """
    try:
        held = parse_toml(text)
    except ValueError as error:
        raise RecordingError(f"{path}: {error}") from None
    # Silently ignored settings would read all logs in the wrong units.
    _check_names(path, "key", held, TABLES)
    for name, kind in (("robot", str), ("robots", dict), ("load", dict), ("keys", dict), ("read", dict)):
        if not isinstance(held.get(name, kind()), kind):
            raise RecordingError(f"{path}: {name} is a {'text' if kind is str else 'table'}, not {held[name]!r:.60}")
    robots = held.get("robots", {}) if "robot" not in held else {"*": held["robot"]}
    if "robots" in held and ("robot" in held or not all(isinstance(name, str) for name in robots.values())):
        raise RecordingError(f'{path}: give robot = "arm.urdf", or [robots] with a line "A*" = "arm.urdf" for each')
    return Settings(
        robots,
        _options(path, "load", load, held.get("load", {})),
        _keys(path, held.get("keys", {})),
        Reading(_options(path, "read", read_recording, held.get("read", {})), _tools(path, held.get("tools", []))),
    )


def _check_names(path: str, what: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in given:
        if name not in known:
            raise no_such(f"{path}: {what}", name, known)


def _options(path: str, table: str, function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Options of a public function."""
    known = tuple(name for name in signature(function).parameters if name not in NOT_SETTINGS)
    _check_names(path, f"[{table}]: option", given, known)
    check_arguments(function, **given)
    return given


def _keys(path: str, given: dict[str, Any]) -> Keys:
    _check_names(path, "[keys]: key", given, tuple(own.name for own in fields(Keys)))
    for name, value in given.items():
        if not isinstance(value, str) or not value:
            raise RecordingError(f"{path}: [keys]: {name} is a text, not {value!r:.60}")
    return Keys(**given)


def _tools(path: str, given: Any) -> tuple[Tool, ...]:
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise RecordingError(f"{path}: tools are tables that begin with [[tools]]")
    return tuple(_tool(f"{path}: tool {k}", one) for k, one in enumerate(given, start=1))


def _tool(where: str, given: dict[str, Any]) -> Tool:
    """A tool from its table."""
    _check_names(where, "key", given, TOOL)
    if not is_number(given.get("mass")):
        raise RecordingError(f"{where}: say its mass in kg")
    if not isinstance(units := given.get("units", "*"), str):
        raise RecordingError(f"{where}: units is a name or a pattern such as 'A*', not {units!r:.60}")
    start, end = (_when(where, given, name, missing) for name, missing in (("from", -math.inf), ("to", math.inf)))
    if not start < end:
        raise RecordingError(f"{where}: it ends before it starts; give from, then to")
    body = {name: given[name] for name in ("com", "inertia", "inertia_about") if name in given}
    try:
        check_arguments(Inertia.of, **body)
        parameters = Inertia.of(float(given["mass"]), **body).parameters
    except TauformError as error:
        raise RecordingError(f"{where}: {error}") from None
    is_dated = any(isinstance(given.get(name), date) for name in ("from", "to"))
    return Tool(units, start, end, tuple(parameters.tolist()), is_dated)


def _when(where: str, given: dict[str, Any], name: str, missing: float) -> float:
    value = given.get(name, missing)
    # TOML has dates; datetime is a kind of date.
    if isinstance(value, date):
        return seconds_of(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise RecordingError(f"{where}: {name} is a date (2026-03-01) or seconds of the logs' clock, not {value!r:.60}")
    return float(value)
