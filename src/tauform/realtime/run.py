"""run: both tasks on this machine, a synchronous loop and a background thread, with deadlines and errors reported.

No real-time kernel is assumed: a late tick is counted, not prevented. The background publishes its results by putting
one new tuple in place of the old, which a reader sees whole or not at all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.errors import ModelError
from tauform.realtime.multirate import MultiRate
from tauform.realtime.staleness import Rates

Motion = Callable[[Array], tuple[Array, Array, Array]]
# Sleeping is not precise: the last part of each wait is spent polling the clock [s].
POLLING = 3e-4


@dataclass(frozen=True, eq=False)
class RunReport:
    """What happened.

    Attributes:
        rates: as asked for; n_ticks and n_updates: runs of the synchronous and the background task.
        missed: ticks that ended after the next one was due.
        latest: longest delay of a tick's start [s].
        busy: median time of a tick's own work [s].
        age: mean age of the stored results when used [s].
        rms: (n,) torque error against the exact inverse dynamics; torque: (n,) root mean square of the torque itself.
    """

    rates: Rates
    n_ticks: int
    n_updates: int
    missed: int
    latest: float
    busy: float
    age: float
    rms: Array
    torque: Array

    def __str__(self) -> str:
        relative = np.linalg.norm(self.rms) / np.linalg.norm(self.torque)
        return (
            f"{self.n_ticks} ticks at {1 / self.rates.control:.0f} Hz, {self.n_updates} background updates: "
            f"{self.missed} missed deadlines, latest start {1e6 * self.latest:.0f} us, work {1e6 * self.busy:.1f} us "
            f"a tick, stored results {1e3 * self.age:.1f} ms old, torque error {relative:.2%} (RMS)"
        )


class _Shared:
    """What the tasks exchange: the state going down, (time of that state, M, stored) coming up."""

    def __init__(self, state: tuple[float, Array, Array], results: tuple[float, Array, Array]) -> None:
        self.state = state
        self.results = results
        self.n_updates = 0
        self.stop = threading.Event()


def run(split: MultiRate, motion: Motion, rates: Rates, seconds: float = 2.0) -> RunReport:
    """Run both tasks along a motion for some seconds of real time.

    Args:
        motion: q, qd, qdd, (N, n) each, at given times (N,).
        rates: control and background period; the latency is what it is.

    Raises:
        ModelError: the duration is not longer than a background period.
    """
    if not seconds > rates.background:
        raise ModelError(f"seconds: expected more than one background period ({rates.background:g} s), got {seconds}")
    times = np.arange(0.0, seconds, rates.control)
    q, qd, qdd = motion(times)
    background = split.results
    shared = _Shared((0.0, q[0], qd[0]), (0.0, *background(q[0], qd[0])))
    split.torque(*shared.results[1:], qd[0], qdd[0])  # the first call allocates
    thread = threading.Thread(target=_background, args=(split, shared, rates.background), daemon=True)
    tau, began, ended, source = np.zeros_like(q), *np.zeros((3, len(times)))
    thread.start()
    start = time.perf_counter() + 2 * rates.control
    for k, due in enumerate(times.tolist()):
        began[k] = _wait(start + due) - start
        shared.state = (due, q[k], qd[k])
        source[k], M, stored = shared.results
        tau[k] = split.torque(M, stored, qd[k], qdd[k])
        ended[k] = time.perf_counter() - start
    shared.stop.set()
    thread.join()
    exact = split.torque(*background(q, qd), qd, qdd)
    return RunReport(
        rates,
        n_ticks=len(times),
        n_updates=shared.n_updates,
        missed=int((ended > times + rates.control).sum()),
        latest=float((began - times).max()),
        busy=float(np.median(ended - began)),
        age=float((times - source).mean()),
        rms=np.sqrt(((tau - exact) ** 2).mean(axis=0)),
        torque=np.sqrt((exact**2).mean(axis=0)),
    )


def _background(split: MultiRate, shared: _Shared, period: float) -> None:
    due = time.perf_counter()
    while not shared.stop.is_set():
        when, q, qd = shared.state
        shared.results = (when, *split.results(q, qd))
        shared.n_updates += 1
        due = max(due + period, time.perf_counter())
        shared.stop.wait(due - time.perf_counter())


def _wait(due: float) -> float:
    """Sleep, then poll, until a point in time; returns the time at the end."""
    rest = due - time.perf_counter() - POLLING
    if rest > 0:
        time.sleep(rest)
    while (now := time.perf_counter()) < due:
        pass
    return now
