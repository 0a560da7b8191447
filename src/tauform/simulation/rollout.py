"""Rollouts: steps of a batch, one after the other, compiled where that can be."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tauform.arrays import Array
from tauform.codegen.program.iterated import IteratedStep
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.scan import Scan, Strided
from tauform.codegen.runtime.scan import lanes as scan_lanes
from tauform.errors import ProgramTooLongError, SimulationError, VerificationError
from tauform.messages import Reached
from tauform.simulation.dry import unsettled
from tauform.simulation.plant import Plant
from tauform.simulation.step import settling_step, step_program, textbook_step
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
        # The compiled step without contact, where there is one; None where each step needs contact, or NumPy.
        scan, total = None if self.plant.is_dry else compiled(self.plant), len(self.times)
        # Whole vectors of states: the last is repeated to fill one.
        lanes = scan_lanes()
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
        if self.scan is None:
            self._with_contact({}, steps)
        else:
            self._compiled(self.scan, self._ports(step_program(self.rollout.plant.free)), steps)
            touched = self._touched(self.scan.lanes, steps)
            # Steps without contact know no stops: blocks of states that reach one are done again from there.
            if touched:
                self._with_contact(touched, steps)
        self._check(steps)
        return steps.stop

    def _touched(self, lanes: int, steps: range) -> dict[int, int]:
        """The first step that would pass a stop, by the first state of each block of which one does."""
        plant, a, b = self.rollout.plant, steps.start, steps.stop
        if not plant.has_contact:
            return {}
        low, high = (np.array([np.nan if x is None else x for x in side]) for side in plant.stops)
        beyond = np.zeros((len(self.q), b - a), dtype=bool)
        # The rule of a step is on where its last velocity leads, and on where it ends; not a number is no stop.
        for place in (self.q[:, a:b] + self.rollout.step * self.qd[:, a + 1 : b + 1], self.q[:, a + 1 : b + 1]):
            beyond |= ((place < low) | (place > high)).any(axis=2)
        blocks = np.any(beyond.reshape(-1, lanes, b - a), axis=1)
        return {int(k) * lanes: a + int(np.argmax(blocks[k])) for k in np.flatnonzero(np.any(blocks, axis=1))}

    def _with_contact(self, touched: Mapping[int, int], steps: range) -> None:
        """Steps with dry friction and stops: of all states, or of blocks from a step on."""
        plant = self.rollout.plant
        scan = compiled_contact(plant) if plant.has_contact else None
        if scan is None:
            for k in range(min(touched.values(), default=steps.start), steps.stop):
                self._textbook(k)
            return
        left = np.zeros((len(self.q), 1, 1))
        ports = self._ports(settling_step(plant), unsettled=left, left=left)
        if not touched:
            self._compiled(scan, ports, steps)
        for first, begin in touched.items():
            scan.run(ports, range(first, first + scan.lanes), range(begin, steps.stop))
        # Looked at once, after all steps: a question in each would cost as much as the step.
        if (left > 0).any():
            raise unsettled()

    def _ask(self, k: int, function: Control) -> None:
        """Torques of a step from a function, which sees the whole batch."""
        count, batch, n = self.rollout.n_states, self.rollout.batch, self.q.shape[2]
        q, qd = (x[:count, k].reshape(*batch, n).copy() for x in (self.q, self.qd))
        t = float(self.t[k])
        tau = checked_torques(function(t, q, qd), (*batch, n), t).reshape(-1, n)
        self.tau[:count, k] = self.rollout.plant.cut_off(tau)
        # Rows that only fill a vector repeat the last state: they can neither fail nor differ.
        self.tau[count:, k] = self.tau[count - 1, k]

    def _compiled(self, scan: Scan, ports: list[Strided], steps: range) -> None:
        blocks, threads = len(self.q) // scan.lanes, self.rollout.threads
        # Threads take whole blocks: no two write into one vector.
        edges = [scan.lanes * (blocks * k // threads) for k in range(threads + 1)]
        parts = [range(a, b) for a, b in itertools.pairwise(edges) if b > a]
        if len(parts) == 1:
            scan.run(ports, parts[0], steps)
            return
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(lambda part: scan.run(ports, part, steps), parts))

    def _ports(self, program: Program | IteratedStep, **further: Array) -> list[Strided]:
        # A step writes the state of the next one: the same array, shifted by one.
        arrays = {"q_next": self.q[:, 1:], "qd_next": self.qd[:, 1:], "qdd": self.qdd, "tau": self.tau}
        arrays |= {"q": self.q, "qd": self.qd, "step": np.full((1, 1, 1), self.rollout.step), **self.inputs, **further}
        return [Strided(arrays[port.name]) for port in (*program.inputs, *program.outputs)]

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
        # Only of a motion that ran away: where it began is looked for then.
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
    """The compiled step without stops; None where a program would be too long or rounds more than is allowed."""
    try:
        return Scan(step_program(plant.free))
    except (ProgramTooLongError, VerificationError):
        return None


@lru_cache(maxsize=32)
def compiled_contact(plant: Plant) -> Scan | None:
    """The compiled step with dry friction and stops; None likewise."""
    try:
        return Scan(settling_step(plant))
    except (ProgramTooLongError, VerificationError):
        return None


def _padded(values: Array, lanes: int) -> Array:
    """(N, ...) with N rounded up to whole blocks, the last row repeated."""
    array = np.asarray(values, dtype=np.float64)
    return np.concatenate([array, np.repeat(array[-1:], -len(array) % lanes, axis=0)])
