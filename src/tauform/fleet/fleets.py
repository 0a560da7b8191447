"""identify_fleets: a data set of several robots, a fleet of each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.fleet.fleet_fit import FleetFit
from tauform.fleet.identify_fleet import identify_fleet
from tauform.fleet.sources.dataset import Dataset
from tauform.scheduler import cluster


def identify_fleets(
    dataset: str | Path | Dataset, by: str = "unit", client: Any = None, **options: Any
) -> dict[str, FleetFit]:
    """Identify every fleet of a data set whose fleet.toml names the robots of its units.

    Args:
        dataset, by, client: as in `identify_fleet`.
        options: further ones of `identify_fleet`; `metrics` becomes one file per robot where there are several.

    Returns:
        Fleets by robot, as fleet.toml spells it.

    Raises:
        RecordingError: fleet.toml names no robot; and what `identify_fleet` raises.
    """
    logs = dataset if isinstance(dataset, Dataset) else Dataset.of(dataset, by)
    return fleets_of(logs, logs.load, client, **options)


def fleets_of(logs: Dataset, load: Callable[[str], Robot], client: Any = None, **options: Any) -> dict[str, FleetFit]:
    """See `identify_fleets`; `load` makes robots of their names."""
    robots = logs.by_robot()
    if not robots:
        raise RecordingError(f'{logs.root}: no robot is given; name it, or write robot = "arm.urdf" into fleet.toml')
    # All before the first hours of work.
    loaded = {name: load(name) for name in robots}
    found: dict[str, FleetFit] = {}
    with ExitStack() as stack:
        # One cluster for all of them: it takes seconds to start.
        if client is None and len(robots) > 1 and options.get("workers") != 0:
            client = stack.enter_context(cluster(options.get("scheduler"), options.get("workers")))
        for name, own in robots.items():
            several = {} if len(robots) == 1 else {"metrics": _beside(options.get("metrics"), name)}
            found[name] = identify_fleet(loaded[name], own, client=client, **{**options, **several})
    return found


def _beside(metrics: str | Path | None, robot: str) -> Path | None:
    return None if metrics is None else Path(metrics).with_stem(f"{Path(metrics).stem}_{Path(robot).stem}")
