"""The marker of a verb: gives it `--json`, progress and, where it takes a robot, the options that every robot takes."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

import typer

from tauform.cli.options import COMMON_OPTIONS, ROBOT_ARGUMENT, ROBOT_OPTIONS, arranged, flags
from tauform.cli.page import Page, complain, print_page
from tauform.cli.progress import ProgressDisplay, progress
from tauform.cli.reading import RECORDING_OPTIONS, LogOptions, check_logs
from tauform.cli.wording import FLAGS

if TYPE_CHECKING:
    from tauform.description.robot import Robot

# Parameters of a verb that are made of options, or given, in place of options of their own.
MADE = ("reading", "tell", "loading")
# Exit code of a verb that did what it was told, with a result that must not be relied on.
DOUBTFUL = 1
# Exit code of a verb that could not do all it was told.
FAILED = 2
DEFAULTS = {"as_json": False, "quiet": False, "degrees": False, "time_unit": "s", "allow_code": False}


def verb(function: Callable[..., Page]) -> Callable[..., None]:
    """Make a command of a function that returns a Page.

    A parameter named `robot` receives the loaded Robot; on the command line it becomes the argument ROBOT and the
    options --tip, --lock, --snap, --gravity, --package-dir and --allow-code. One named `reading` receives LogOptions,
    made of the options that say how logs are read; one named `loading` receives those of `tauform.load`, for verbs that
    find their robots elsewhere; one named `tell` receives the ProgressDisplay, which is told
    when another stage begins. Every verb gets --json and --quiet.
    """
    # Robot is imported for the type checker only; its annotation is replaced below, so any stand-in will do.
    names = {"Robot": object, "Page": Page, "LogOptions": LogOptions, "ProgressDisplay": ProgressDisplay}
    hints = get_type_hints(function, localns=names, include_extras=True)
    own = inspect.signature(function).parameters
    takes_robot, loads, reads, tells = (name in own for name in ("robot", "loading", "reading", "tell"))
    # In the order of the help: logs, robot, then what every verb has.
    shared = {
        **(RECORDING_OPTIONS if reads else {}),
        **(ROBOT_OPTIONS if takes_robot or loads else {}),
        **COMMON_OPTIONS,
    }
    parameters = arranged(
        [
            *(
                p.replace(annotation=ROBOT_ARGUMENT if name == "robot" else hints[name])
                for name, p in own.items()
                if name not in MADE
            ),
            *(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=DEFAULTS.get(name)
                )
                for name, annotation in shared.items()
            ),
        ]
    )
    # Read by the wording of messages, which names an option as this verb spells it.
    FLAGS[function.__name__] = flags(parameters)

    @wraps(function)
    def command(as_json: bool = False, quiet: bool = False, **arguments: Any) -> None:
        with progress(quiet) as tell:
            if takes_robot or loads:
                loading = loading_options(**{n: arguments.pop(n, DEFAULTS.get(n)) for n in ROBOT_OPTIONS})
            if reads:
                check_logs(arguments)
            if takes_robot:
                tell(f"reading {arguments['robot']}")
                arguments["robot"] = _load(arguments["robot"], loading)
            if loads:
                arguments["loading"] = loading
            if reads:
                arguments["reading"] = LogOptions(**{name: arguments.pop(name) for name in RECORDING_OPTIONS})
            if tells:
                arguments["tell"] = tell
            # A verb that names no stage of its own is shown by its name.
            tell(function.__name__)
            page = function(**arguments)
        # After the progress has ended: its bar would mix with the tables.
        try:
            print_page(page, as_json)
            sys.stdout.flush()
        except OSError as error:
            # A full disk behind > has no file name; the message needs a place.
            raise OSError(error.errno, error.strerror, "standard output") from None
        # A failure outranks a doubt: one exit code, one sentence.
        if page.failure is not None:
            complain(page.failure)
            raise typer.Exit(FAILED)
        if page.doubt is not None:
            complain(page.doubt)
            raise typer.Exit(DOUBTFUL)

    # Typer reads the signature of a function, and in some versions its annotations.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    # `inspect` would follow it to the verb's own signature.
    del command.__wrapped__
    return command


def _load(source: str, loading: Mapping[str, Any]) -> Robot:
    """The robot that the command line describes."""
    import tauform

    return tauform.load(source, **loading)


def loading_options(lock: list[str] | None = None, **given: Any) -> dict[str, Any]:
    """Options of `tauform.load` that the command line gave."""
    options = {**given, "lock": parse_locks(lock or [])}
    return {name: value for name, value in options.items() if value not in (None, False, [], {})}


def parse_locks(pairs: list[str]) -> dict[str, float]:
    """{"joint": value} from JOINT=VALUE texts."""
    locks = {}
    for pair in pairs:
        # From the right: a joint's name may hold "=", a value never does.
        name, separator, value = pair.rpartition("=")
        try:
            locks[name] = float(value)
        except ValueError:
            # Treated below like a missing sign: the remedy is the same.
            separator = ""
        if not (name and separator):
            raise typer.BadParameter(f"--lock takes JOINT=VALUE, for example elbow=0.5, not {pair!r}")
    return locks
