"""A fleet of simulated KR6 arms on two workers of this machine: time, memory, seeded faults, one worker beside two."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tauform as tf
from tauform.scheduler import cluster
from tools.measuring.timing import Row

TITLE = (
    "Units of ten minutes at 100 Hz in four shifts, 5 % of them with a fault (`examples/fleet_data.py`): "
    "`tf.identify_fleet` with two workers beside the time that was recorded and beside one worker, without their "
    "start; and which of the seeded faults were found, and named with their joint."
)
UNITS, SECONDS, SHARE = 1000, 600.0, 0.05
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def rows() -> Iterator[Row]:
    """All figures of a thousand units."""
    yield from rows_of(UNITS)


def rows_of(units: int) -> Iterator[Row]:
    """All figures of a fleet; the data set is made anew and removed at the end."""
    sys.path.insert(0, str(EXAMPLES))
    from fleet_data import write_fleet

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        start = time.monotonic()
        write_fleet(root, units, SECONDS, share=SHARE)
        yield Row(f"making the logs of {units} units", time.monotonic() - start, None, "-")
        one = _run(root, 1)[1]
        fleet, two, memory = _run(root, 2)
        yield Row(f"{units} units, two workers", two, one, "one worker")
        note = f"{units / two:.1f} units per second"
        yield Row(f"{units} units, two workers", two, fleet.seconds, "time recorded", note=note)
        yield Row("memory of a worker, peak", memory, None, "-", unit="MB")
        yield from _faults(fleet, json.loads((root / "truth.json").read_text(encoding="utf-8")))


def _run(root: Path, workers: int) -> tuple[tf.FleetFit, float, float]:
    """The fit, seconds without the start of the workers, and the largest memory of one [MB]."""
    with cluster(None, workers) as client:
        # Imports are the cluster's, not the fleet's.
        client.run(_peak)
        start = time.monotonic()
        found = tf.identify_fleet(tf.load("kr6_r700"), root, client=client)
        return found, time.monotonic() - start, max(client.run(_peak).values())


def _peak() -> float:
    import tauform.fleet.evidence.summary  # noqa: F401  (what a task needs)

    # Not of getrusage: a new process inherits that of the one that started it.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return float(status.split("VmHWM:")[1].split()[0]) / 1e3


def _faults(fleet: tf.FleetFit, truth: list[dict[str, Any]]) -> Iterator[Row]:
    found, named, seeded = Counter[str](), Counter[str](), Counter[str]()
    changed = {change.unit for change in fleet.changes}
    for unit in truth:
        fit = fleet.units[unit["unit"]]
        seeded[unit["fault"]] += 1
        found[unit["fault"]] += fit.is_deviating or unit["unit"] in changed
        named[unit["fault"]] += fit.cause is not None and _rightly(fit.cause, unit)
    for fault in sorted(seeded.keys() - {""}):
        note = f"of {seeded[fault]} seeded; {named[fault]} named rightly"
        yield Row(f"found: {fault}", float(found[fault]), None, "-", unit="units", note=note)
    yield Row("false alarms", float(found[""]), None, "-", unit="units", note=f"of {seeded['']} healthy")


def _rightly(cause: Any, unit: dict[str, Any]) -> bool:
    """Whether a cause is the fault that was seeded, at its joint."""
    # Wear is friction that rises from shift to shift.
    name, course = ("friction", "drift") if unit["fault"] == "drift" else (unit["fault"], "constant")
    return (cause.name, cause.course) == (name, course) and (name == "payload" or unit["joint"] - 1 in cause.joints)


if __name__ == "__main__":
    from tools.measuring.results import line

    for row in rows_of(int(sys.argv[1]) if len(sys.argv) > 1 else UNITS):
        print(line(row), flush=True)
