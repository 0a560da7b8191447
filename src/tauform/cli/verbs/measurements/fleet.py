"""tauform fleet: many robots of one kind, from a folder of their logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tauform.cli.options import Force
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.verb import verb

if TYPE_CHECKING:
    from tauform.description.robot import Robot


@verb
def fleet(
    robot: Robot,
    tell: ProgressDisplay,
    dataset: Annotated[Path, typer.Argument(metavar="DATASET", help="Folder of logs: UNIT/*.parquet, unit=UNIT/*.csv")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write tables (Parquet) and report.html.")
    ] = None,
    scheduler: Annotated[str | None, typer.Option(metavar="ADDRESS", help="Of a scheduler of Dask.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes of this machine; 0 works in one.", min=0)] = None,
    sample: Annotated[int, typer.Option(help="Units that the model is chosen on.", min=1)] = 6,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep what was condensed: a later run reads new logs only.")
    ] = None,
    force: Force = False,
) -> Page:
    """Identify a fleet: one model, every unit beside it, who deviates, what changed over time."""
    import tauform as tf
    from tauform.report.tables import table

    # Condensing logs of a fleet takes long; the folder is checked first.
    check_outputs(force, folders=[] if output is None else [output])
    found = tf.identify_fleet(
        robot, dataset, scheduler=scheduler, workers=workers, sample=sample, checkpoint=checkpoint, progress=tell
    )
    written = [] if output is None else found.save(output, force=force)
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
        for u in found.units.values()
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
        "files": [str(path) for path in written],
    }
    # Every log that was left out is named with its reason: silence would pass for use.
    words = [repr(found), *(f"{unit}: {file} was not used: {why}" for unit, file, why in found.excluded)]
    return Page(data, (table("Units", columns, rows, text_columns=3), *words))
