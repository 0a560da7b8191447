"""The table of the long sweeps: what it takes from their outputs, and that every stage is a target."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from tools.nightly import STAGES, STOPPED, counts, ended, main

OUTPUT = """
.....                                                                    [100%]
=========== 3 failed, 120 passed, 2 skipped in 10.02s ===========
7 passed in 0.31s

kill -9 at random moments            runs  damaged  missing  strays
robot.toml                            125        0        0       0
all                                  2000        0        0       0  600 s
"""


def test_counts_are_those_that_were_printed() -> None:
    assert counts(OUTPUT).splitlines() == ["3 failed, 120 passed, 2 skipped", "7 passed", "all 2000 0 0 0 600 s"]


def test_every_stage_is_a_target(repository: Path) -> None:
    targets = re.findall(r"^([a-z]+):", (repository / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(STAGES) <= set(targets)


def test_an_unknown_stage_is_refused_before_any_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuz"]) == 2
    assert "choose from test, sweeps" in capsys.readouterr().err


def test_a_stage_that_hangs_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        assert ended(["sh", "-c", "sleep 60 & echo $!; wait"], log, 0.5) == STOPPED
        assert ended(["sh", "-c", "exit 3"], log, 60) == 3
    started = Path("/proc") / (tmp_path / "log").read_text().strip()
    # A killed process is gone some time after the signal, not with it: the kernel schedules its end.
    patience = time.monotonic() + 30
    while alive(started) and time.monotonic() < patience:
        time.sleep(0.01)
    assert not alive(started)


def alive(process: Path) -> bool:
    """Whether a process of /proc still runs: neither gone nor waiting for its parent to take notice."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
