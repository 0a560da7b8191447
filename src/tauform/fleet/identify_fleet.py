"""identify_fleet: one model for a fleet, and every unit beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tauform.description.robot import Robot
from tauform.errors import IdentificationError, RecordingError
from tauform.files.folder import made_folder
from tauform.fleet.comparison.compare import compare_units
from tauform.fleet.evidence.condensed import Plan, UnitLogs
from tauform.fleet.evidence.store import Store
from tauform.fleet.evidence.summary import UnitSummary, condensed, imported, summarize, summarized
from tauform.fleet.evidence.thermal import thermal_of
from tauform.fleet.evidence.trends import changes_of, usual_trends
from tauform.fleet.fleet_fit import FleetFit
from tauform.fleet.pooled import pooled_fit
from tauform.fleet.progress import Progress
from tauform.fleet.sample import place_of, sampled
from tauform.fleet.sources.dataset import Dataset
from tauform.fleet.sources.joining import MAX_RATE_DIFFERENCE
from tauform.fleet.sources.reading import LogFile, name_of
from tauform.identification.fit import Fit
from tauform.scheduler import cluster, completed, dashboard, everywhere

# What is known of a unit: None without a usable log; and (mark, reason) of logs that were set aside.
_Found = tuple[UnitSummary | None, tuple[tuple[str, str], ...]]


def identify_fleet(
    robot: Robot | None,
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
        robot: geometry of all units; None takes the one that fleet.toml names.
        dataset: a folder of logs by unit or an address of fsspec (see
            `tauform.fleet.sources.dataset.Dataset.of`), or what that returned.
        by: key of partitioned folders that names the unit.
        client: a `distributed.Client`; without one, `scheduler` or processes of this machine do the work.
        scheduler: address of a scheduler of Dask.
        workers: processes of this machine; 0 works in this one.
        sample: units that the model is chosen on.
        physical: the pooled fit's links are physically consistent.
        checkpoint: folder that keeps what was condensed, so that a later run reads new and changed logs only; made if
            it does not exist.
        metrics: text file for Prometheus that says how far the run is; records of the logger `tauform.fleet` carry the
            same figures as attributes.
        progress: called with a few words, rate and remaining time among them.

    Raises:
        RecordingError: no data set, or no log of it can be read.
        IdentificationError: the logs leave parameters open, the checkpoint has no place, or the scheduler does not
            answer.
        MissingExtraError: dask is not installed and several workers are asked for.
    """
    say = progress or (lambda words: None)
    logs = dataset if isinstance(dataset, Dataset) else Dataset.of(dataset, by)
    if robot is None:
        robot, logs = _named(logs)
    # Before hours of work whose results could not be kept.
    kept = None if checkpoint is None else made_folder(checkpoint, IdentificationError)
    say(f"{len(logs.units)} units, {logs.n_files} logs; choosing the model on {min(sample, len(logs.units))} of them")
    early = None if workers == 0 else client
    # Meanwhile: workers have nothing to do until the model is chosen.
    everywhere(imported, early)
    chosen = pooled_fit(robot, logs, sample, physical, early, None if kept is None else place_of(kept, robot))
    pooled = chosen.fit
    plan = Plan.of(pooled, robot, logs.reading, chosen.own, logs.n_files)
    run = _Run(plan, logs, kept, say, metrics)
    with ExitStack() as stack:

        def client_of(waiting: object) -> Any:
            # A cluster takes seconds to start: not where nothing waits.
            nonlocal client
            if client is None and waiting and workers != 0:
                client = stack.enter_context(cluster(scheduler, workers))
                if words := dashboard(client):
                    say(words)
            return None if workers == 0 else client

        assert pooled.source is not None
        # Two rounds only where temperatures are known: friction is brought to one of them first.
        if any(segment.temperature is not None for segment in pooled.source.segments):
            run.learn_temperatures(sampled(logs, sample), client_of)
        run.condense(client_of)
    say("comparing units")
    # In the order of the data set, whichever order workers finished in.
    fleet = _compared(pooled, run.plan, {name: run.known[name] for name in logs.units}, run.counts.troubles)
    fleet = replace(fleet, excluded=(*logs.excluded, *fleet.excluded))
    run.counts.finish(len(fleet.deviating), len(fleet.changes))
    return fleet


def _named(logs: Dataset) -> tuple[Robot, Dataset]:
    """The robot of fleet.toml, and its units."""
    robots = logs.by_robot()
    if not robots:
        raise RecordingError(f'{logs.root}: no robot is given; name it, or write robot = "arm.urdf" into fleet.toml')
    if len(robots) > 1:
        raise RecordingError(
            f"{logs.root}: fleet.toml names {len(robots)} robots; tf.identify_fleets makes a fleet of each"
        )
    ((name, own),) = robots.items()
    return own.load(name), own


