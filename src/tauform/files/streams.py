"""Standard streams that are closed, or that nobody reads any more."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import TextIOWrapper


def open_standard_streams() -> None:
    """Give closed streams a place: a file that is opened later would take theirs, with all that is printed."""
    for handle, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest free number is the one that was closed.
            null = os.open(os.devnull, os.O_RDWR)
            if null != handle:
                os.dup2(null, handle)
                os.close(null)
            setattr(sys, name, open(handle, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Letters that the terminal does not have: \u6f22 says more than an error.
            stream.reconfigure(encoding=stream.encoding, errors="backslashreplace")


def drop_output() -> None:
    """Send what is still to be printed nowhere: Python would complain about it at the end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
