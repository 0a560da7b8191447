"""Side-by-side timing: every candidate in the same run, in turns, and the least of many repeats.

The least is the figure that other work on the machine disturbs least; turns spread what disturbance is left.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of a benchmark's table.

    Attributes:
        name: what was measured, robot included.
        ours: our figure, in `unit`; None where this machine cannot measure it.
        peer: the peer's figure; None where the peer is not installed or has nothing comparable.
        peer_name: who the peer is, and under which conditions.
        unit: "s" is printed with a fitting prefix, any other unit as it is ("operations").
        note: what a reader must know, such as the error that both were checked to.
    """

    name: str
    ours: float | None
    peer: float | None
    peer_name: str
    unit: str = "s"
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times less we take than the peer."""
        return self.peer / self.ours if self.peer is not None and self.ours is not None else None


def side_by_side(
    candidates: Mapping[str, Callable[[], object]],
    *,
    repeats: int = 15,
    least_sample: float = 0.01,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Seconds per call of each candidate.

    Args:
        candidates: label -> function without arguments.
        repeats: how many samples of each are taken; their order turns round after every one.
        least_sample: a sample calls its function as often as fills this many seconds, so that the clock's own
            resolution and cost vanish.
        clock: `time.process_time` for work on one processor that outlasts the gaps which other work leaves.
    """
    calls = {label: _calls_a_sample(function, least_sample, clock) for label, function in candidates.items()}
    best = dict.fromkeys(candidates, float("inf"))
    order = list(candidates)
    for _ in range(repeats):
        for label in order:
            best[label] = min(best[label], _sample(candidates[label], calls[label], clock))
        order.reverse()
    return best


def _calls_a_sample(function: Callable[[], object], least_sample: float, clock: Callable[[], float]) -> int:
    function()  # the first call may load, compile or allocate
    return max(1, round(least_sample / max(_sample(function, 1, clock), 1e-9)))


def _sample(function: Callable[[], object], calls: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(calls):
        function()
    return (clock() - start) / calls


@contextmanager
def one_processor() -> Iterator[None]:
    """Keep this process, and threads it starts from here on, on one processor where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
