"""Stages of the main job: what each did, what it was checked against, and to which figure."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tauform.codegen.certificate import within

Status = Literal["verified", "done", "doubtful", "skipped"]
# Called with a few words when a stage begins.
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Stage:
    """One line of the summary.

    Attributes:
        name: what was to be done.
        outcome: what came out; for a skipped stage, why.
        status: "verified" (compared with something independent), "done", "doubtful" (read the findings), "skipped".
        check: what it was compared with.
        figure: how far it is off, relative.
        allowed: what the figure had to stay below.
        seconds: time it took.
    """

    name: str
    outcome: str
    status: Status = "done"
    check: str = ""
    figure: float | None = None
    allowed: float | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.status == "verified" and self.figure is not None and self.allowed is not None:
            within(self.figure, self.allowed, f"stage {self.name!r}", "nothing is handed over")

    @property
    def verdict(self) -> str:
        """What was verified, in a few words."""
        if self.figure is None:
            return "" if self.status == "done" else self.status
        within = "" if self.allowed is None else f" < {self.allowed:.0e}"
        return f"{self.figure:.1e}{within}, {self.check}"


@dataclass
class StageLog:
    """Stages as they are run."""

    progress: Progress = lambda words: None
    stages: list[Stage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[..., None]]:
        """Time a stage; the function it yields takes the fields of its Stage."""
        self.progress(name)
        start = time.perf_counter()
        described: dict[str, Any] = {}
        yield described.update
        self.stages.append(replace(Stage(name, ""), **described, seconds=time.perf_counter() - start))
