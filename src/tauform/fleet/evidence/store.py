"""Checkpoints: condensed logs on disk, so that a later run reads new and changed logs only."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from tauform.errors import IdentificationError
from tauform.files.file import fresh_file
from tauform.fleet.evidence.condensed import Plan, UnitLogs, arrays_of, unpacked
from tauform.version import __version__


class Store:
    """Condensed logs of units, by the model that they were condensed with; without a folder it keeps nothing."""

    def __init__(self, folder: Path | None, plan: Plan) -> None:
        self.folder = folder
        self.shape = plan.shape
        design = plan.source.design
        # All that decides the triangles: a change in any of these must miss the old checkpoint.
        told = (__version__, design.names, design.widths, plan.source.filters, plan.reading)
        self.plan = repr(told).encode() + plan.robot.parameters.tobytes() + plan.values.tobytes()

    def read(self, unit: str) -> UnitLogs | None:
        """What was condensed of a unit before, whatever its files were then."""
        if self.folder is None:
            return None
        try:
            return unpacked(unit, self._path(unit).read_bytes(), self.shape)
        # No checkpoint yet, or one that cannot be read: the logs are condensed again.
        except OSError:
            return None

    def write(self, logs: UnitLogs) -> str:
        """Keep a unit's evidence; returns why it could not be, such as a full disk: hours of work go on without."""
        if self.folder is None:
            return ""
        try:
            with fresh_file(self._path(logs.unit), IdentificationError) as file:
                np.savez(file, **arrays_of(logs))
        except IdentificationError as error:
            # No further attempts: each would fail alike, once per unit.
            folder, self.folder = self.folder, None
            return (
                f"{folder}: checkpoints end with unit {logs.unit}, later ones are read again by the next run: {error}"
            )
        return ""

    def _path(self, unit: str) -> Path:
        assert self.folder is not None
        # Not .npz, which it is: where checkpoints stand among the logs, the next run would take them for some.
        return self.folder / (hashlib.sha256(self.plan + unit.encode()).hexdigest() + ".evidence")
