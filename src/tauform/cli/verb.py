"""The marker of a verb: gives it `--json` and, where it takes a robot, the options that every robot takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, wraps
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer

from tauform.cli.page import Page, print_page
from tauform.cli.wording import FLAGS, flags_of, in_flags

if TYPE_CHECKING:
    from tauform.description.robot import Robot

JSON_OPTION = {"as_json": (Annotated[bool, typer.Option("--json", help="Print JSON only.")], False)}
ROBOT_OPTIONS: dict[str, tuple[Any, Any]] = {
    "tip": (Annotated[str | None, typer.Option(help="Frame or link to end at; the rest is cut off.")], None),
    "lock": (Annotated[list[str] | None, typer.Option(metavar="JOINT=VALUE", help="Fix a joint; repeatable.")], None),
    "snap": (Annotated[float | None, typer.Option(help="Straighten joint frames that are off by less, in rad.")], None),
    "gravity": (
        Annotated[
            tuple[float, float, float] | None, typer.Option(metavar="X Y Z", help="In the base frame, in m/s^2.")
        ],
        None,
    ),
}
ROBOT_ARGUMENT = Annotated[
    str, typer.Argument(metavar="ROBOT", help="Catalogue name, or a file: .urdf .xacro .xml .toml")
]


def verb(function: Callable[..., Page]) -> Callable[..., None]:
    """Make a command of a function that returns a Page.

    A parameter named `robot` receives the loaded Robot; on the command line it becomes the argument ROBOT and the
    options --tip, --lock, --snap and --gravity. Every verb gets --json.
    """
    # Robot is imported for the type checker only; its annotation is replaced below, so any stand-in will do.
    hints = get_type_hints(function, localns={"Robot": object, "Page": Page}, include_extras=True)
    own = inspect.signature(function).parameters
    takes_robot = "robot" in own
    parameters = [
        parameter.replace(annotation=ROBOT_ARGUMENT if name == "robot" else hints[name])
        for name, parameter in own.items()
    ]
    for name, (annotation, default) in {**(ROBOT_OPTIONS if takes_robot else {}), **JSON_OPTION}.items():
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
        )

    FLAGS[function.__name__] = _flags(parameters)

    @wraps(function)
    def command(as_json: bool = False, **arguments: Any) -> None:
        if takes_robot:
            options = {name: arguments.pop(name) for name in ROBOT_OPTIONS}
            arguments["robot"] = load_robot(arguments["robot"], **options)
        print_page(function(**arguments), as_json, partial(in_flags, verb=function.__name__))

    # Typer reads the signature of a function, and in some versions its annotations.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del command.__wrapped__
    return command


def _flags(parameters: list[inspect.Parameter]) -> dict[str, tuple[str, str]]:
    """Options among the parameters -> their flags."""
    found = {}
    for parameter in parameters:
        for info in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(info, typer.models.OptionInfo):
                # Typer keeps the first flag where a default would stand.
                words = (info.default, *(info.param_decls or ()))
                declared = tuple(word for word in words if isinstance(word, str) and word.startswith("-"))
                is_switch = get_args(parameter.annotation)[0] is bool
                found[parameter.name] = flags_of(parameter.name, declared, is_switch)
    return found


def load_robot(
    source: str,
    tip: str | None = None,
    lock: list[str] | None = None,
    snap: float | None = None,
    gravity: tuple[float, float, float] | None = None,
) -> Robot:
    """The robot that the command line describes."""
    import tauform

    return tauform.load(source, tip=tip, lock=parse_locks(lock or []), snap=snap, gravity=gravity)


def parse_locks(pairs: list[str]) -> dict[str, float]:
    """{"joint": value} from JOINT=VALUE texts."""
    locks = {}
    for pair in pairs:
        name, separator, value = pair.rpartition("=")
        try:
            locks[name] = float(value)
        except ValueError:
            separator = ""
        if not (name and separator):
            raise typer.BadParameter(f"--lock takes JOINT=VALUE, for example elbow=0.5, not {pair!r}")
    return locks
