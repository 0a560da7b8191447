"""One command line in process, and what must hold of it whatever was typed: a clean end and nothing half-written.

Warnings become lines on standard error, so they are counted there.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings

from command_flags import foreign_flags
from tauform.cli import COMMANDS, main

# A sentence and a hint, or two notes beside a result; progress is off (tests/conftest.py).
MOST_LINES = 2
UNTRUSTED = "the fit is not trustworthy"
NUMERIC_WARNING = re.compile(r"encountered in \w+|divide by zero|Warning:")


# FUZZ_SCALE=8 is a campaign: so many times the cases, and new ones on every run.
SCALE = int(os.environ.get("FUZZ_SCALE", "1"))


def cases(number: int) -> Any:
    """Settings of a test of so many cases, the same on every run unless a campaign asks for more."""
    return settings(
        max_examples=number * SCALE,
        derandomize=SCALE == 1,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@dataclass(frozen=True)
class Outcome:
    """Exit code and both streams."""

    code: int
    out: str
    err: str


def run(arguments: list[str]) -> Outcome:
    """Run a command line; an exception that `main` lets through is a finding of the fuzz."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("always")
        try:
            code = main(arguments)
        except SystemExit as error:  # argument parsers may insist on it
            code = error.code if isinstance(error.code, int) else 1
    return Outcome(code, out.getvalue(), err.getvalue())


def check(arguments: list[str], folder: Path) -> Outcome:
    """Run it and assert that it ended well or was refused in one sentence.

    Args:
        folder: where it may write; what a refused command leaves there must be what stood there before.
    """
    before = contents(folder)
    outcome = run(arguments)
    told = f"{arguments!r}: exit code {outcome.code}\n{outcome.err}"
    # A log read in other units gives a fit that nobody should use; the command does its work and ends with 1.
    untrusted = outcome.code == 1 and UNTRUSTED in outcome.err
    assert outcome.code in (0, 2) or untrusted, told
    assert not NUMERIC_WARNING.search(outcome.out + outcome.err), told
    assert "Traceback" not in outcome.out + outcome.err, told
    assert len(outcome.err.splitlines()) <= MOST_LINES, told
    _check_flags(arguments, outcome.err)
    if outcome.code == 2:
        assert outcome.err, told
        assert outcome.out == "", told
        assert contents(folder) == before, told
    elif "--json" in arguments and "--help" not in arguments and "--version" not in arguments:
        json.loads(outcome.out)
    return outcome


def _check_flags(arguments: list[str], told: str) -> None:
    """Every flag that is named exists in the verb, unless the user invented it."""
    verb = next((word for word in arguments if word in COMMANDS), None)
    invented = " ".join(arguments)
    assert verb is None or [flag for flag in foreign_flags(told, verb) if flag not in invented] == [], told


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder, hidden ones too."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}
