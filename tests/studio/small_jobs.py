"""Work for processes of their own: they import this module alone, not all that tests of projects need."""

from __future__ import annotations

import time

from tauform.errors import RecordingError


def slow(seconds: float, tell: object) -> str:
    """Says a word, waits, and returns."""
    assert callable(tell)
    tell("half")
    time.sleep(seconds)
    return "result"


def refusing(tell: object) -> None:
    """Ends in a sentence."""
    raise RecordingError("run.csv: no such column")
