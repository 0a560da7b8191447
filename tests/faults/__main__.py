"""Bench of faults, `make faults`: what is damaged, missing or left behind by 2,000 kills, full disks and signals."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable

import numpy as np

from faults.artefacts import Artefact, artefacts
from faults.bench import Tally, at_once, full_disks, kills
from faults.signals import LINES, interrupted

# Runs of each artefact or verb, and of artefacts that take long before they write.
KILLS, FULL_DISKS, AT_ONCE, SIGNALS, OF_LONG = 125, 12, 3, 6, 12


def main() -> int:
    """Print tables; the exit code says whether all of them are clean."""
    rng = np.random.default_rng(int(os.environ.get("FAULTS_SEED", "0")))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs this in the background has it ignored
    os.environ["CC"] = "no-such-compiler"  # self-tests of models would take most of the time

    def of_artefacts(
        bench: Callable[[Artefact, int, np.random.Generator], Tally], count: int
    ) -> Iterable[tuple[Tally, str]]:
        for artefact in artefacts():
            tally = bench(artefact, min(count, OF_LONG) if artefact.takes_long else count, rng)
            yield tally, f"{tally.refused} refused" if tally.refused else ""

    tallies = [
        *_table("kill -9 at random moments", of_artefacts(kills, KILLS)),
        *_table("disk full", of_artefacts(full_disks, FULL_DISKS)),
        *_table("two processes at once", of_artefacts(at_once, AT_ONCE)),
    ]
    del os.environ["CC"]
    tallies += _table("SIGINT, SIGTERM; slowest end", _of_verbs(rng))
    for finding in (finding for tally in tallies for finding in tally.findings):
        print(finding)
    return 0 if all(tally.is_clean for tally in tallies) else 1


def _of_verbs(rng: np.random.Generator) -> Iterable[tuple[Tally, str]]:
    for name in LINES:
        tally, slowest = interrupted(name, SIGNALS, rng)
        yield tally, f"{1e3 * slowest:.0f} ms"


def _table(title: str, rows: Iterable[tuple[Tally, str]]) -> list[Tally]:
    print(f"\n{title:34} {'runs':>6} {'damaged':>8} {'missing':>8} {'strays':>7}")
    start, tallies = time.perf_counter(), []
    for tally, more in rows:
        _row(tally, more)
        tallies.append(tally)
    fields = ("runs", "damaged", "missing", "strays")
    sums = [sum(getattr(tally, name) for tally in tallies) for name in fields]
    _row(Tally("all", *sums), f"{time.perf_counter() - start:.0f} s")
    return tallies


def _row(tally: Tally, more: str) -> None:
    print(f"{tally.name:34} {tally.runs:6} {tally.damaged:8} {tally.missing:8} {tally.strays:7}  {more}", flush=True)


def _allow_mounts() -> None:
    """Start again where small file systems can be mounted without anybody else seeing them, if that is allowed."""
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    if "FAULTS_APART" in os.environ or shutil.which("unshare") is None:
        return
    if subprocess.run([*apart, "true"], capture_output=True).returncode == 0:
        os.environ["FAULTS_APART"] = "1"
        os.execvp("unshare", [*apart, sys.executable, "-m", "faults"])


if __name__ == "__main__":
    _allow_mounts()
    sys.exit(main())
