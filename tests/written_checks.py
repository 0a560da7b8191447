"""The check of a written folder, run as its README says, and whether a machine has the tools for it."""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

import pytest

from tauform.codegen.backends.registry import backend


@functools.cache
def installed(tool: str) -> bool:
    """Whether a tool runs: a name on the path may be a proxy with nothing behind it (rustup's, in another home)."""
    return shutil.which(tool) is not None and subprocess.run([tool, "--version"], capture_output=True).returncode == 0


def check_commands(target: str, prefix: str) -> tuple[tuple[str, ...], ...]:
    """The commands of a folder's own check; the test is skipped where a tool is missing."""
    commands = backend(target).check_commands(prefix)
    for command in commands:
        if not installed(command[0]):
            pytest.skip(f"{command[0]} is not installed")
    return commands


def run_check(folder: Path, target: str, prefix: str) -> str:
    """Run the folder's own check; its output."""
    printed = ""
    for command in check_commands(target, prefix):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        printed += done.stdout
    return printed
