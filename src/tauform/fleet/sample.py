"""The logs that a fleet's model is chosen on: spread over its units, and the same ones in later runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.files.file import write_text
from tauform.fleet.sources.dataset import Dataset
from tauform.fleet.sources.reading import LogFile

# A unit, and those of its logs of which the first recording that can be read is taken.
Tried = tuple[str, Sequence[LogFile]]


def sampled(logs: Dataset, count: int) -> list[str]:
    """Some units."""
    names = list(logs.units)
    # Evenly over the names: neighbours may come from one hall or one batch.
    return [names[k] for k in np.unique(np.linspace(0, len(names) - 1, max(1, count)).astype(int))]


def place_of(folder: Path, robot: Robot) -> Path:
    """The file of a fleet among its checkpoints; fleets of several robots may share the folder."""
    return folder / f"sample_{hashlib.sha256(robot.parameters.tobytes()).hexdigest()[:16]}.json"


def tried(logs: Dataset, count: int, kept: Path | None) -> list[Tried]:
    """Logs to choose the model on: those of an earlier run as long as all are there, so that a new unit changes none.

    Another model would have every log of the fleet condensed again.

    Args:
        kept: file of that run.
    """
    names = sampled(logs, count)
    known = {(name, file.mark): file for name, files in logs.units.items() for file in files}
    try:
        held = {} if kept is None else json.loads(kept.read_bytes())
        # A fleet that has grown from a few units is asked anew.
        if held["units"] == len(names) and held["logs"]:
            return [(name, [known[name, mark] for mark in marks]) for name, marks in held["logs"]]
    # None yet, one that is damaged, or of logs that are gone.
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return [(name, logs.units[name]) for name in names]


def keep_sample(found: Sequence[Tried], n_units: int, kept: Path | None) -> None:
    """Keep for later runs which logs were taken, out of so many units."""
    if kept is None:
        return
    text = json.dumps({"units": n_units, "logs": [(name, [file.mark for file in files]) for name, files in found]})
    # A full disk is told with the first unit that cannot be kept.
    with suppress(IdentificationError):
        write_text(kept, text + "\n", IdentificationError)