class _Run:
    """What is condensed, and what is left to do."""

    def __init__(
        self, plan: Plan, logs: Dataset, checkpoint: Path | None, say: Callable[[str], None], metrics: Any
    ) -> None:
        self.plan, self.logs = plan, logs
        self.store = Store(checkpoint, plan)
        self.keeps = checkpoint is not None
        self.say, self.counts = say, Progress(len(logs.units), say, None if metrics is None else Path(metrics))
        # Now: a place that cannot be written must not be found out at the end.
        self.counts.write()
        for name, file, why in logs.excluded:
            self.counts.excluded_log(name, file, why)
        self.known: dict[str, _Found] = {}
        # Evidence that was made before the summaries.
        self.early: dict[str, UnitLogs] = {}

    def learn_temperatures(self, names: Sequence[str], client_of: Callable[[object], Any]) -> None:
        """Find how friction changes with temperature, on some units."""
        self.say(f"friction over temperature, on {len(names)} units")
        before = {name: self.store.read(name) for name in names}
        for name, found in before.items():
            if found is not None and found.covers(self.logs.units[name]):
                self.early[name] = found
        waiting = {name: (name, self.logs.units[name], before[name]) for name in names if name not in self.early}

        def done(name: str, found: UnitLogs) -> None:
            self._keep(name, found)
            self.early[name] = found

        completed(condensed, self.plan, waiting, client_of(waiting), done)
        # In the order of the sample, whichever worker was first.
        self.plan = replace(self.plan, thermal=thermal_of([self.early[name] for name in names], self.plan))

    def condense(self, client_of: Callable[[object], Any]) -> None:
        """Read and summarize all units that are not known."""
        waiting: dict[str, tuple[str, Sequence[LogFile], UnitLogs | None, bool]] = {}
        for name, files in self.logs.units.items():
            before = self.early.get(name) or self.store.read(name)
            # Units whose files and model are unchanged need no worker.
            if before is not None and before.covers(files):
                self.known[name] = summarize(before, self.plan), before.excluded
                self.counts.skip(self.known[name][0])
            else:
                waiting[name] = name, files, before, self.keeps
        self.say(f"{len(self.known)} units are condensed already, {len(waiting)} to go")

        def done(name: str, result: tuple[UnitSummary | None, UnitLogs]) -> None:
            summary, found = result
            self.known[name] = summary, found.excluded
            self._keep(name, found)
            self.counts.add(name, summary, len(found.excluded))

        completed(summarized, self.plan, waiting, client_of(waiting), done)

    def _keep(self, name: str, found: UnitLogs) -> None:
        if trouble := self.store.write(found):
            self.counts.trouble(trouble)
        for mark, why in found.excluded:
            self.counts.excluded_log(name, name_of(mark), why)


def _compared(pooled: Fit, plan: Plan, logs: dict[str, _Found], troubles: Sequence[str]) -> FleetFit:
    # Units without a usable log have no values to compare; their exclusions are still told.
    used = [summary for summary, _ in logs.values() if summary is not None]
    if not used:
        reasons = {why for _, excluded in logs.values() for _, why in excluded}
        raise RecordingError(f"no log of the fleet can be used: {'; '.join(sorted(reasons)[:3])}")
    spread, units = compare_units(plan, used)
    deviating = {unit.unit for unit in units if unit.is_deviating}
    series = usual_trends([trend for unit in used for trend in unit.trends], deviating)
    # Where columns are exchanged nothing that follows means anything.
    wrong = {unit.unit for unit in units if unit.cause is not None and unit.cause.name == "swap"}
    # Corrected for the number of series: many series make a rare step likely.
    changes = changes_of([trend for trend in series if trend.unit not in wrong], len(series))
    return FleetFit(
        pooled=pooled,
        spread=spread,
        units={unit.unit: unit for unit in units},
        trends=tuple(series),
        changes=tuple(sorted(changes, key=lambda change: change.p_value)),
        excluded=tuple((name, name_of(mark), why) for name, (_, excluded) in logs.items() for mark, why in excluded),
        used=tuple((unit.unit, *log) for unit in used for log in unit.used),
        n_windows={unit.unit: unit.n_windows for unit in used},
        seconds=sum(unit.seconds for unit in used),
        troubles=(*troubles, *_other_rates(used)),
        thermal=plan.thermal,
        excerpts={unit.unit: unit.excerpt for unit in used},
    )


def _other_rates(units: Sequence[UnitSummary]) -> list[str]:
    """A sentence on logs that are sampled at another rate than most."""
    rates = [(rate, unit.unit, file) for unit in units for file, _, rate in unit.used]
    usual = float(np.median([rate for rate, _, _ in rates]))
    other = [log for log in rates if abs(log[0] / usual - 1) > MAX_RATE_DIFFERENCE]
    if not other:
        return []
    seen = ", ".join(dict.fromkeys(f"{rate:.3g}" for rate, _, _ in sorted(other)))
    return [
        f"mixed rates: most logs have {usual:.3g} samples per second, {len(other)} of {len(rates)} have {seen} (the "
        f"first is {other[0][2]} of {other[0][1]}); each was filtered at its own rate, none were joined across rates"
    ]
