"""tauform fleet: many robots of one kind, from a folder of their logs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.options import Force
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.verb import verb

if TYPE_CHECKING:
    from tauform.description.robot import Robot
    from tauform.fleet.fleet_fit import FleetFit

# Units that are listed in a terminal, if fewer deviate.
MOST_ROWS = 40


@verb
def fleet(
    robot: Robot,
    tell: ProgressDisplay,
    dataset: Annotated[
        str,
        typer.Argument(metavar="DATASET", help="Folder or address of logs: UNIT/*.parquet, unit=UNIT/*.csv, s3://..."),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write tables (Parquet) and report.html.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address of a scheduler of Dask.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes of this machine; 0 works in one.", min=0)] = None,
    sample: Annotated[int, typer.Option(help="Units that the model is chosen on.", min=1)] = 6,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep what was condensed: a later run reads new logs only.")
    ] = None,
    metrics: Annotated[Path | None, typer.Option(metavar="FILE", help="Text file for Prometheus.")] = None,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log to stderr, one JSON object per line.")] = False,
    watch: Annotated[bool, typer.Option("--watch", help="Go on: update the output when logs arrive.")] = False,
    every: Annotated[float, typer.Option(metavar="SECONDS", help="With --watch: between two looks.", min=0)] = 60.0,
    updates: Annotated[int | None, typer.Option(help="With --watch: end after so many.", min=1)] = None,
    force: Force = False,
) -> Page:
    """Identify a fleet: one model, every unit beside it, who deviates, what changed over time."""
    import tauform as tf

    # Condensing logs of a fleet takes long; the folder is checked first.
    check_outputs(force, folders=[] if output is None else [output])
    options: dict[str, Any] = {
        "scheduler": scheduler, "workers": workers, "sample": sample, "metrics": metrics, "progress": tell,
    }  # fmt: skip
    # For the time of this verb: the logger is the process's.
    with _json_logging() if log_json else nullcontext():
        if not watch:
            found = tf.identify_fleet(robot, dataset, checkpoint=checkpoint, **options)
            return _page(found, [] if output is None else found.save(output, force=force))
        if output is None or checkpoint is None:
            raise typer.BadParameter("--watch updates a folder and keeps what it read: add -o DIR and --checkpoint DIR")
        for count, found in enumerate(tf.watch_fleet(robot, dataset, checkpoint, every=every, **options), start=1):
            # From the second update on the folder is our own.
            written = found.save(output, force=force or count > 1)
            tell(f"update {count}: {found!r}; waiting for logs")
            if count == updates:
                break
    return _page(found, written)


@contextmanager
def _json_logging() -> Iterator[None]:
    """Records of the fleet's logger as JSON lines on stderr, their figures as fields."""
    logger, handler = logging.getLogger("tauform.fleet"), logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines())
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


class _JsonLines(logging.Formatter):
    """One JSON object per record."""

    # What every record has; all else came with `extra`.
    COMMON = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, message, and the record's own fields."""
        held = {"time": record.created, "level": record.levelname.lower(), "message": record.getMessage()}
        # Python puts `extra` among the record's own attributes.
        own = {key: value for key, value in vars(record).items() if key not in self.COMMON}
        return json.dumps({**held, **own}, default=str)


def _page(found: FleetFit, written: Sequence[Path]) -> Page:
    from tauform.report.tables import table

    rows = [
        (
            u.unit,
            "" if not u.is_deviating else "deviates" if u.cause is None else str(u.cause),
            # The parameter that stands out most, with its distance in standard deviations.
            *u.largest(found.names, 1)[0],
            # Shares of the torque become percent here only; --json keeps shares.
            100 * u.error,
            100 * u.fleet_error,
        )
        for u in list(found.units.values())[: max(MOST_ROWS, len(found.deviating))]
    ]
    columns = ("unit", "deviates", "most in", "deviations", "error [%]", "with the fleet's values [%]")
    data = {
        "units": [
            {
                "unit": u.unit,
                "deviating": u.is_deviating,
                "cause": None if u.cause is None else vars(u.cause),
                "p_value": u.p_value,
                "error": u.error,
            }
            for u in found.units.values()
        ],
        "changes": [vars(change) for change in found.changes],
        "excluded": [dict(zip(("unit", "file", "reason"), row, strict=True)) for row in found.excluded],
        "troubles": found.troubles,
        "files": [str(path) for path in written],
    }
    # Every log that was left out is named with its reason: silence would pass for use.
    left = len(found.units) - len(rows)
    more = [f"and {left} units that do not deviate"] if left else []
    unused = [f"{unit}: {file} was not used: {why}" for unit, file, why in found.excluded]
    words = [*more, repr(found), *found.troubles, *unused]
    return Page(data, (table("Units", columns, rows, text_columns=3), *words))
