"""tauform inspect: what a log holds, and how it suits a robot."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tauform.cli.options import PANEL, catalogue_names, need
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.reading import LogOptions, parts_of
from tauform.cli.verb import verb

NEEDS_ROBOT = "is about a robot; name it with --robot"


@verb
def inspect(
    tell: ProgressDisplay,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG", help="Recordings: .csv .npz .parquet .mat .db3 .mcap")],
    loading: dict[str, Any],
    of: Annotated[
        str | None,
        typer.Option(
            "--robot",
            metavar="ROBOT",
            help="Read the logs as recordings of this robot: rest, delays of the torques, frequencies.",
            autocompletion=catalogue_names,
            rich_help_panel=PANEL,
        ),
    ] = None,
    reading: LogOptions = LogOptions(),
) -> Page:
    """Look at logs: columns, rates, ranges, what each column likely holds, and the options that read it."""
    import tauform as tf
    from tauform.errors import TauformError

    # Of all options about reading, a log without a robot knows the topic alone.
    given = {f"--{name.replace('_', '-')}": value for name, value in vars(reading).items() if name != "topic"}
    given |= {f"--{name.replace('_', '-')}": value for name, value in loading.items()}
    need(of, {flag: value for flag, value in given.items() if value != "s"}, NEEDS_ROBOT)
    robot = None if of is None else tf.load(of, **loading)
    found, data, failure = [], [], None
    for path in logs:
        for part in _parts(path):
            tell(f"reading {part.name}")
            summary = tf.inspect_log(part, topic=reading.topic, robot=robot)
            found += _shown(summary)
            data.append({**asdict(summary), "clock": None if summary.clock is None else asdict(summary.clock)})
        if robot is None:
            continue
        # Columns are printed all the same where the robot does not fit: they show what to mend.
        try:
            (recording,) = reading.recordings([path], robot, tell)
            tell("comparing torques with the motion")
            seen = tf.inspect_recording(robot, recording)
        except TauformError as error:
            failure = failure or str(error)
            continue
        found += _of_robot(seen, robot.name)
        data[-1]["recording"] = asdict(seen)
    return Page(data, tuple(found), failure=failure)


def _parts(path: Path) -> list[Path]:
    parts = parts_of(path)
    return parts if isinstance(parts, list) else [parts]


def _of_robot(seen: Any, name: str) -> list[Any]:
    from rich.text import Text

    from tauform.report.tables import table

    late, sure = 1e3 * seen.delays.seconds, 1e3 * seen.delays.deviations
    rows = zip(seen.joint_names, 100 * seen.rest, late, sure, strict=True)
    title = f"As a recording of {name}: motion up to {seen.spectrum.bandwidth:.3g} Hz, "
    title += f"one sample is {1e3 * seen.sample:.3g} ms"
    columns = ("joint", "at rest [%]", "torques late [ms]", "deviation [ms]")
    return [table(title, columns, rows), *(Text(f"  {sentence}") for sentence in seen.findings)]


def _shown(log: Any) -> list[Any]:
    from rich.text import Text

    from tauform.report.tables import table

    # A log without a time column has no clock.
    at = "" if log.clock is None else f", {log.clock}"
    heading = f"{log.name}: {len(log.columns)} columns, {log.n_samples} samples{at}"
    columns = ("column", "likely", "joint", "by its", "number", "smallest", "largest", "mean", "deviation", "step")
    rows = [
        (c.name, c.field, c.joint, c.by, c.number, c.smallest, c.largest, c.mean, c.deviation, c.step)
        for c in log.columns
    ]
    return [
        Text(heading, style="bold"),
        table("Columns", columns, rows, text_columns=4),
        *(Text(f"  {sentence}") for sentence in log.findings),
    ]
