"""Every long sweep, one after the other, and a table of how each ended: `make nightly`.

A stage that fails does not stop the next. What each printed is kept in build/nightly/.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "nightly"
# Targets of the Makefile, and what each shows.
STAGES = {
    "test": "lint, types, and what CI runs",
    "sweeps": "every case of what CI samples",
    "coretypes": "the same texts on every kind of processor",
    "fuzz": "damaged files and odd command lines",
    "faults": "kills, full disks, signals",
    "verdicts": "seeded faults of logs: named, missed, false alarms",
    "lowest": "the oldest dependencies",
    "docs": "the pages, warnings as errors",
}
# No stage takes half of this; one that hangs does not keep the others from running.
MOST_MINUTES = 40
STOPPED = 124
# Programs of Debian that tests and sweeps try written code and pages with, and their packages.
PROGRAMS = {
    "gcc": "gcc",
    "g++": "g++",
    "clang": "clang",
    "cmake": "cmake",
    "chromium": "chromium",
    "node": "nodejs",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "aarch64-linux-gnu-gcc": "gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    "riscv64-linux-gnu-gcc": "gcc-riscv64-linux-gnu libc6-dev-riscv64-cross",
    "qemu-aarch64": "qemu-user",
    "qemu-system-arm": "qemu-system-arm",
    "cppcheck": "cppcheck",
    "gappa": "gappa",
    "clinfo": "clinfo pocl-opencl-icd",
    "wasm-ld": "lld",
    "octave-cli": "octave",
}
COUNTS = re.compile(r"^=*\s*((?:\d+ \w+, )*\d+ passed[^=\n]*?) in [\d.]+s", re.MULTILINE)
TABLE = re.compile(r"^all +\d+.*$", re.MULTILINE)


def counts(text: str) -> str:
    """What a stage printed about itself: tests by how they ended, and sums of the tables of faults."""
    return "\n".join([*COUNTS.findall(text), *(" ".join(row.split()) for row in TABLE.findall(text))])


def install() -> None:
    """Install what is missing where that can be done; tests skip what they do not find."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--editable", f"{ROOT}[targets]"]
    subprocess.run(pip, check=False)
    missing = [packages.split() for program, packages in PROGRAMS.items() if not shutil.which(program)]
    if not missing or not shutil.which("apt-get") or os.geteuid() != 0:
        return
    subprocess.run(["apt-get", "-qq", "update"], check=False)
    for packages in missing:  # one that is not to be had keeps no other away
        command = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *packages]
        subprocess.run(command, check=False, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def ended(command: list[str], log: IO[str], seconds: float) -> int:
    """Exit code of a command; after so many seconds it is stopped, with all that it started."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        return STOPPED
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def run(stage: str) -> tuple[int, float, str]:
    """Exit code, seconds and counts of one stage."""
    LOGS.mkdir(parents=True, exist_ok=True)
    path, start = LOGS / f"{stage}.log", time.monotonic()
    with path.open("w", encoding="utf-8") as log:
        code = ended(["make", stage], log, 60 * MOST_MINUTES)
    return code, time.monotonic() - start, counts(path.read_text(encoding="utf-8", errors="replace"))


def main(chosen: list[str]) -> int:
    """Run the chosen stages, or all, and print the table; the exit code says whether all of them passed."""
    unknown = set(chosen) - set(STAGES)
    if unknown:
        print(f"no stage {', '.join(sorted(unknown))}; choose from {', '.join(STAGES)}", file=sys.stderr)
        return 2
    console, failed = Console(width=int(os.environ.get("COLUMNS") or 110)), False
    install()
    table = Table("stage", "what", "result", "counts", "minutes")
    for stage in chosen or list(STAGES):
        console.print(f"make {stage} ...")
        code, seconds, text = run(stage)
        failed |= code != 0
        result = {0: "passed", STOPPED: f"stopped after {MOST_MINUTES} min"}.get(code, f"exit code {code}")
        table.add_row(stage, STAGES[stage], result, text, f"{seconds / 60:.1f}")
    console.print(table)
    if failed:
        console.print(f"logs: {LOGS.relative_to(ROOT)}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
