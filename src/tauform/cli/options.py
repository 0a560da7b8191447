"""Options and arguments of the verbs: those that every robot takes, and what all have in common in `--help`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from tauform.cli.reading import RECORDING_OPTIONS

if TYPE_CHECKING:
    from tauform.description.robot import Robot

PANEL = "Robot"
# Names of values in the help, by type; a switch takes none.
METAVARS = {bool: "", str: "TEXT", float: "NUMBER", int: "N", Path: "PATH"}


def catalogue_names(incomplete: str) -> list[str]:
    """Names of the catalogue that begin like this; a shell adds files itself."""
    # Read from the folder, without importing the loader: a shell asks at every press of Tab.
    folder = resources.files("tauform.description") / "catalogue"
    names = sorted(file.name.removesuffix(".toml") for file in folder.iterdir())
    return [name for name in names if name.startswith(incomplete)]


ROBOT_ARGUMENT = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="Catalogue name, or a file: .urdf .xacro .xml .toml",
        autocompletion=catalogue_names,
        show_default=False,
    ),
]
ROBOT_OPTIONS: dict[str, Any] = {
    "tip": Annotated[
        str | None,
        typer.Option(metavar="FRAME", help="Frame or link to end at; the rest is cut off.", rich_help_panel=PANEL),
    ],
    "lock": Annotated[
        list[str] | None,
        typer.Option(metavar="JOINT=VALUE", help="Fix a joint; repeatable.", rich_help_panel=PANEL),
    ],
    "snap": Annotated[
        float | None,
        typer.Option(
            metavar="ANGLE", help="Straighten joint frames that are off by less, in rad.", rich_help_panel=PANEL
        ),
    ],
    "gravity": Annotated[
        tuple[float, float, float] | None,
        typer.Option(metavar="X Y Z", help="Gravity in the base frame, in m/s^2.", rich_help_panel=PANEL),
    ],
    "package_dirs": Annotated[
        list[Path] | None,
        typer.Option(
            "--package-dir", metavar="FOLDER", help="Folder that holds ROS packages; repeatable.", rich_help_panel=PANEL
        ),
    ],
    "allow_code": Annotated[
        bool,
        typer.Option("--allow-code", help="Let a xacro file that you trust run Python.", rich_help_panel=PANEL),
    ],
}
# Of verbs whose work can be divided; 0 workers: this process alone.
Workers = Annotated[int, typer.Option(help="Processes of this machine; 0 works in one.", min=0)]
Scheduler = Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address of a scheduler of Dask.")]
# Of every verb that writes.
Force = Annotated[bool, typer.Option("--force", help="Overwrite files; write into a folder that holds others too.")]
# Of every verb that makes programs of several functions.
FunctionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--functions", "--function", metavar="NAME,...", help="Names with commas between, or all; repeatable."
    ),
]
# The same in a column that is too narrow for both spellings.
CodeFunctions = Annotated[
    list[str] | None, typer.Option("--functions", metavar="NAME,...", help="What --code writes; all, or names.")
]
NUMBERS = "NUMBER,..."  # one for all joints, or one per joint


def one_per_joint(robot: Robot, **given: str | None) -> dict[str, list[float]]:
    """Options that were given as (n,) numbers each: of one number, or of one per joint with commas between."""
    # Options that were not given are left out, so that callers can pass the rest on as keywords.
    return {name: _numbers(text, robot, f"--{name}") for name, text in given.items() if text is not None}


def need(owner: object, given: Mapping[str, Any], remedy: str) -> None:
    """Refuse options that would be left unused without another one.

    Args:
        owner: the option that they belong to, as it was given.
        given: values by flag.
        remedy: end of the sentence.
    """
    # An option that changes nothing is a misunderstanding: better an error than a surprise.
    idle = [flag for flag, value in given.items() if value]
    if idle and not owner:
        raise typer.BadParameter(f"{idle[0]} {remedy}")


def _numbers(text: str, robot: Robot, flag: str) -> list[float]:
    n, names = robot.n_joints, ", ".join(robot.joint_names)
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{flag} takes a number, or one per joint such as 1,0.5,2, not {text!r}") from None
    if len(numbers) not in (1, n):
        raise typer.BadParameter(f"{flag} takes 1 number or {n}, one per joint ({names}), not {len(numbers)}")
    # One number stands for every joint.
    return numbers * n if len(numbers) == 1 else numbers


# Of verbs that take states of a robot whose friction may depend on temperature.
Temperature = Annotated[
    str | None,
    typer.Option(
        metavar="LOW,HIGH",
        help="Temperature of the joints in degrees Celsius, where friction depends on it (default: -10,80).",
    ),
]


def temperatures(robot: Robot, text: str | None, recorded: bool) -> tuple[float, float] | None:
    """Lowest and highest temperature of the states that were asked for; recordings bring their own."""
    from tauform.closedform.profile import usual_temperatures

    if text is None:
        # None where friction does not depend on temperature.
        return usual_temperatures(robot)
    if recorded:
        raise typer.BadParameter("--recording brings its own temperatures; leave out --temperature")
    if not robot.needs_temperature:
        raise typer.BadParameter(f"friction of {robot.name} does not depend on temperature; leave out --temperature")
    try:
        low, high = (float(word) for word in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"--temperature takes the lowest and the highest, such as 10,60, not {text!r}"
        ) from None
    return low, high


# Of every verb that writes C.
Name = Annotated[
    str | None,
    typer.Option("--name", "--prefix", metavar="NAME", help="Prefix of all C names (default: the robot's name)."),
]
# Of the verbs that identify.
Validate = Annotated[
    list[Path] | None, typer.Option(metavar="LOG", help="Validation recording: predicted, not fitted; repeatable.")
]
FrictionOption = Annotated[str, typer.Option(help="auto, plain, asymmetric, stribeck, quadratic, load or thermal.")]
Physical = Annotated[bool, typer.Option("--physical", help="Only physically consistent links.")]
Reduce = Annotated[bool, typer.Option("--reduce", help="Keep only the significant parameters.")]
Simulate = Annotated[
    bool, typer.Option("--simulate", help="Drive the model by the recorded torques and compare positions.")
]
Delay = Annotated[float, typer.Option(help="Seconds by which torques lag behind positions.")]
# Of the verbs that write C of what they identified.
RealOption = Annotated[str, typer.Option(help="Floating-point type of the C: double or float.")]
Excerpt = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Store only so much of the recording beside the C.")
]
NoRecording = Annotated[
    bool, typer.Option("--no-recording", help="Store none of the motion that the C is checked on beside it.")
]
# Of every verb.
COMMON_OPTIONS: dict[str, Any] = {
    "quiet": Annotated[bool, typer.Option("--quiet", help="No progress on stderr.")],
    "as_json": Annotated[bool, typer.Option("--json", help="Print JSON only.")],
}


def info_of(parameter: inspect.Parameter) -> Any:
    """Typer's description of an option; None for an argument."""
    # Typer's options have a prompt, its arguments none; both are otherwise alike.
    found = [info for info in getattr(parameter.annotation, "__metadata__", ()) if hasattr(info, "prompt")]
    return found[0] if found else None


