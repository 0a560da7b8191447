"""Processes that are killed while they write: at a given step, or at a given moment."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

# What changes the disk, as Python's audit hooks name it; `exchange` calls the system through ctypes.
STEPS = {
    *("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.truncate", "fcntl.flock"),
    *("shutil.rmtree", "ctypes.call_function"),
}

# A campaign kills at every step (`make faults`), the usual tests at some of them.
STRIDE = 1 if os.environ.get("FAULTS") == "all" else 11


def killed_at_step(step: int, write: Callable[[], Any]) -> bool:
    """Write in another process and kill it (kill -9) before its step-th change; False where it ended before that."""
    child = os.fork()
    if child == 0:
        _die_at_step(step)
        _run(write)
    return _end_of(child) == -signal.SIGKILL


def killed_after(seconds: float, write: Callable[[], Any]) -> bool:
    """Write again and again in another process and kill it after some time; False where it failed before that."""
    child = os.fork()
    if child == 0:
        while True:
            write()
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return _end_of(child) == -signal.SIGKILL


def run_apart(*writes: Callable[[], Any]) -> list[int]:
    """Exit codes of processes that run at the same time."""
    children = []
    for write in writes:
        child = os.fork()
        if child == 0:
            _run(write)
        children.append(child)
    return [_end_of(child) for child in children]


def as_nobody(write: Callable[[], Any]) -> int:
    """Exit code of a process without the rights of root: permissions mean nothing to root."""

    def run() -> None:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        write()

    return run_apart(run)[0]


def _die_at_step(step: int) -> None:
    seen = 0

    def hook(event: str, _: Any) -> None:
        nonlocal seen
        if event in STEPS:
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _run(write: Callable[[], Any]) -> None:
    code = 1
    try:
        write()
        code = 0
    finally:
        os._exit(code)  # nothing of the test runner runs twice


def _end_of(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
