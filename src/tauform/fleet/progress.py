"""Progress of a fleet: words with rate and remaining time, structured log records, and a Prometheus text file."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path

from tauform.errors import IdentificationError
from tauform.files.file import write_text
from tauform.fleet.evidence.summary import UnitSummary

# Records carry their figures as attributes (`extra`), as structured loggers expect.
LOGGER = logging.getLogger("tauform.fleet")
# Seconds between two versions of the metrics; scrapers look every fifteen or so.
SECONDS_PER_METRICS = 5.0


class Progress:
    """Counts what is done, and says so."""

    def __init__(self, total: int, say: Callable[[str], None], metrics: Path | None) -> None:
        self.total, self.say, self.metrics = total, say, metrics
        # Monotonic: the clock may be set while a fleet runs for hours.
        self.begun = self.written = time.monotonic()
        self.units = self.known = self.excluded = self.windows = 0
        self.seconds = 0.0
        self.troubles: list[str] = []

    def trouble(self, words: str) -> None:
        """Say what went wrong while the work goes on."""
        self.troubles.append(words)
        # Both: operators read logs, users the terminal.
        LOGGER.error(words)
        self.say(words)

    def skip(self, summary: UnitSummary | None) -> None:
        """Count a unit that a checkpoint holds."""
        self.known += 1
        self._count(summary, 0 if summary is None else len(summary.excluded))

    def add(self, name: str, summary: UnitSummary | None, n_excluded: int) -> None:
        """Count a unit that was condensed now."""
        self.units += 1
        self._count(summary, n_excluded)
        figures = {
            "unit": name,
            "windows": 0 if summary is None else summary.n_windows,
            "seconds": 0.0 if summary is None else summary.seconds,
            "excluded": n_excluded,
        }
        LOGGER.info("unit condensed", extra=figures)
        self.say(f"{self.known + self.units} of {self.total} units condensed{self._rate()}")
        if time.monotonic() - self.written > SECONDS_PER_METRICS:
            self.write()

    def excluded_log(self, unit: str, file: str, reason: str) -> None:
        """Count a log that was set aside."""
        LOGGER.warning("log excluded", extra={"unit": unit, "file": file, "reason": reason})

    def finish(self, deviating: int, changes: int) -> None:
        """Say that the comparison is made."""
        LOGGER.info("fleet compared", extra={"units": self.total, "deviating": deviating, "changes": changes})
        self.write({"deviating_units": deviating, "changes": changes})

    def write(self, further: dict[str, int] | None = None) -> None:
        """Write the metrics as a file that node_exporter's textfile collector reads.

        Raises:
            IdentificationError: it cannot be written.
        """
        if self.metrics is None:
            return
        self.written = time.monotonic()
        gauges: dict[str, float] = {
            "units": self.total,
            "units_condensed": self.known + self.units,
            "units_from_checkpoint": self.known,
            "recordings": self.windows,
            "logs_excluded": self.excluded,
            "recorded_seconds": self.seconds,
            "elapsed_seconds": self.written - self.begun,
            **(further or {}),
        }
        # One prefix, as Prometheus asks of an exporter.
        named = {f"tauform_fleet_{name}": value for name, value in gauges.items()}
        lines = [f"# TYPE {name} gauge\n{name} {value:.10g}" for name, value in named.items()]
        # Whole or not at all: a scraper may read at any moment.
        write_text(self.metrics, "\n".join(lines) + "\n", IdentificationError)

    def _count(self, summary: UnitSummary | None, n_excluded: int) -> None:
        self.excluded += n_excluded
        if summary is not None:
            self.windows += summary.n_windows
            self.seconds += summary.seconds

    def _rate(self) -> str:
        elapsed, left = time.monotonic() - self.begun, self.total - self.known - self.units
        # A rate over less says more about the start than about the work.
        if elapsed < 1.0 or not left:
            return ""
        # Of units that were read: those from checkpoints took no time.
        rate = self.units / elapsed
        return f", {rate:.3g} per second, {duration(left / rate)} left"


def duration(seconds: float) -> str:
    """Seconds in words, in the unit that people would use."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