def arranged(parameters: Iterable[inspect.Parameter]) -> list[inspect.Parameter]:
    """The parameters in the order of every help: arguments, where to write, own options, --force, shared ones."""
    # By keyword only: a signature may then list defaults before parameters without one.
    named = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    for parameter in named:
        _name_value(parameter)
    return sorted(named, key=_place)


def _place(parameter: inspect.Parameter) -> int:
    if info_of(parameter) is None:
        return 0
    # One order in every help, so that eyes find things.
    places = {"output": 1, "force": 3}
    for place, group in enumerate((RECORDING_OPTIONS, ROBOT_OPTIONS, COMMON_OPTIONS), start=4):
        places |= dict.fromkeys(group, place)
    return places.get(parameter.name, 2)


def _name_value(parameter: inspect.Parameter) -> None:
    info = info_of(parameter)
    if info is not None and info.metavar is None:
        # The first known type: of list[str] | None it is str.
        kinds = [kind for kind in _plain_types(get_args(parameter.annotation)[0]) if kind in METAVARS]
        info.metavar = METAVARS[kinds[0]] if kinds else None


def _plain_types(annotation: Any) -> list[Any]:
    """The types that an annotation is made of: list[str] | None holds str."""
    inner = get_args(annotation)
    return [kind for part in inner for kind in _plain_types(part)] if inner else [annotation]


def flags(parameters: Iterable[inspect.Parameter]) -> dict[str, tuple[str, str]]:
    """Options -> long flag and, for a switch that can be turned off, the opposite one."""
    found = {}
    for parameter in parameters:
        info = info_of(parameter)
        if info is not None:
            # Typer keeps the first flag where a default would stand.
            words = (info.default, *(info.param_decls or ()))
            declared = [word for word in words if isinstance(word, str) and word.startswith("--")]
            flag = declared[0] if declared else f"--{parameter.name.replace('_', '-')}"
            # A switch that declares its flag has no opposite; typer adds --no- to the others.
            negated = get_args(parameter.annotation)[0] is bool and not declared
            if parameter.name.startswith("no_"):  # the argument of the API says it the other way round
                found[parameter.name.removeprefix("no_")] = "", flag
            else:
                found[parameter.name] = flag, flag.replace("--", "--no-", 1) if negated else ""
    return found
