"""tauform inspect: what a log holds, without a robot."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.verb import verb


@verb
def inspect(
    tell: ProgressDisplay,
    logs: Annotated[list[Path], typer.Argument(metavar="LOG", help="Recordings: .csv .npz .parquet .mat .db3 .mcap")],
    topic: Annotated[str | None, typer.Option(metavar="TOPIC", help="Topic of a bag with several.")] = None,
) -> Page:
    """Look at logs: columns, rates, ranges, what each column likely holds, and the options that read it."""
    import tauform as tf

    found = []
    for path in logs:
        tell(f"reading {path.name}")
        found.append(tf.inspect_log(path, topic=topic))
    data = [{**asdict(log), "clock": None if log.clock is None else asdict(log.clock)} for log in found]
    return Page(data, tuple(part for log in found for part in _shown(log)))


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
