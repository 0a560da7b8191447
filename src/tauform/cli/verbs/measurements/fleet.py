"""tauform fleet: many robots of one kind, from a folder of their logs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from tauform.cli.options import Force, catalogue_names
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.verb import verb

if TYPE_CHECKING:
    from tauform.description.robot import Robot
    from tauform.fleet.fleet_fit import FleetFit
    from tauform.fleet.sources.dataset import Dataset

Result = TypeVar("Result")
# Units that are listed in a terminal, if fewer deviate.
MOST_ROWS = 40


@verb
def fleet(
    loading: dict[str, Any],
    tell: ProgressDisplay,
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="[ROBOT] DATASET",
            help="Catalogue name or file of the robot, where fleet.toml does not name it; and a folder or address of "
            "logs: UNIT/*.parquet, unit=UNIT/*.csv, s3://...",
            autocompletion=catalogue_names,
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write tables (Parquet) and report.html.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Address of a scheduler of Dask.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes of this machine; 0 works in one.", min=0)] = None,
    sample: Annotated[int, typer.Option(help="Units that the model is chosen on.", min=1)] = 6,
    physical: Annotated[
        bool, typer.Option("--physical", help="Make the links of the pooled fit physically consistent.")
    ] = False,
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

    if len(places) > 2:
        raise typer.BadParameter(f"expected [ROBOT] DATASET, found {len(places)} words: {' '.join(places)}")
    # Condensing logs of a fleet takes long; the folder is checked first.
    check_outputs(force, folders=[] if output is None else [output])
    if watch and (output is None or checkpoint is None):
        raise typer.BadParameter("--watch updates a folder and keeps what it read: add -o DIR and --checkpoint DIR")
    robot = None if len(places) == 1 else tf.load(places[0], **loading)
    options: dict[str, Any] = {"scheduler": scheduler, "workers": workers, "sample": sample, "checkpoint": checkpoint}
    options |= {"physical": physical, "metrics": metrics, "progress": tell}
    replaces = force

    def work(logs: Dataset) -> tuple[dict[str, FleetFit], list[Path]]:
        nonlocal replaces
        found = _fleets(robot, logs, loading, options)
        written = [] if output is None else _saved(found, output, replaces)
        # From the second update on the folder is our own.
        replaces = True
        return found, written

    # For the time of this verb: the logger is the process's.
    with _json_logging() if log_json else nullcontext():
        for count, result in enumerate(_results(work, places[-1], watch, every, tell), start=1):
            found, written = result
            if not watch or count == updates:
                break
            tell(f"update {count}: {'; '.join(map(repr, found.values()))}; waiting for logs")
    pages = [_page(fit) for fit in found.values()]
    files = {"files": [str(path) for path in written]}
    # One fleet is told as itself, several by their robots.
    told = {name: page.data for name, page in zip(found, pages, strict=True)}
    data = pages[0].data if len(pages) == 1 else {"fleets": told}
    return Page({**data, **files}, tuple(shown for page in pages for shown in page.shown))


def _results(
    work: Callable[[Dataset], Result], dataset: str, watch: bool, every: float, tell: Callable[[str], None]
) -> Iterator[Result]:
    """Of the data set as it is, or again whenever it changes."""
    from tauform.fleet.sources.dataset import Dataset
    from tauform.fleet.watch import watched

    return watched(work, dataset, "unit", every, tell) if watch else map(work, [Dataset.of(dataset)])


def _fleets(
    robot: Robot | None, logs: Dataset, loading: dict[str, Any], options: dict[str, Any]
) -> dict[str, FleetFit]:
    """The fleet of a robot, or those that fleet.toml names."""
    from tauform.fleet.fleets import fleets_of
    from tauform.fleet.identify_fleet import identify_fleet

    if robot is not None:
        return {robot.name: identify_fleet(robot, logs, **options)}
    # Options of the command line stand over those of the file.
    return fleets_of(logs, lambda name: logs.load(name, **loading), **options)


def _saved(found: dict[str, FleetFit], output: Path, force: bool) -> list[Path]:
    """Written files: one folder, or one per robot within it."""
    if len(found) == 1:
        return next(iter(found.values())).save(output, force=force)
    return [path for name, fit in found.items() for path in fit.save(output / Path(name).stem, force=force)]


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


def _page(found: FleetFit) -> Page:
    from tauform.report.tables import table

    rows = [
        (
            u.unit,
            u.why,
            # The parameter that stands out most, with its distance in standard deviations.
            *u.largest(found.names, 1)[0],
            # Shares of the torque become percent here only; --json keeps shares.
            100 * u.error,
            100 * u.fleet_error,
        )
        for u in list(found.units.values())[: max(MOST_ROWS, len(found.deviating))]
    ]
    columns = ("unit", "deviates", "most in", "deviations", "error [%]", "with the fleet's values [%]")
    pooled = found.pooled
    data = {
        "pooled": {
            "error": pooled.unseen.total,
            "judged_on": pooled.unseen.source,
            "physical": pooled.physical is not None,
        },
        "units": [
            {
                "unit": u.unit,
                "deviating": u.is_deviating,
                "cause": None if u.cause is None else vars(u.cause),
                "unexplained": None if u.unexplained is None else vars(u.unexplained),
                "p_value": u.p_value,
                "error": u.error,
            }
            for u in found.units.values()
        ],
        "changes": [vars(change) for change in found.changes],
        "excluded": [dict(zip(("unit", "file", "reason"), row, strict=True)) for row in found.excluded],
        "troubles": found.troubles,
    }
    # Every log that was left out is named with its reason: silence would pass for use.
    left = len(found.units) - len(rows)
    more = [f"and {left} units that do not deviate"] if left else []
    unused = [f"{unit}: {file} was not used: {why}" for unit, file, why in found.excluded]
    words = [*more, repr(found), *found.troubles, *unused]
    return Page(data, (table("Units", columns, rows, text_columns=3), *words))
