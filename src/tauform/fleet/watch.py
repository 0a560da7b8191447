"""watch_fleet: a data set that grows; every time it has changed and settled, the fleet is identified again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from tauform.description.robot import Robot
from tauform.errors import IdentificationError, TauformError
from tauform.fleet.fleet_fit import FleetFit
from tauform.fleet.identify_fleet import identify_fleet
from tauform.fleet.progress import LOGGER
from tauform.fleet.sources.dataset import Dataset
from tauform.wording import argument

Result = TypeVar("Result")


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

    A change counts once two looks in succession agree, so that files which are still being written are left alone. What
    fails later than the first time, a folder that cannot be read or a disk that is full, is told by `progress` and the
    logger `tauform.fleet`, and tried again.

    Args:
        robot, dataset, by: as in `identify_fleet`.
        checkpoint: folder that keeps what was condensed; made if it does not exist.
        every: seconds between two looks.
        options: further ones of `identify_fleet`.

    Raises:
        IdentificationError: no place for checkpoints, or `every` is no time; and what `identify_fleet` raises first.
    """

    def work(logs: Dataset) -> FleetFit:
        return identify_fleet(robot, logs, by, checkpoint=checkpoint, **options)

    yield from watched(work, dataset, by, every, options.get("progress"))


def watched(
    work: Callable[[Dataset], Result],
    dataset: str | Path,
    by: str,
    every: float,
    say: Callable[[str], None] | None = None,
) -> Iterator[Result]:
    """Results of work on the data set as it is now, and again whenever it has changed and two looks agree.

    Args:
        say: told what failed after the first result, and is tried again.

    Raises:
        IdentificationError: `every` is no time.
        TauformError: the data set cannot be read, or the work fails, before there is a result.
    """
    if not 0 <= every < float("inf"):
        raise IdentificationError(f"{argument('every', every)}: seconds between two looks, not less than 0")
    seen: Any = None
    done: Any = None
    while True:
        try:
            logs = Dataset.of(dataset, by)
            # Settings count too: other units or gains change every value.
            state = ({name: [file.mark for file in files] for name, files in logs.units.items()}, logs.settings)
            if state == seen and state != done:
                result = work(logs)
                done = state
                yield result
                # The next look comes at once: much may have arrived meanwhile.
                continue
            seen = state
        except TauformError as error:
            # At first it is a mistake in the command; later an empty folder, a full disk, a storage that is away.
            if done is None:
                raise
            LOGGER.error(words := f"{error}; trying again")
            (say or str)(words)
        time.sleep(every)
