"""FleetFit: a fleet's model, its units beside it, what changed, and what was not used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.deferred import deferred
from tauform.description.robot import Robot
from tauform.fleet.comparison.compare import UnitFit
from tauform.fleet.comparison.reference import Reference
from tauform.fleet.evidence.condensed import Thermal
from tauform.fleet.evidence.trends import Change, Trend
from tauform.identification.fit import Fit
from tauform.messages import counted, no_such


@dataclass(frozen=True, eq=False, repr=False)
class FleetFit:
    """Result of `identify_fleet`: the pooled model, units, trends and changes.

    Attributes:
        pooled: the fit that terms and filters were chosen in; its values are those of the logs it was made from.
        spread: mean of the values over all units, and their spread between units.
        units: by name, most deviating first.
        trends: friction, offsets, gains and payload over time.
        changes: steps and drifts in these.
        excluded: (unit, file, reason) of logs that were not used.
        used: (unit, file, start of its recording [s], samples per second) of the others.
        n_windows: unit -> recordings that were used.
        seconds: of motion that was used.
        excerpts: unit -> (m, 1 + 2n) the beginning of its last recording: time, measured torques, and those that the
            pooled model predicts.
        troubles: what is to know beside that: mixed rates, a disk too full for checkpoints.
        thermal: how friction changes with temperature, which was taken off; None where it is not known.
    """

    pooled: Fit
    spread: Reference
    units: Mapping[str, UnitFit]
    trends: tuple[Trend, ...]
    changes: tuple[Change, ...]
    excluded: tuple[tuple[str, str, str], ...]
    n_windows: Mapping[str, int]
    seconds: float
    troubles: tuple[str, ...] = ()
    used: tuple[tuple[str, str, float, float], ...] = ()
    thermal: Thermal | None = None
    excerpts: Mapping[str, Array] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the values."""
        return self.pooled.names

    @property
    def deviating(self) -> tuple[UnitFit, ...]:
        """Units that deviate from the fleet at the stated rate of false alarms."""
        return tuple(unit for unit in self.units.values() if unit.is_deviating)

    def unit(self, name: str) -> UnitFit:
        """A unit by name.

        Raises:
            UnknownNameError: no such unit.
        """
        if name not in self.units:
            raise no_such("unit", name, self.units)
        return self.units[name]

    def robot_of(self, name: str) -> Robot:
        """The robot with a unit's values; see `Fit.identified_robot`."""
        found = self.unit(name)
        # A unit keeps standard deviations only, so that its covariance is diagonal.
        covariance = np.diag(found.deviations**2)
        # physical=None: consistency was found for the pooled values, not for these.
        return replace(self.pooled, values=found.values, covariance=covariance, physical=None).identified_robot

    def save(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Write units, values, trends, changes and exclusions as Parquet tables, report.html and units.html.

        Raises:
            MissingExtraError: pyarrow is not installed.
            GenerationError: the folder is not ours or cannot be written.
        """
        return deferred("FleetFit.save")(self, Path(folder), force)

    def __repr__(self) -> str:
        return (
            f"FleetFit({self.pooled.robot.name!r}, {counted(len(self.units), 'unit')}, {self.seconds / 3600:.3g} h, "
            f"{len(self.deviating)} deviating, {counted(len(self.changes), 'change')}, {len(self.excluded)} logs out)"
        )


def rows_of(fit: FleetFit) -> dict[str, dict[str, list[Any]]]:
    """Tables of a fleet: name -> column -> values."""
    units = list(fit.units.values())
    table: dict[str, dict[str, list[Any]]] = {
        "units": {
            "unit": [u.unit for u in units],
            "deviating": [u.is_deviating for u in units],
            "p_value": [u.p_value for u in units],
            "error": [u.error for u in units],
            "fleet_error": [u.fleet_error for u in units],
            "windows": [fit.n_windows[u.unit] for u in units],
            # The value that stands out most, so that a table can be sorted by cause.
            "largest": [u.largest(fit.names, 1)[0][0] for u in units],
            "largest_z": [u.largest(fit.names, 1)[0][1] for u in units],
            "cause": ["" if u.cause is None else str(u.cause) for u in units],
            "cause_size": [None if u.cause is None else u.cause.size for u in units],
            "cause_deviation": [None if u.cause is None else u.cause.deviation for u in units],
            "cause_course": ["" if u.cause is None else u.cause.course for u in units],
            "cause_at": [None if u.cause is None else u.cause.at for u in units],
            "unexplained_joint": [None if u.unexplained is None else u.unexplained.joint + 1 for u in units],
            "unexplained_share": [None if u.unexplained is None else u.unexplained.share for u in units],
        },
        "values": {
            # Long form: a row per unit and value, as tables of data frames are.
            "unit": [u.unit for u in units for _ in fit.names],
            "value": [name for _ in units for name in fit.names],
            "estimate": [float(x) for u in units for x in u.values],
            "deviation": [float(x) for u in units for x in u.deviations],
            "from_logs": [float(x) for u in units for x in u.from_logs],
            "z": [float(x) for u in units for x in u.z],
            "fleet": [float(x) for _ in units for x in fit.spread.mean],
            "fleet_spread": [float(x) for _ in units for x in fit.spread.between],
        },
        "trends": {
            "unit": [t.unit for t in fit.trends for _ in t.start],
            "value": [t.value for t in fit.trends for _ in t.start],
            "start": [float(x) for t in fit.trends for x in t.start],
            "estimate": [float(x) for t in fit.trends for x in t.values],
            "deviation": [float(x) for t in fit.trends for x in t.deviations],
        },
        "changes": {
            name: [getattr(c, name) for c in fit.changes]
            for name in ("unit", "value", "course", "at", "before", "after", "p_value")
        },
        "excluded": {name: [row[k] for row in fit.excluded] for k, name in enumerate(("unit", "file", "reason"))},
        "used": {name: [row[k] for row in fit.used] for k, name in enumerate(("unit", "file", "start", "rate"))},
    }
    return table
