"""The workshop: one thread that makes kernels while calls go on with what there is.

A job is a generator that pauses between its stages. A stage is never cut short: a process forks, and the interpreter
ends, between two stages, since the locks of a compiler that is at work would stay locked in a forked process, and its
code would run on data that no longer exist. The thread keeps the priority of the others: while it holds the interpreter
lock all wait for it, and a low priority would make them wait longer.
"""

from __future__ import annotations

import atexit
import concurrent.futures.thread  # noqa: F401  registers what may not be registered while a fork waits, or at the end
import os
import threading
from collections.abc import Iterator
from queue import SimpleQueue

import tauform.closedform.threads  # noqa: F401  the same

Stages = Iterator[None]


class Workshop:
    """Jobs in the order in which they were asked for.

    Attributes:
        generation: how often the process was forked; jobs of the process before are not done in the new one.
    """

    def __init__(self) -> None:
        self.generation = 0
        # Held during a stage: forks and the end of the interpreter wait for it.
        self._stage = threading.Lock()
        self._starting = threading.Lock()
        self._closing = False
        self._jobs: SimpleQueue[Stages] = SimpleQueue()
        self._thread: threading.Thread | None = None
        atexit.register(self._close)
        if hasattr(os, "register_at_fork"):
            # The lock is taken before a fork: the child gets no stage that is half done.
            os.register_at_fork(
                before=self._stage.acquire, after_in_parent=self._stage.release, after_in_child=self._continue_in_child
            )

    def ask(self, job: Stages) -> None:
        """Do a job in the background."""
        self._jobs.put(job)
        with self._starting:
            # Started by the first job: programs that never need a kernel have no thread.
            if self._thread is None and not self._closing:
                self._thread = threading.Thread(target=self._work, name="tauform-workshop", daemon=True)
                self._thread.start()

    def _continue_in_child(self) -> None:
        # The thread and its queue stayed in the parent process.
        self._starting, self._jobs, self._thread = threading.Lock(), SimpleQueue(), None
        self.generation += 1
        self._stage.release()

    def _close(self) -> None:
        self._closing = True
        self._stage.acquire()  # for ever: no stage begins any more

    def _work(self) -> None:
        # Bound once: after a fork the attribute is another queue.
        jobs = self._jobs
        while True:
            job = jobs.get()
            while self._next_stage(job):
                pass

    def _next_stage(self, job: Stages) -> bool:
        """Run a job up to its next pause; whether there is more to do."""
        with self._stage:
            try:
                next(job)
            except (
                Exception
            ):  # the job's end, or of its thread's machinery: calls go on as they are, and nobody is told
                return False
            return not self._closing


WORKSHOP = Workshop()
