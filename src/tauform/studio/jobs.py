"""Job: long work in a process of its own, so that the page answers while it runs and Cancel ends it at once."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from tauform.errors import TauformError
from tauform.scheduler import safe_path
from tauform.studio.on_the_page import OnThePage
from tauform.wording import spoken_by


@dataclass
class Job:
    """A running function.

    Attributes:
        title: what it does, in words.
        words: what it said last.
        result: what it returned, once `state` is "done".
        error: a sentence, once `state` is "failed".
        state: "running", "done", "failed" or "cancelled".
        started: on the system's clock [s].
    """

    title: str
    words: str = "starting"
    result: Any = None
    error: str = ""
    state: str = "running"
    started: float = field(default_factory=time.monotonic)
    _process: Any = field(default=None, repr=False)
    _receiver: Any = field(default=None, repr=False)

    @classmethod
    def start(cls, title: str, function: Callable[..., Any], *arguments: Any) -> Job:
        """Run `function(*arguments, tell)` in a fresh process; both must be importable and picklable."""
        job = cls(title)
        # a fork would copy the server's threads and sockets
        context = multiprocessing.get_context("spawn")
        job._receiver, sender = context.Pipe(duplex=False)
        job._process = context.Process(target=_work, args=(sender, function, arguments), daemon=True)
        with safe_path():
            job._process.start()
        # Only the child holds it now, so that its death is an end of file here.
        sender.close()
        return job

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self.started

    def poll(self) -> bool:
        """Take up what the work said; whether it still runs."""
        try:
            # Everything that was said since the last look, not one word per look.
            while self.state == "running" and self._receiver.poll():
                kind, value = self._receiver.recv()
                if kind == "words":
                    self.words = value
                elif kind == "result":
                    self.state, self.result = "done", value
                else:
                    self.state, self.error = "failed", value
        # The process died without a word, as the out-of-memory killer leaves it.
        except (EOFError, OSError):
            self.state, self.error = "failed", f"{self.title}: the work ended without a result; is there memory left?"
        if self.state != "running":
            # Leaves no zombie behind.
            self._process.join(timeout=1)
        return self.state == "running"

    def cancel(self) -> None:
        """End the work now."""
        if self.state == "running":
            self.state = "cancelled"
            self._process.kill()
            self._process.join(timeout=5)


def _work(sender: Connection, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        # Sentences are for a page: its user has neither arguments nor flags.
        with spoken_by(OnThePage()):
            result = function(*arguments, lambda words: sender.send(("words", str(words))))
        sender.send(("result", result))
    except TauformError as error:
        sender.send(("error", str(error)))
    except Exception as error:  # a defect of ours: the page says so instead of going silent
        sender.send(("error", f"{type(error).__name__}: {error}"))
