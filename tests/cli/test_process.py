"""The command as a process: signals end it at once and leave nothing, streams may be closed, terminals of no width."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tauform
from tauform.cli import main

# A verb that Python cannot interrupt: it holds the interpreter's lock in a call that lasts.
STUCK = """
import ctypes, os, sys, types
from pathlib import Path
from tauform.files.temporaries import temporary_file, temporary_folder
def work():
    with temporary_file(Path.cwd()) as (own, file), temporary_folder(Path.cwd()) as folder:
        (folder / "half.c").write_text("half")
        os.fork()
        os.write(1, b"%d\\n" % os.getpid())
        ctypes.PyDLL(None).sleep(60)
cli = types.ModuleType("tauform.cli")
cli.main = lambda: {work}
sys.modules["tauform.cli"] = cli
from tauform.__main__ import main
sys.exit(main())
"""
# Seconds in which a process must end that would otherwise take a minute; `make faults` measures how long it takes.
SOON = 20


def start(work: str = "work()", stuck: str = STUCK, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", stuck.replace("{work}", work)],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        **options,
    )


def pids(process: subprocess.Popen[str]) -> list[int]:
    """Process ids of the verb, and of a process that it started."""
    assert process.stdout is not None
    return [int(process.stdout.readline()) for _ in range(2)]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("to_all", [False, True], ids=["the command", "its group"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_verb_that_does_not_listen(tmp_path: Path, number: signal.Signals, to_all: bool) -> None:
    process = start(cwd=tmp_path)
    inside = pids(process)
    assert len(os.listdir(tmp_path)) == 2
    (os.killpg if to_all else os.kill)(process.pid, number)
    _, err = process.communicate(timeout=SOON)
    assert (process.returncode, err) == (128 + number, "")
    assert os.listdir(tmp_path) == []
    assert not any(map(is_alive, inside))


def test_what_a_verb_started_has_ended_before_it_is_cleaned_up_after(tmp_path: Path) -> None:
    """A process gives back its memory before the locks that it inherited: the more of it, the later."""
    large = "large = bytearray(1 if os.fork() else 300 << 20); large[::4096] = b'x' * len(large[::4096])"
    process = start(cwd=tmp_path, stuck=STUCK.replace("os.fork()", large))
    pids(process)
    process.terminate()
    process.communicate(timeout=SOON)
    assert os.listdir(tmp_path) == []


def test_the_verb_ends_with_its_command(tmp_path: Path) -> None:
    process = start(cwd=tmp_path)
    worker = pids(process)
    process.kill()
    process.wait(timeout=SOON)
    late = time.monotonic() + SOON
    while is_alive(min(worker)) and time.monotonic() < late:
        time.sleep(0.01)
    assert not is_alive(min(worker))
    os.kill(max(worker), signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize(
    ("work", "code", "words"),
    [
        ("ctypes.string_at(0)", 128 + signal.SIGSEGV, "the system ended this command (SIGSEGV): a library"),
        ("os.kill(os.getpid(), 9)", 128 + signal.SIGKILL, "the system ended this command (SIGKILL): perhaps memory"),
    ],
)
def test_an_end_by_the_system_is_said_in_one_sentence(tmp_path: Path, work: str, code: int, words: str) -> None:
    process = start(work, cwd=tmp_path)
    _, err = process.communicate(timeout=SOON)
    assert process.returncode == code
    assert err.startswith(words)
    assert len(err.splitlines()) == 1


def test_a_command_that_ignores_signals_goes_on(tmp_path: Path) -> None:
    """A command goes on that was started as nohup and shells in the background do."""
    process = start(cwd=tmp_path, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    pids(process)
    os.killpg(process.pid, signal.SIGINT)
    time.sleep(0.2)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=SOON)
    assert process.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize("seconds", [0.1, 3.0], ids=["while imports run", "at work"])
def test_an_interrupted_verb_leaves_nothing(tmp_path: Path, seconds: float) -> None:
    command = [sys.executable, "-m", "tauform", "model", "kr6_r700", "-o", "out"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not children.read_text():  # Python itself has not started before
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=SOON)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == []


def in_shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of a shell, in which $t is the command."""
    command = f'set -o pipefail; t="{sys.executable} -m tauform"; {line}'
    values = {**os.environ, **environment}
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=values, timeout=120)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("$t show two_link --quiet | true", 141, ""),
        pytest.param("$t --help | true", 141, "", marks=pytest.mark.nightly),
        pytest.param("$t show absent --quiet 2>&1 | true", 2, "", marks=pytest.mark.nightly),
        ("$t show two_link --quiet >/dev/full", 2, "standard output: No space left on device"),
        pytest.param("$t show two_link >/dev/null 2>/dev/full", 0, "", marks=pytest.mark.nightly),
        ("$t show two_link --quiet >&-", 0, ""),
        pytest.param("$t show absent 2>&-", 2, "", marks=pytest.mark.nightly),
        ("$t show two_link <&- >&- 2>&-", 0, ""),
    ],
)
def test_streams_that_are_closed_or_full(line: str, code: int, words: str) -> None:
    done = in_shell(line)
    assert (done.returncode, done.stderr.strip()) == (code, words)


def test_what_is_printed_does_not_get_into_files_that_are_written(tmp_path: Path) -> None:
    assert in_shell(f"$t show two_link -o {tmp_path}/a.toml").returncode == 0
    assert in_shell(f"$t show two_link -o {tmp_path}/b.toml <&- >&- 2>&-").returncode == 0
    assert (tmp_path / "a.toml").read_bytes() == (tmp_path / "b.toml").read_bytes()


@pytest.mark.parametrize("columns", ["0", "1", "-5", "x", "²", "9" * 30])
def test_a_terminal_of_any_width(
    columns: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["show", "two_link", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "two_link" in out


@pytest.mark.parametrize("words", [["-m", "tauform"], ["-c", "import tauform"]], ids=["command", "program"])
def test_an_interrupt_of_the_first_imports(words: list[str], tmp_path: Path) -> None:
    """The command ends without a word; a program that imports the package gets Python's own exception."""
    (tmp_path / "lazy_loader.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    source = str(Path(tauform.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), source])},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert done.returncode == -signal.SIGINT
    assert ("KeyboardInterrupt" in done.stderr) == (words[0] == "-c")
    assert done.stderr == "" or words[0] == "-c"
