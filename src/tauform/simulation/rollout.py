"""Rollouts: steps of a batch, one after the other, compiled where that can be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from tauform.arrays import Array
from tauform.codegen.runtime.scan import Scan, Strided
from tauform.errors import ProgramTooLongError, SimulationError, VerificationError
from tauform.messages import Reached
from tauform.simulation.step import Plant, step_program, textbook_step
from tauform.simulation.torques import Control, checked_torques

# States times steps between two looks at whether the motion stays finite: compiled loops cannot be interrupted.
MAX_WORK_BETWEEN_CHECKS = 200_000
# Steps that are computed before some of them are kept.
STEPS_AT_ONCE = 32
# Where joints have stops: what is computed in vain if one is reached at once.
STEPS_BETWEEN_STOPS = 500
# Beyond such positions or velocities no robot is meant.
MAX_FINITE_STATE = 1e6


@dataclass(frozen=True, eq=False)
class Rollout:
    """Subject of a simulation: states at the beginning, inputs and times.

    Attributes:
        batch: leading dimensions that a function sees.
        rows: (N, ...) q and qd at the beginning, temperature and wrenches.
        given: inputs of the control law, (N or 1, T or 1, n).
        function: of Python, that gives the torques instead.
        times: (T,) at which steps begin; the last one serves the acceleration at the end.
    """

    plant: Plant
    batch: tuple[int, ...]
    rows: Mapping[str, Array]
    given: Mapping[str, Array]
    function: Control | None
    times: Array
    step: float
    threads: int

    @property
    def n_states(self) -> int:
        return len(self.rows["q"])

    def kept(self, every: int, tell: Reached | None) -> list[Array]:
        """(N, K, n) positions, velocities, accelerations and torques of every `every`-th step.

        Raises:
            SimulationError: the motion runs away.
            ShapeError: the function returns no torques.
        """
        # One compiled program for the whole rollout; None steps in NumPy.
        scan, total = compiled(self.plant), len(self.times)
        # Whole vectors of states: the last is repeated to fill one.
        lanes = 1 if scan is None else scan.lanes
        state = {name: _padded(x, lanes)[:, None] for name, x in self.rows.items()}
        inputs = {name: np.ascontiguousarray(x if len(x) == 1 else _padded(x, lanes)) for name, x in self.given.items()}
        inputs |= {name: x for name, x in state.items() if name not in ("q", "qd")}
        q, qd = state["q"][:, 0], state["qd"][:, 0]
        # What is not kept is not stored: a day of simulation needs memory for its kept steps only.
        # A whole number of `every`: kept steps fall on the same places in each stretch.
        size = total if every == 1 else every * max(1, STEPS_AT_ONCE // every)
        states = [np.empty((len(q), min(size, total) + 1, q.shape[1])) for _ in range(4)]
        kept: list[list[Array]] = [[], [], [], []]
        for first in range(0, total, size):
            now = slice(first, min(first + size, total))
            own = {name: x if x.shape[1] == 1 else np.ascontiguousarray(x[:, now]) for name, x in inputs.items()}
            stretch = StepArrays.of(self, scan, self.times[now], q, qd, own, states)
            for done in stretch.run():
                if tell is not None:
                    tell((first + done) / total)
            # The last state of a stretch begins the next.
            q, qd = stretch.q[:, -1], stretch.qd[:, -1]
            for array, parts in zip((stretch.q, stretch.qd, stretch.qdd, stretch.tau), kept, strict=True):
                chosen = array[: self.n_states, : len(stretch.t) : every]
                parts.append(chosen if every == 1 else chosen.copy())
        return [parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1) for parts in kept]


@dataclass(frozen=True, eq=False)
class StepArrays:
    """Arrays of some steps: (N, T + 1, n) states, (N, T, n) what belongs to a step.

    Attributes:
        inputs: further ports of a step, (N or 1, T or 1, ...).
    """

    rollout: Rollout
    scan: Scan | None
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    inputs: Mapping[str, Array]

    @classmethod
    def of(
        cls,
        rollout: Rollout,
        scan: Scan | None,
        t: Array,
        q: Array,
        qd: Array,
        inputs: Mapping[str, Array],
        room: list[Array],
    ) -> StepArrays:
        """Room of four arrays, with the state that the stretch begins with; given torques are not copied."""
        room[0][:, 0], room[1][:, 0] = q, qd
        qdd, own = room[2][:, : len(t)], room[3][:, : len(t)]
        # A view: torques (1, 1, n) of all steps take no memory.
        tau = np.broadcast_to(inputs["tau"], qdd.shape) if "tau" in inputs else own
        # A function fills the torques as it is asked, step by step.
        inputs = inputs if rollout.function is None else {**inputs, "tau": tau}
        return cls(rollout, scan, t, room[0][:, : len(t) + 1], room[1][:, : len(t) + 1], qdd, tau, inputs)

    def run(self) -> Iterator[int]:
        """Fill the arrays; yields how many steps are done."""
        # With a function of Python each step waits for its torques.
        chunk = max(1, MAX_WORK_BETWEEN_CHECKS // len(self.q)) if self.rollout.function is None else 1
        if self.rollout.plant.has_contact:
            chunk = min(chunk, STEPS_BETWEEN_STOPS)
        edges = range(0, len(self.t), chunk)
        return (self._advanced(range(k, min(k + chunk, len(self.t)))) for k in edges)

    def _advanced(self, steps: range) -> int:
        if self.rollout.function is not None:
            self._ask(steps.start, self.rollout.function)
        k = steps.start
        while k < steps.stop:
            touch = k
            if self.scan is not None:
                self._compiled(self.scan, range(k, steps.stop))
                touch = self._first_touch(range(k, steps.stop))
            # compiled steps know no stops: those that reach one are done again, with some that follow
            k = steps.stop if self.scan is None else min(touch + STEPS_AT_ONCE, steps.stop)
            for j in range(touch, k):
                self._textbook(j)
        self._check(steps)
        return steps.stop

    def _first_touch(self, steps: range) -> int:
        """The first step that would pass a stop; the end where none does."""
        plant, (a, b) = self.rollout.plant, (steps.start, steps.stop)
        if not plant.has_contact:
            return b
        low, high = (np.array([np.nan if x is None else x for x in side]) for side in plant.stops)
        # the rule of a step is on where its last velocity leads, and on where it ends
        for place in (self.q[:, a:b] + self.rollout.step * self.qd[:, a + 1 : b + 1], self.q[:, a + 1 : b + 1]):
            beyond = ((place < low) | (place > high)).any(axis=(0, 2))  # not a number: no stop
            b = a + int(np.argmax(beyond)) if beyond.any() else b
            if b == a:
                break
        return b

    def _ask(self, k: int, function: Control) -> None:
        """Torques of a step from a function, which sees the whole batch."""
        count, batch, n = self.rollout.n_states, self.rollout.batch, self.q.shape[2]
        q, qd = (x[:count, k].reshape(*batch, n).copy() for x in (self.q, self.qd))
        t = float(self.t[k])
        self.tau[:count, k] = checked_torques(function(t, q, qd), (*batch, n), t).reshape(-1, n)
        # Rows that only fill a vector repeat the last state: they can neither fail nor differ.
        self.tau[count:, k] = self.tau[count - 1, k]

    def _compiled(self, scan: Scan, steps: range) -> None:
        blocks, threads = len(self.q) // scan.lanes, self.rollout.threads
        # Threads take whole blocks: no two write into one vector.
        edges = [scan.lanes * (blocks * k // threads) for k in range(threads + 1)]
        parts = [range(a, b) for a, b in itertools.pairwise(edges) if b > a]
        if len(parts) == 1:
            scan.run(self._ports, parts[0], steps)
            return
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(lambda part: scan.run(self._ports, part, steps), parts))

    @cached_property
    def _ports(self) -> list[Strided]:
        # A step writes the state of the next one: the same array, shifted by one.
        after = {"q_next": self.q[:, 1:], "qd_next": self.qd[:, 1:], "qdd": self.qdd, "tau": self.tau}
        before = {"q": self.q, "qd": self.qd, "step": np.full((1, 1, 1), self.rollout.step), **self.inputs}
        plant = self.rollout.plant
        arrays = [before[port.name] for port in step_program(plant.free).inputs] + [
            after[name] for name in plant.outputs
        ]
        return [Strided(array) for array in arrays]

    def _textbook(self, k: int) -> None:
        n, plant = len(self.q), self.rollout.plant
        given = {"q": self.q, "qd": self.qd, **self.inputs}
        rows = {name: np.broadcast_to(x[:, min(k, x.shape[1] - 1)], (n, x.shape[2])) for name, x in given.items()}
        rows["step"] = np.full((n, 1), self.rollout.step)
        wrenches = {frame: rows[f"wrench_{frame}"] for frame in plant.frames}
        outputs = textbook_step(plant, *(rows[name] for name in plant.shapes()), wrenches=wrenches)
        self.q[:, k + 1], self.qd[:, k + 1], self.qdd[:, k] = outputs[:3]
        if len(outputs) > 3:
            self.tau[:, k] = outputs[3]

    def _check(self, steps: range) -> None:
        last = steps.stop
        # NaN is not less than anything: it fails the test too.
        if (np.abs(self.q[:, last]) < MAX_FINITE_STATE).all() and (np.abs(self.qd[:, last]) < MAX_FINITE_STATE).all():
            return
        within = slice(steps.start + 1, steps.stop + 1)
        good = (np.abs(self.q[:, within]) < MAX_FINITE_STATE) & (np.abs(self.qd[:, within]) < MAX_FINITE_STATE)
        k, state, joint = (int(x) for x in np.argwhere(~good.transpose(1, 0, 2))[0])
        one = f" in simulation {state}" if self.rollout.n_states > 1 else ""
        step = self.rollout.step
        raise SimulationError(
            f"the motion runs away at t = {self.t[steps.start + k] + step:.6g} s (joint "
            f"{self.rollout.plant.robot.joint_names[joint]!r}{one}); take a smaller step than {step:g} s, or check "
            "gains and torques",
            argument="step",
            value=step,
        )


@lru_cache(maxsize=32)
def compiled(plant: Plant) -> Scan | None:
    """The compiled step without stops; None where textbook functions step.

    That is with dry friction, and where a program would be too long or rounds more than its certificate allows.
    """
    if plant.is_dry:
        plant.dry_joints  # noqa: B018  # refuses friction of several coordinates before the first step
        return None
    try:
        return Scan(step_program(plant.free))
    except (ProgramTooLongError, VerificationError):
        return None


def _padded(values: Array, lanes: int) -> Array:
    """(N, ...) with N rounded up to whole blocks, the last row repeated."""
    array = np.asarray(values, dtype=np.float64)
    return np.concatenate([array, np.repeat(array[-1:], -len(array) % lanes, axis=0)])
