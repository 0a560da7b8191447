"""What a figure depends on: the commit and the machine, without a date or a host name."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]


def stamp() -> str:
    """Commit, processor, cores, compilers, Python and NumPy in one line."""
    parts = [f"commit {commit()}", processor(), f"{os.cpu_count()} cores"]
    parts += [version for version in map(compiler, ("gcc", "clang")) if version]
    parts += [f"Python {platform.python_version()}", f"NumPy {np.__version__}"]
    return ", ".join(parts)


def commit() -> str:
    """Short hash of the commit, with a + where the sources differ from it."""
    hash_ = _output("git", "rev-parse", "--short", "HEAD") or "unknown"
    changed = _output("git", "status", "--porcelain", "--untracked-files=no", "--", "src", "tools", "benchmarks/*.py")
    return hash_ + ("+" if changed else "")


def processor() -> str:
    """Model name of the processor."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        found = None
    return found.group(1).strip() if found else platform.processor() or platform.machine()


def compiler(name: str) -> str:
    """Name and version of a compiler; empty where it is not installed."""
    # gcc's -dumpversion is the major number alone; clang knows no other option.
    return f"{name} {_output(name, '-dumpfullversion') or _output(name, '-dumpversion')}" if shutil.which(name) else ""


def _output(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
