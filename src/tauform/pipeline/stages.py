"""Stages of the main job: what each did, what it was checked against, and to which figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tauform.codegen.certificate import within
from tauform.errors import TauformError
from tauform.messages import Progress

Status = Literal["verified", "done", "doubtful", "skipped", "failed"]


@dataclass(frozen=True)
class Stage:
    """One line of the summary.

    Attributes:
        name: what was to be done.
        outcome: what came out; for a stage that was skipped or failed, why.
        status: "verified" (compared with something independent), "done", "doubtful" (read the findings), "skipped",
            "failed" (its result is not handed over).
        check: what it was compared with.
        figure: how far it is off, relative.
        allowed: what the figure had to stay below.
        seconds: time it took.
        notes: sentences about what came out, too long for a line.
    """

    name: str
    outcome: str
    status: Status = "done"
    check: str = ""
    figure: float | None = None
    allowed: float | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # "verified" cannot be claimed for a figure beyond what is allowed.
        if self.status == "verified" and self.figure is not None and self.allowed is not None:
            within(self.figure, self.allowed, f"stage {self.name!r}", "nothing is handed over")

    @property
    def verdict(self) -> str:
        """Summary of what was verified, in a few words."""
        # A stage that has nothing to compare says how it ended.
        if self.figure is None:
            return "" if self.status == "done" else self.status
        within = "" if self.allowed is None else f" < {self.allowed:.0e}"
        return f"{self.figure:.1e}{within}, {self.check}"


@dataclass
class StageLog:
    """Stages as they are run.

    Attributes:
        failures: errors of stages that others do without.
    """

    progress: Progress = lambda words: None
    stages: list[Stage] = field(default_factory=list)
    failures: list[TauformError] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, *, spare: bool = False) -> Iterator[Callable[..., None]]:
        """Time a stage; the function it yields takes the fields of its Stage.

        Args:
            spare: whether the others can do without it. Then its error is kept for the end, and what follows the
                `with` block is run: a result is returned from within.
        """
        self.progress(name)
        start = time.perf_counter()
        described: dict[str, Any] = {}
        try:
            yield described.update
            # Only after the block: a stage that raises is not listed as done.
            self.stages.append(replace(Stage(name, ""), **described, seconds=time.perf_counter() - start))
        except TauformError as error:
            if not spare:
                raise
            self.failures.append(error)
            self.stages.append(Stage(name, str(error), "failed", seconds=time.perf_counter() - start))

    def end(self, finished: object, place: str = "") -> None:
        """Raise the first error that was kept, with what was finished all the same and, if that is on a disk, where."""
        if self.failures:
            # The first: the others may follow from it.
            first = self.failures[0]
            first.finished = finished
            first.args = (f"{first}; {place}" if place else str(first),)
            raise first
