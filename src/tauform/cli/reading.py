"""Reading of logs: the options that every verb with recordings takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from tauform.description.robot import Robot
    from tauform.identification.recording.recording import Recording

PANEL = "Recordings"
# Name on the command line for a field that is to be left out.
LEFT_OUT = "none"

RECORDING_OPTIONS: dict[str, Any] = {
    "column": Annotated[
        list[str] | None,
        typer.Option(
            metavar="FIELD=NAMES",
            help="Columns of t, q, tau, qd or reference: names, numbers (2-8), prefix, pattern (J{}_trq) or none; "
            "repeatable.",
            rich_help_panel=PANEL,
        ),
    ],
    "map": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="The joints' names in the log, in the robot's order, or JOINT=NAME,...; repeatable.",
            rich_help_panel=PANEL,
        ),
    ],
    "unit": Annotated[
        list[str] | None,
        typer.Option(
            metavar="UNIT",
            help="What the log is written in: deg, mNm, ms, or FIELD=UNIT, COLUMN=UNIT; repeatable.",
            rich_help_panel=PANEL,
        ),
    ],
    "degrees": Annotated[
        bool, typer.Option("--degrees", metavar="", help="Logs are in degrees.", rich_help_panel=PANEL)
    ],
    "gains": Annotated[
        str | None,
        typer.Option(metavar="G1,G2,...", help="Torque for a unit of motor current, by joint.", rich_help_panel=PANEL),
    ],
    "time_unit": Annotated[
        str, typer.Option(metavar="UNIT", help="Unit of the time stamps: s, ms, us or ns.", rich_help_panel=PANEL)
    ],
    "rate": Annotated[
        float | None,
        typer.Option(metavar="HZ", help="Samples per second of a log without time stamps.", rich_help_panel=PANEL),
    ],
    "between": Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="START END", help="Seconds after the first sample to keep.", rich_help_panel=PANEL),
    ],
    "trigger": Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Keep rows in which the column is not zero, or as COLUMN=3, COLUMN>0.5 says.",
            rich_help_panel=PANEL,
        ),
    ],
    "topic": Annotated[
        str | None, typer.Option(metavar="TOPIC", help="Topic of a bag with several.", rich_help_panel=PANEL)
    ],
}


@dataclass(frozen=True)
class LogOptions:
    """Options of the command line about logs."""

    column: list[str] | None = None
    map: list[str] | None = None
    unit: list[str] | None = None
    degrees: bool = False
    gains: str | None = None
    time_unit: str = "s"
    rate: float | None = None
    between: tuple[float, float] | None = None
    trigger: str | None = None
    topic: str | None = None

    def recordings(
        self, paths: Iterable[Path] | None, robot: Robot, say: Callable[[str], None] = lambda words: None
    ) -> list[Recording]:
        """The recordings in these files; a.csv+b.csv are parts of one."""
        import tauform

        options: dict[str, Any] = {
            # Parsed here, checked against the log there: only the reader knows its columns.
            "columns": parse_columns(self.column or []),
            "joints": parse_joints(self.map or []),
            "units": parse_units(self.unit or []),
            "degrees": self.degrees,
            "gains": parse_gains(self.gains),
            "time_unit": self.time_unit,
            "rate": self.rate,
            "between": self.between,
            "trigger": self.trigger,
            "topic": self.topic,
        }
        found = []
        # One after the other: a log may be larger than half of the memory.
        for path in paths or []:
            say(f"reading {path.name}")
            found.append(tauform.read_recording(parts_of(path), robot, **options))
        return found


def parts_of(path: Path) -> Path | list[Path]:
    """The files that a.csv+b.csv stands for; a path that exists is itself."""
    # A file whose own name holds a plus is one file.
    if "+" not in str(path) or path.exists():
        return path
    return [Path(part) for part in str(path).split("+")]


def check_logs(arguments: Mapping[str, Any]) -> None:
    """Refuse logs that are absent or empty, before seconds go into loading the robot."""
    from tauform.identification.logs.formats.open import check_log

    # Options that name logs may not belong to this call at all, which the verb says.
    for path in arguments.get("logs") or []:
        parts = parts_of(path)
        for part in parts if isinstance(parts, list) else [parts]:
            check_log(part)


def read_from(recordings: Iterable[Recording]) -> dict[str, Any]:
    """Log -> which of its columns became what, for `--json`."""
    return {recording.name: recording.columns for recording in recordings}


def lines(recordings: Iterable[Recording]) -> list[Any]:
    """The same for a terminal."""
    from rich.text import Text

    return [Text(recording.read_from) for recording in recordings if recording.read_from is not None]


def parse_columns(pairs: list[str]) -> dict[str, Any]:
    """{"q": ["a", "b"]} from FIELD=a,b texts; one name is a prefix, `none` leaves the field out."""
    columns: dict[str, Any] = {}
    for pair in pairs:
        field, separator, names = pair.partition("=")
        if not (field and separator and names):
            raise typer.BadParameter(f"--column takes FIELD=NAMES, for example tau=effort_, not {pair!r}")
        several = [name.strip() for name in names.split(",")]
        # One name is a prefix of the columns, several are the columns themselves.
        columns[field] = several if len(several) > 1 else None if names == LEFT_OUT else several[0]
    return columns


def parse_joints(texts: list[str]) -> dict[str, str] | list[str] | None:
    """{"joint1": "A1"} from JOINT=NAME texts, or a list of names in the robot's order."""
    words = [word.strip() for text in texts for word in text.split(",")]
    pairs = [word.partition("=") for word in words]
    # An empty joint, or a sign without a name, is a slip of the comma.
    if not all(joint and (name or not sign) for joint, sign, name in pairs):
        raise typer.BadParameter(f"--map takes NAME,... or JOINT=NAME,..., for example A1,A2,A3, not {texts[0]!r}")
    # Mixed, a bare name could mean its place or itself.
    mapped = [bool(sign) for _, sign, _ in pairs]
    if any(mapped) and not all(mapped):
        raise typer.BadParameter("--map takes either names in the robot's order or JOINT=NAME for some, not both")
    return None if not words else {joint: name for joint, _, name in pairs} if all(mapped) else words


def parse_units(texts: list[str]) -> str | dict[str, str] | None:
    """{"q": "deg"} from FIELD=UNIT texts, or units alone with commas between."""
    words = [word.strip() for text in texts for word in text.split(",")]
    # From the right: a column's name may hold "=", a unit never does.
    pairs = [word.rpartition("=") for word in words]
    told = [bool(sign) for _, sign, _ in pairs]
    if not all(unit and (key or not sign) for key, sign, unit in pairs):
        raise typer.BadParameter(f"--unit takes UNIT or FIELD=UNIT, for example deg or q=deg, not {texts[0]!r}")
    # Bare units go on as one text; the reader tells which field each belongs to.
    if not any(told):
        return ",".join(words) if words else None
    from tauform.identification.logs.units import fields_of

    # Both kinds: what is told of a field or column wins over a unit alone.
    alone = {field: unit for key, _, unit in pairs if not key for field in fields_of(unit)}
    return alone | {key: unit for key, _, unit in pairs if key}


def parse_gains(text: str | None) -> list[float] | None:
    """Numbers between commas."""
    try:
        return None if text is None else [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--gains takes a number per joint, for example 12.5,12.5,8, not {text!r}") from None
