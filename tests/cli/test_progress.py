"""Progress on stderr: plain lines where nobody watches, a bar in a terminal, nothing where it is not wanted."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import tauform as tf
from tauform.cli import COMMANDS, main
from tauform.cli.progress import ProgressLines, progress

LINE = re.compile(r" *\d+\.\d s  \S.*")
# Every verb with the least work.
QUICK = {
    "robots": ["robots"],
    "show": ["show", "two_link"],
    "model": ["model", "two_link", "-o", "out", "--tolerance", "0", "--function", "gravity_torque"],
    "derive": ["derive", "two_link"],
    "base": ["base", "two_link"],
    "linearize": ["linearize", "two_link"],
    "generate": ["generate", "two_link", "-o", "c", "--functions", "gravity_torque"],
    "reduce": ["reduce", "two_link", "--route", "velocity", "--samples", "2000"],
    "multirate": ["multirate", "two_link"],
    "simulate": ["simulate", "two_link", "--duration", "0.01"],
    "excite": ["excite", "two_link", "--seconds", "0.05", "--duration", "2", "--harmonics", "2", "--rate", "20"],
    "identify": ["identify", "two_link", "log.csv", "--friction", "plain", "--no-couplings"],
    "inspect": ["inspect", "log.csv"],
    "fleet": ["fleet", "two_link", ".", "--workers", "0"],
    "bench": ["bench", "two_link", "--states", "10", "--repeats", "1"],
    "cache": ["cache"],
}


@pytest.fixture
def every_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """No stage is too short to be named."""
    monkeypatch.setattr("tauform.cli.progress.SILENT_SECONDS", 0.0)


def write_log(folder: Path) -> None:
    robot = tf.load("two_link")
    t = np.arange(0.0, 5.0, 0.01)
    phase = np.outer(t, [2.0, 3.1])
    q, qd, qdd = np.sin(phase), np.cos(phase) * [2.0, 3.1], -np.sin(phase) * [2.0**2, 3.1**2]
    table = np.column_stack([t, q, tf.inverse_dynamics(robot, q, qd, qdd)])
    np.savetxt(folder / "log.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")


@pytest.mark.usefixtures("every_stage")
@pytest.mark.parametrize("verb", sorted(set(COMMANDS) - {"studio"}))  # it serves until it is interrupted
def test_every_verb_says_in_plain_lines_what_it_does(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as machines that run tests do
    write_log(tmp_path)
    assert main([*QUICK[verb], "--json"]) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    lines = err.splitlines()
    assert lines
    assert lines[-1].endswith(" done")
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    assert "\x1b" not in err


@pytest.mark.usefixtures("every_stage")
def test_quiet_turns_it_off(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", "two_link", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("every_stage")
def test_what_fails_is_not_done(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", "two_link", "--tolerance", "7"]) == 2
    assert "done" not in capsys.readouterr().err


def test_short_stages_are_not_worth_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress() as tell:
        tell("first")
        tell("second")
        tell.reached(0.5)
    assert capsys.readouterr() == ("", "")


def test_many_short_stages_do_not_fall_silent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr("tauform.cli.progress.SILENT_SECONDS", 1000.0)
    monkeypatch.setattr("tauform.cli.progress.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    lines = ProgressLines()
    for stage in range(10):
        lines(f"stage {stage}")
        clock[0] += 400.0
    lines.close(finished=True)
    assert capsys.readouterr().err.split("\n") == [
        *(f"{400.0 * stage:6.1f} s  stage {stage}" for stage in (2, 5, 8)),
        f"{4000.0:6.1f} s  done",
        "",
    ]


def test_short_stages_do_not_prolong_the_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("tauform.cli.progress.SILENT_SECONDS", 1000.0)
    monkeypatch.setattr("tauform.cli.progress.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    lines = ProgressLines()
    lines("short")
    clock[0] = 700.0
    lines("lasts")
    assert lines._timer is not None
    assert lines._timer.interval == pytest.approx(300.0)
    lines.close(finished=False)


@pytest.mark.usefixtures("every_stage")
def test_a_stage_that_lasts_is_named_while_it_lasts(capfd: pytest.CaptureFixture[str]) -> None:
    lines = ProgressLines()
    lines("working")
    assert lines._timer is not None
    lines._timer.join()
    assert capfd.readouterr().err.endswith("working\n")
    for part in (0.1, 0.3, 0.4, 0.55, 0.9, 1.0):
        lines.reached(part)
    assert [line.split()[-2:] for line in capfd.readouterr().err.splitlines()] == [
        ["25", "%"],
        ["50", "%"],
        ["75", "%"],
    ]
    lines.close(finished=True)
    assert capfd.readouterr().err.endswith("done\n")


@pytest.mark.skipif(not hasattr(pty, "openpty"), reason="needs a pseudo-terminal")
def test_a_terminal_gets_a_bar_that_vanishes() -> None:
    code = (
        "import sys, tauform.cli.progress as p; p.SILENT_SECONDS = 0.0\n"
        "with p.progress() as tell:\n"
        "    tell('deriving'); tell._timer.join(); tell.reached(0.5); tell('comparing')\n"
    )
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    done = subprocess.run(
        [sys.executable, "-c", code], stderr=theirs, env=environment, check=True, capture_output=False
    )
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "comparing" in shown
    assert shown.rstrip().endswith("\x1b[2K") or "\x1b[1A" in shown  # its line is taken back
    assert " done" not in shown
