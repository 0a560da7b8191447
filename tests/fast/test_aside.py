"""Kernels made by a child process: found on disk, given up with the process that asked, and never needed."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.runtime import programs
from tauform.codegen.runtime.cache import entries
from tauform.fast import aside

ASKED = (tf.random_robot("RR", 8), "gravity_torque", {}, 3, False)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("TAUFORM_CACHE", str(tmp_path / "kernels"))
    monkeypatch.setattr(programs, "ENABLED", True)
    return tmp_path / "kernels"


def finished(stages: object) -> object:
    """The result of a generator."""
    while True:
        try:
            next(stages)  # type: ignore[call-overload]
        except StopIteration as end:
            return end.value


def test_a_child_keeps_the_kernel_where_it_is_found(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finished(aside.made_aside(*ASKED))
    kept = {path.suffix for _, _, path in entries(cache)}
    assert kept == {".program", ".kernel"}

    def refused(*_: object) -> None:
        raise AssertionError("made again")

    monkeypatch.setattr(aside, "searched_program", refused)
    monkeypatch.setattr(aside, "made_aside", refused)
    kernel = finished(aside.stages(*ASKED, in_background=True))  # type: ignore[arg-type]
    q = np.array([0.4, -0.3])
    np.testing.assert_allclose(kernel(q), tf.textbook.gravity_torque(ASKED[0], q), rtol=0, atol=1e-12)  # type: ignore[operator]


@pytest.mark.parametrize("why", ["nothing is kept", "no Python", "a child that fails"])
def test_without_a_child_the_thread_makes_it(why: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "nothing is kept":
        monkeypatch.setenv("TAUFORM_CACHE", "off")
    elif why == "no Python":
        monkeypatch.setattr(sys, "executable", "")
    else:
        monkeypatch.setattr(aside, "_CHILD", "raise SystemExit(3)")
    kernel = finished(aside.stages(*ASKED, in_background=True))  # type: ignore[arg-type]
    assert kernel(np.zeros(2)).shape == (2,)  # type: ignore[operator]


ORPHAN = """
import os, subprocess, sys
import tauform as tf
from tauform.fast import aside
long = "aside.kernel_stages = lambda *_: time.sleep(60)"
aside._CHILD = f"import time; from tauform.fast import aside; {long}; aside.work()"
started = subprocess.Popen
def kept(*arguments, **options):
    child = started(*arguments, **options)
    print(child.pid, flush=True)
    return child
subprocess.Popen = kept
next(aside.made_aside(tf.random_robot("RR", 8), "gravity_torque", {}, 3, False))
os._exit(0)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc")
def test_a_child_ends_with_the_process_that_asked(cache: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, check=True)
    stat, end = Path(f"/proc/{done.stdout.strip()}/stat"), time.monotonic() + 30
    # where nobody collects orphans they stay as zombies
    while stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() < end, "still there"
        time.sleep(0.02)
