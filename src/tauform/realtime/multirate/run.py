"""run: both tasks on this machine, a synchronous loop and a background thread, with deadlines and errors reported.

No real-time kernel is assumed: a late tick is counted, not prevented. The background starts at every so many-th tick
from the state of that tick, so its results are in use from the next tick on: the latency is one control period. It
publishes them by putting one new tuple in place of the old, which a reader sees whole or not at all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import States
from tauform.errors import ModelError
from tauform.portable.products import norm
from tauform.realtime.multirate.staleness import Rates
from tauform.realtime.multirate.tasks import Results, Tasks, with_gravity

# q, qd, qdd and, where friction depends on them, temperatures at given times.
MotionFunction = Callable[[Array], States]
# Sleeping is not precise: the last part of each wait is spent polling the clock [s].
POLLED_SECONDS = 3e-4


@dataclass(frozen=True, eq=False, repr=False)
class RunReport:
    """Record of a run.

    Attributes:
        rates: as asked for; n_ticks and n_updates: runs of the synchronous and the background task.
        missed: ticks that ended after the next one was due.
        latest: longest delay of a tick's start [s].
        busy: median time of a tick's own work [s].
        ages: (2, ticks) age of the coefficients and of the velocity torques when used [s].
        rms: (n,) torque error against the exact inverse dynamics; torque: (n,) root mean square of the torque itself.
    """

    rates: Rates
    n_ticks: int
    n_updates: int
    missed: int
    latest: float
    busy: float
    ages: Array
    rms: Array
    torque: Array

    @property
    def relative(self) -> float:
        """Root mean square of the error's norm, relative to that of the torque."""
        return norm(self.rms) / norm(self.torque)

    def __repr__(self) -> str:
        return f"RunReport({self})"

    def __str__(self) -> str:
        return (
            f"{self.n_ticks} ticks at {1 / self.rates.control:.0f} Hz, {self.n_updates} background updates: "
            f"{self.missed} missed deadlines, latest start {1e6 * self.latest:.0f} us, work {1e6 * self.busy:.1f} us "
            f"per tick, stored results {1e3 * self.ages[1].mean():.1f} ms old, torque error {self.relative:.2%} (RMS)"
        )


class _Shared:
    """What the tasks exchange: the state going down; the times of two states and the stored results coming up."""

    def __init__(self, state: tuple[float, States], results: tuple[float, float, Results]) -> None:
        self.state = state
        self.results = results
        self.n_updates = 0
        self.wake = threading.Event()
        self.stop = False


def check_seconds(seconds: float, rates: Rates) -> None:
    """Raise ModelError for a run that is over before the background has run twice."""
    if not seconds > rates.background:
        raise ModelError(f"seconds: expected more than one background period ({rates.background:g} s), got {seconds}")


def run(split: Tasks, motion: MotionFunction, rates: Rates, seconds: float = 2.0) -> RunReport:
    """Run both tasks along a motion for some seconds of real time; see `Tasks.run`."""
    check_seconds(seconds, rates)
    times = np.arange(0.0, seconds, rates.control)
    every = max(1, round(rates.background / rates.control))
    states = motion(times)
    ticks = list(zip(*states, strict=True))
    # The first results are there before the first tick: a loop that starts without any would need a special case.
    shared = _Shared((0.0, ticks[0]), (0.0, 0.0, split.renewed(ticks[0])))
    # first calls compile and allocate
    split.tick(shared.results[2], ticks[0])
    split.rest(ticks[0])
    # A thread, not a process: kernels release the interpreter lock while they compute.
    thread = threading.Thread(target=_background, args=(split, shared, rates.coefficients_every), daemon=True)
    tau, began, ended, sources = np.zeros_like(states[0]), *np.zeros((2, len(times))), np.zeros((2, len(times)))
    thread.start()
    # The first deadline lies ahead, so that starting the thread makes no tick late.
    start = time.perf_counter() + 2 * rates.control
    for k, due in enumerate(times.tolist()):
        began[k] = _wait(start + due) - start
        # first what there is: a background that is quick enough would change it in the same tick
        *sources[:, k], results = shared.results
        if k % every == 0:
            shared.state = (due, ticks[k])
            shared.wake.set()
        tau[k] = split.tick(results, ticks[k])
        ended[k] = time.perf_counter() - start
    shared.stop = True
    shared.wake.set()
    thread.join()
    exact = split.tick(split.renewed(states), states)
    return RunReport(
        rates,
        n_ticks=len(times),
        n_updates=shared.n_updates,
        missed=int((ended > times + rates.control).sum()),
        latest=float((began - times).max()),
        busy=float(np.median(ended - began)),
        ages=times - sources,
        rms=np.sqrt(((tau - exact) ** 2).mean(axis=0)),
        torque=np.sqrt((exact**2).mean(axis=0)),
    )


def _background(split: Tasks, shared: _Shared, coefficients_every: int) -> None:
    renewed, (M, gravity) = 0.0, split.coefficients_kernel(shared.state[1][0])
    while shared.wake.wait() and not shared.stop:
        # Cleared before the state is read: a wake that comes meanwhile is answered by the next turn, never lost.
        shared.wake.clear()
        when, motion = shared.state
        if shared.n_updates % coefficients_every == 0:
            renewed, (M, gravity) = when, split.coefficients_kernel(motion[0])
        shared.results = (renewed, when, with_gravity(M, gravity, split.rest(motion)))
        shared.n_updates += 1


def _wait(due: float) -> float:
    """Sleep, then poll, until a point in time; returns the time at the end."""
    rest = due - time.perf_counter() - POLLED_SECONDS
    if rest > 0:
        time.sleep(rest)
    while (now := time.perf_counter()) < due:
        pass
    return now
