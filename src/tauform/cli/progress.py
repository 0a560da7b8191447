"""Progress of a verb, on stderr once it lasts: a bar that vanishes in a terminal, plain lines everywhere else."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock, Timer
from typing import Any

from tauform.escaping.shown import visible

# Seconds of silence before a stage is worth a word; scripts that read stderr may set more.
SILENT_SECONDS = 0.8
# A value that is no number leaves the default.
with suppress(ValueError):
    SILENT_SECONDS = float(os.environ.get("TAUFORM_PATIENCE", SILENT_SECONDS))
# Parts of a stage that are worth another line.
LINES_PER_STAGE = 4


class ProgressDisplay:
    """Called with a few words when a stage begins. This one says nothing; those below do."""

    def __call__(self, words: str) -> None:
        """Begin another stage."""

    def reached(self, part: float) -> None:
        """Report the share of the stage that is done, from 0 to 1, where that is known."""

    def close(self, finished: bool) -> None:
        """The verb has ended."""


class ProgressLines(ProgressDisplay):
    """One line per stage for logs and pipes: when it began, and what it does; no control codes."""

    def __init__(self) -> None:
        # Reentrant: reached and close print while they hold it.
        self._lock = RLock()  # of the timer's thread and the one that works
        self._first = self._begun = self._spoken = time.perf_counter()
        # "shown" from the start: there is no stage yet that could be named.
        self._words, self._shown, self._milestone = "", True, 0
        self._any = False
        self._timer: Timer | None = None

    def __call__(self, words: str) -> None:
        """Begin another stage."""
        with self._lock:
            self._settle()
            self._words, self._shown, self._milestone = words, False, 0
            self._begun = time.perf_counter()
            # Counted from the last words: a stage that is over within the silence is never named, and no two short ones
            # make it longer.
            self._timer = _later(SILENT_SECONDS - (self._begun - self._spoken), self._show)

    def reached(self, part: float) -> None:
        """Report the share of the stage that is done, from 0 to 1."""
        with self._lock:
            milestone = int(LINES_PER_STAGE * part)
            # The end is the next stage's beginning: it needs no line of its own.
            if self._shown and self._milestone < milestone < LINES_PER_STAGE:
                self._print(time.perf_counter(), f"{self._words}: {100 * milestone // LINES_PER_STAGE} %")
            # Never back: a stage that reports an earlier share again prints nothing twice.
            self._milestone = max(self._milestone, milestone)

    def close(self, finished: bool) -> None:
        """The verb has ended."""
        with self._lock:
            self._settle()
            # Who saw no stage needs no word on the end; an error has a line of its own.
            if self._any and finished:
                self._print(time.perf_counter(), "done")

    def _settle(self) -> None:
        """The stage has ended; the timer may have had no chance to speak while the interpreter was busy."""
        if self._timer is not None:
            self._timer.cancel()
        # Of many short stages, one is named whenever there was silence for long enough.
        if time.perf_counter() - self._spoken >= SILENT_SECONDS:
            self._show()
        self._shown = True

    def _show(self) -> None:
        with self._lock:
            if not self._shown:
                self._shown = self._any = True
                # With the time at which the stage began, not at which it was named.
                self._print(self._begun, self._words)

    def _print(self, when: float, words: str) -> None:
        self._spoken = time.perf_counter()
        with suppress(OSError):  # nobody listens
            print(f"{when - self._first:6.1f} s  {visible(words)}", file=sys.stderr, flush=True)


class ProgressBar(ProgressDisplay):
    """A spinner, or a bar where it is known how far the stage is."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._words = ""
        self._bar: Any = None
        self._task: Any = None
        # A verb that ends within the silence never loads rich for a bar; half of it goes into starting and loading.
        self._timer = _later(SILENT_SECONDS / 2, self._show)

    def __call__(self, words: str) -> None:
        """Begin another stage."""
        with self._lock:
            self._words = words
            if self._bar is not None:
                task = self._bar.tasks[0]
                begun = task.start_time
                # total=None turns the bar into a spinner until the stage reports a share.
                self._bar.reset(self._task, description=visible(words), total=None)
                task.start_time = begun  # the time of the whole verb, which moves through short stages

    def reached(self, part: float) -> None:
        """Report the share of the stage that is done, from 0 to 1."""
        with self._lock:
            if self._bar is not None:
                self._bar.update(self._task, total=1.0, completed=part)

    def close(self, finished: bool) -> None:
        """The verb has ended."""
        # Before the lock: _show asks whether the timer was cancelled.
        self._timer.cancel()
        with self._lock:
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
        with self._lock:
            if not self._timer.finished.is_set():  # the verb has not ended meanwhile
                # transient: the bar leaves no line behind when it stops.
                self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
                self._task = self._bar.add_task(visible(self._words), total=None)
                self._bar.start()


@contextmanager
def progress(quiet: bool = False) -> Iterator[ProgressDisplay]:
    """Progress of a verb: `with progress() as tell: tell("deriving"); ... tell.reached(0.5)`."""
    # Not Rich's own test: it takes a log for a terminal where FORCE_COLOR is set, as machines that run tests do.
    watched = sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")
    shown = ProgressDisplay() if quiet else ProgressBar() if watched else ProgressLines()
    finished = False
    try:
        yield shown
        # Not reached after an exception: then nothing says "done".
        finished = True
    finally:
        shown.close(finished)


def _later(seconds: float, action: Any) -> Timer:
    timer = Timer(max(seconds, 0.0), action)
    # Must not keep the interpreter alive.
    timer.daemon = True
    timer.start()
    return timer
