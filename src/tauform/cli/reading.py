"""How logs are read: the options that every verb with recordings takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
            help="Columns of t, q, tau, qd or reference: names, their prefix, a pattern (J{}_trq) or none; repeatable.",
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
        str, typer.Option(metavar="UNIT", help="Of the time stamps: s, ms, us or ns.", rich_help_panel=PANEL)
    ],
    "topic": Annotated[str | None, typer.Option(metavar="TOPIC", help="Of a bag with several.", rich_help_panel=PANEL)],
}


@dataclass(frozen=True)
class Reading:
    """What the command line says about logs."""

    column: list[str] | None = None
    degrees: bool = False
    gains: str | None = None
    time_unit: str = "s"
    topic: str | None = None

    def recordings(
        self, paths: Iterable[Path] | None, robot: Robot, say: Callable[[str], None] = lambda words: None
    ) -> list[Recording]:
        """The recordings in these files."""
        import tauform

        options: dict[str, Any] = {
            "columns": parse_columns(self.column or []),
            "degrees": self.degrees,
            "gains": parse_gains(self.gains),
            "time_unit": self.time_unit,
            "topic": self.topic,
        }
        found = []
        for path in paths or []:
            say(f"reading {path.name}")
            found.append(tauform.read_recording(path, robot, **options))
        return found


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
        columns[field] = several if len(several) > 1 else None if names == LEFT_OUT else several[0]
    return columns


def parse_gains(text: str | None) -> list[float] | None:
    """Numbers between commas."""
    try:
        return None if text is None else [float(number) for number in text.split(",")]
    except ValueError:
        raise typer.BadParameter(f"--gains takes a number per joint, for example 12.5,12.5,8, not {text!r}") from None
