"""identify_fleet: one model for a fleet, and every unit beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from tauform.description.robot import Robot
from tauform.errors import IdentificationError, RecordingError, TauformError
from tauform.files.file import fresh_file
from tauform.fleet.compare import compare_units
from tauform.fleet.condensed import Plan, UnitLogs, arrays_of, merged, unpacked
from tauform.fleet.dataset import Dataset, LogFile
from tauform.fleet.fleet_fit import FleetFit
from tauform.fleet.scheduler import cluster, condensed_units
from tauform.fleet.trends import change_of, trends
from tauform.identification.fit import Fit
from tauform.identification.identify import identify
from tauform.identification.logs.read import read_recording
from tauform.identification.recording.recording import Recording
from tauform.version import __version__


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
    progress: Callable[[str], None] | None = None,
) -> FleetFit:
    """Identify a fleet of robots of one kind from a folder of logs.

    Terms and filters are chosen once, on a sample of units; then every unit's logs are condensed to small triangles on
    any number of workers, and all estimates are made from these.

    Args:
        robot: geometry of all units.
        dataset: a folder of logs by unit (see `tauform.fleet.dataset.Dataset.of`), or what that returned.
        by: key of partitioned folders that names the unit.
        client: a `distributed.Client`; without one, `scheduler` or processes of this machine do the work.
        scheduler: address of a scheduler of Dask.
        workers: processes of this machine; 0 works in this one.
        sample: units that the model is chosen on.
        physical: the pooled fit's links are physically consistent.
        checkpoint: folder that keeps what was condensed, so that a later run reads new and changed logs only.
        progress: called with a few words.

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
    pooled = _pooled(robot, logs, sample, physical)
    plan = Plan.of(pooled, robot, logs.reading)
    store = _Store(None if checkpoint is None else Path(checkpoint), plan)
    # Units whose files and model are unchanged need no worker.
    known = {name: found for name, files in logs.units.items() if (found := store.read(name, files)) is not None}
    waiting = {name: [file.path for file in files] for name, files in logs.units.items() if name not in known}
    say(f"{len(known)} units are condensed already, {len(waiting)} to go")

    def done(found: UnitLogs) -> None:
        known[found.unit] = found
        store.write(found, logs.units[found.unit])
        say(f"{len(known)} of {len(logs.units)} units condensed")

    with ExitStack() as stack:
        # A cluster takes seconds to start: not where nothing waits.
        if client is None and waiting and workers != 0:
            client = stack.enter_context(cluster(scheduler, workers))
        condensed_units(waiting, plan, client if workers != 0 else None, done)
    say("comparing units")
    # In the order of the data set, whichever order workers finished in.
    return _compared(pooled, {name: known[name] for name in logs.units})


def _pooled(robot: Robot, logs: Dataset, sample: int, physical: bool) -> Fit:
    """The fit of one log each of some units, spread over the fleet: what is common is seen in any of them."""
    names = list(logs.units)
    # Evenly over the names: neighbours may come from one hall or one batch.
    chosen = [names[k] for k in np.unique(np.linspace(0, len(names) - 1, max(1, sample)).astype(int))]
    recordings: list[Recording] = []
    refused = ""
    for name in chosen:
        for file in logs.units[name]:
            try:
                recordings.append(read_recording(file.path, robot, **logs.reading))
                # One readable log per unit is enough to choose terms.
                break
            except TauformError as error:
                refused = str(error)
    if not recordings:
        raise RecordingError(f"{logs.root}: none of the logs that were tried can be read; the last one: {refused}")
    return identify(robot, recordings, physical=physical)


class _Store:
    """Condensed logs on disk, by what they were made from."""

    def __init__(self, folder: Path | None, plan: Plan) -> None:
        self.folder = folder
        design = plan.source.design
        self.shape = (design.robot.n_joints, design.n_columns)
        # All that decides the triangles: a change in any of these must miss the old checkpoint.
        told = (
            __version__,
            design.names,
            design.widths,
            plan.source.filters,
            dict(plan.reading),
            plan.robot.parameters.tobytes(),
        )
        self.plan = repr(told)

    def read(self, unit: str, files: tuple[LogFile, ...]) -> UnitLogs | None:
        if self.folder is None:
            return None
        try:
            return unpacked(unit, (self.folder / self._name(unit, files)).read_bytes(), self.shape)
        # No checkpoint yet, or one that cannot be read: the logs are condensed again.
        except OSError:
            return None

    def write(self, logs: UnitLogs, files: tuple[LogFile, ...]) -> None:
        if self.folder is not None:
            with fresh_file(self.folder / self._name(logs.unit, files), IdentificationError) as file:
                np.savez(file, **arrays_of(logs))

    def _name(self, unit: str, files: tuple[LogFile, ...]) -> str:
        # Size and time of change stand for the contents, which would take as long to hash as to read.
        held = repr((self.plan, unit, [(file.path.name, file.size, file.changed) for file in files]))
        return hashlib.sha256(held.encode()).hexdigest() + ".npz"


def _compared(pooled: Fit, logs: dict[str, UnitLogs]) -> FleetFit:
    # Units without a usable log have no values to compare; their exclusions are still told.
    used = {name: found for name, found in logs.items() if found.windows}
    if not used:
        reasons = {why for found in logs.values() for _, why in found.excluded}
        raise RecordingError(f"no log of the fleet can be used: {'; '.join(sorted(reasons)[:3])}")
    evidence = {name: merged([window.evidence for window in found.windows]) for name, found in used.items()}
    spread, units = compare_units(pooled, evidence)
    values = {unit.unit: unit.values for unit in units}
    series = [trend for name, found in used.items() for trend in trends(name, found.windows, values[name], pooled)]
    # Corrected for the number of series: many series make a rare step likely.
    changes = [change for trend in series if (change := change_of(trend, len(series))) is not None]
    return FleetFit(
        pooled=pooled,
        spread=spread,
        units={unit.unit: unit for unit in units},
        trends=tuple(series),
        changes=tuple(sorted(changes, key=lambda change: change.p_value)),
        excluded=tuple((name, file, why) for name, found in logs.items() for file, why in found.excluded),
        n_windows={name: len(found.windows) for name, found in used.items()},
        seconds=sum(window.end - window.start for found in used.values() for window in found.windows),
    )
