"""Ctrl-C and SIGTERM over every verb: when it ends, how, and what it leaves."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from cli.test_outputs import FILES, FOLDERS, WRITES_NOTHING, make_place
from faults.bench import Tally
from tauform.files.manifest import foreign_files, read_manifest

SOON = 0.5  # seconds
# What verbs take that take no robot.
GIVEN: dict[str, list[str]] = {"robots": [], "cache": [], "inspect": ["log.csv"]}
# Verbs that go on until they are interrupted.
ENDLESS: dict[str, list[str]] = {
    "studio": ["studio", "two_link", "--port", "0"],
    "fleet --watch": ["fleet", "two_link", ".", "--workers", "0", "--watch", "--checkpoint", "kept", "-o", "out"],
}
LINES = {
    **{name: [*line, "out"] for name, line in FOLDERS.items()},
    **FILES,
    **{name: [name, *GIVEN.get(name, ["two_link"])] for name in sorted(WRITES_NOTHING - {"studio"})},
    **ENDLESS,
    "model of a KR6": ["model", "kr6_r700", "-o", "out"],
    "bench of a KR6": ["bench", "kr6_r700"],
    "excite of a KR6": ["excite", "kr6_r700", "-o", "out.csv"],
}


def interrupted(name: str, count: int, rng: np.random.Generator) -> tuple[Tally, float]:
    """Signals at random moments of a verb, and the longest time that it took to end."""
    tally, slowest = Tally(name), 0.0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "place"
        seconds = _usual_seconds(name, place)
        for k in range(count):
            number = (signal.SIGINT, signal.SIGTERM)[k % 2]
            _fresh(place)
            code, err, took = _signalled(name, place, number, rng.uniform(0, seconds), to_group=k % 4 < 2)
            slowest = max(slowest, took)
            if code not in (0, 1, 128 + number) or "Traceback" in err:
                tally.findings.append(f"{name}: ended with {code} after {number.name}: {err[-200:]}")
            if took > SOON:
                tally.findings.append(f"{name}: ended {took:.2f} s after {number.name}")
            tally.count(_fault(place), [str(path) for path in Path(folder).rglob(".tauform-*")])
    return tally, slowest


def _fresh(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    for name in ("temporary", "kept"):
        (place / name).mkdir(parents=True)
    make_place(place)


def _start(name: str, place: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "TMPDIR": str(place / "temporary"), "TAUFORM_CACHE": str(place / "cache")}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-m", "tauform", *LINES[name], "--quiet"],
        cwd=place,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _usual_seconds(name: str, place: Path) -> float:
    if name in ENDLESS:
        return 8.0
    _fresh(place)
    start = time.perf_counter()
    process = _start(name, place)
    _, err = process.communicate()
    assert process.returncode == 0, (name, err)
    return min(time.perf_counter() - start, 20.0)


def _signalled(
    name: str, place: Path, number: signal.Signals, seconds: float, to_group: bool
) -> tuple[int, str, float]:
    """Exit code, standard error and the seconds from the signal to the end."""
    process = _start(name, place)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and not children.read_text():  # before that, Python itself is starting
        time.sleep(0.002)
    time.sleep(seconds)
    start = time.perf_counter()
    with suppress(ProcessLookupError):  # it was quicker
        (os.killpg if to_group else os.kill)(process.pid, number)
    _, err = process.communicate()
    return process.returncode, err, time.perf_counter() - start


def _fault(place: Path) -> str:
    """Whether what was to be written is there as a half."""
    for path in place.glob("out*"):
        if path.is_dir() and (read_manifest(path) is None or next(foreign_files(path), None) is not None):
            return "damaged"
        if path.is_file() and not path.stat().st_size:
            return "damaged"
    return ""
