"""watch_fleet: a data set that grows; every time it has changed and settled, the fleet is identified again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.fleet.fleet_fit import FleetFit
from tauform.fleet.identify_fleet import identify_fleet
from tauform.fleet.sources.dataset import Dataset
from tauform.wording import argument


def watch_fleet(
    robot: Robot | None,
    dataset: str | Path,
    checkpoint: str | Path,
    by: str = "unit",
    *,
    every: float = 60.0,
    **options: Any,
) -> Iterator[FleetFit]:
    """Identify a fleet whenever its data set has changed; only new and changed logs are read.

    A change counts once two looks in succession agree, so that files which are still being written are left alone.

    Args:
        robot, dataset, by: as in `identify_fleet`.
        checkpoint: folder that keeps what was condensed.
        every: seconds between two looks.
        options: further ones of `identify_fleet`.

    Raises:
        IdentificationError: no folder for checkpoints, or `every` is no time; and what `identify_fleet` raises.
    """
    for logs in settled(dataset, by, every):
        yield identify_fleet(robot, logs, by, checkpoint=checkpoint, **options)


def settled(dataset: str | Path, by: str, every: float) -> Iterator[Dataset]:
    """The data set as it is now, and again whenever it has changed and two looks agree.

    Raises:
        IdentificationError: `every` is no time.
    """
    if not 0 <= every < float("inf"):
        raise IdentificationError(f"{argument('every', every)}: seconds between two looks, not less than 0")
    seen: Any = None
    done: Any = None
    while True:
        logs = Dataset.of(dataset, by)
        # Settings count too: other units or gains change every value.
        state = ({name: [file.mark for file in files] for name, files in logs.units.items()}, logs.settings)
        if state == seen and state != done:
            done = state
            yield logs
            # The next look comes at once: much may have arrived meanwhile.
            continue
        seen = state
        time.sleep(every)
