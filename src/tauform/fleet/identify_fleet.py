"""identify_fleet: one model for a fleet, and every unit beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tauform.description.robot import Robot
from tauform.errors import IdentificationError, RecordingError
from tauform.fleet.comparison.compare import compare_units
from tauform.fleet.evidence.condensed import Plan, UnitLogs
from tauform.fleet.evidence.dataset import Dataset, name_of
from tauform.fleet.evidence.store import Store
from tauform.fleet.evidence.summary import UnitSummary, summarize, summarized
from tauform.fleet.evidence.trends import change_of
from tauform.fleet.fleet_fit import FleetFit
from tauform.fleet.pooled import pooled_fit
from tauform.fleet.progress import Progress
from tauform.fleet.scheduler import cluster, completed, dashboard
from tauform.identification.fit import Fit

# What is known of a unit: None without a usable log; and (mark, reason) of logs that were set aside.
_Found = tuple[UnitSummary | None, tuple[tuple[str, str], ...]]


def identify_fleet(
    robot: Robot,
    dataset: str | Path | Dataset,
    by: str = "unit",
    client: Any = None,
    *,
    scheduler: str | None = None,
    workers: int | None = None,
    sample: int = 6,
    physical: bool = False,
    checkpoint: str | Path | None = None,
    metrics: str | Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> FleetFit:
    """Identify a fleet of robots of one kind from a folder of logs.

    Terms and filters are chosen once, on a sample of units; then every unit's logs are condensed to small triangles on
    any number of workers, and all estimates are made from these.

    Args:
        robot: geometry of all units.
        dataset: a folder of logs by unit or an address of fsspec (see
            `tauform.fleet.evidence.dataset.Dataset.of`), or what that returned.
        by: key of partitioned folders that names the unit.
        client: a `distributed.Client`; without one, `scheduler` or processes of this machine do the work.
        scheduler: address of a scheduler of Dask.
        workers: processes of this machine; 0 works in this one.
        sample: units that the model is chosen on.
        physical: the pooled fit's links are physically consistent.
        checkpoint: folder that keeps what was condensed, so that a later run reads new and changed logs only.
        metrics: text file for Prometheus that says how far the run is; records of the logger `tauform.fleet` carry the
            same figures as attributes.
        progress: called with a few words, rate and remaining time among them.

    Raises:
        RecordingError: no data set, or no log of it can be read.
        IdentificationError: the logs leave parameters open, or the scheduler does not answer.
        MissingExtraError: dask is not installed and several workers are asked for.
    """
    say = progress or (lambda words: None)
    # Before hours of work whose results could not be kept.
    if checkpoint is not None and not Path(checkpoint).is_dir():
        raise IdentificationError(f"{checkpoint}: no such folder for checkpoints; make it first")
    logs = dataset if isinstance(dataset, Dataset) else Dataset.of(dataset, by)
    say(f"{len(logs.units)} units, {logs.n_files} logs; choosing the model on {min(sample, len(logs.units))} of them")
    pooled = pooled_fit(robot, logs, sample, physical)
    plan = Plan.of(pooled, robot, logs.reading, logs.n_files)
    store = Store(None if checkpoint is None else Path(checkpoint), plan)
    counts = Progress(len(logs.units), say, None if metrics is None else Path(metrics))
    # Now: a place that cannot be written must not be found out at the end.
    counts.write()
    known: dict[str, _Found] = {}
    waiting: dict[str, tuple[Any, ...]] = {}
    for name, files in logs.units.items():
        before = store.read(name)
        # Units whose files and model are unchanged need no worker.
        if before is not None and before.covers(files):
            known[name] = summarize(before, plan), before.excluded
            counts.skip(known[name][0])
        else:
            waiting[name] = name, files, before, checkpoint is not None
    say(f"{len(known)} units are condensed already, {len(waiting)} to go")

    def done(name: str, result: tuple[UnitSummary | None, UnitLogs]) -> None:
        summary, found = result
        known[name] = summary, found.excluded
        if trouble := store.write(found):
            counts.trouble(trouble)
        for mark, why in found.excluded:
            counts.excluded_log(name, name_of(mark), why)
        counts.add(name, summary, len(found.excluded))

    with ExitStack() as stack:
        # A cluster takes seconds to start: not where nothing waits.
        if client is None and waiting and workers != 0:
            client = stack.enter_context(cluster(scheduler, workers))
        client = None if workers == 0 else client
        if waiting and (words := dashboard(client)):
            say(words)
        completed(summarized, plan, waiting, client, done)
    say("comparing units")
    # In the order of the data set, whichever order workers finished in.
    fleet = _compared(pooled, plan, {name: known[name] for name in logs.units}, counts.troubles)
    counts.finish(len(fleet.deviating), len(fleet.changes))
    return fleet


def _compared(pooled: Fit, plan: Plan, logs: dict[str, _Found], troubles: Sequence[str]) -> FleetFit:
    # Units without a usable log have no values to compare; their exclusions are still told.
    used = [summary for summary, _ in logs.values() if summary is not None]
    if not used:
        reasons = {why for _, excluded in logs.values() for _, why in excluded}
        raise RecordingError(f"no log of the fleet can be used: {'; '.join(sorted(reasons)[:3])}")
    spread, units = compare_units(plan, used)
    series = [trend for unit in used for trend in unit.trends]
    # Where columns are exchanged nothing that follows means anything.
    wrong = {unit.unit for unit in units if unit.cause is not None and unit.cause.name == "swap"}
    # Corrected for the number of series: many series make a rare step likely.
    found = (change_of(trend, len(series)) for trend in series if trend.unit not in wrong)
    changes = [change for change in found if change is not None]
    return FleetFit(
        pooled=pooled,
        spread=spread,
        units={unit.unit: unit for unit in units},
        trends=tuple(series),
        changes=tuple(sorted(changes, key=lambda change: change.p_value)),
        excluded=tuple((name, name_of(mark), why) for name, (_, excluded) in logs.items() for mark, why in excluded),
        n_windows={unit.unit: unit.n_windows for unit in used},
        seconds=sum(unit.seconds for unit in used),
        troubles=tuple(troubles),
        excerpts={unit.unit: unit.excerpt for unit in used},
    )
