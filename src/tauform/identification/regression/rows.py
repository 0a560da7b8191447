"""Rows of the least-squares problem: states from positions, columns from states, both sides filtered alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.threads import on_one_thread
from tauform.identification.recording.pauses import moves
from tauform.identification.recording.recording import pieces
from tauform.identification.recording.segments import Segment
from tauform.identification.regression.design import Design
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import Filters, grid_of, lowpass_kernel
from tauform.identification.signals.fir import decimation, filtered, refined, with_derivatives

# Samples of a piece that is filtered: its columns stay near the processor and its memory is used again.
SAMPLES_PER_PIECE = 40_000
# Columns of all rows are kept in memory below this many numbers (a quarter of a gigabyte), and evaluated anew on each
# pass above it.
MAX_KEPT_NUMBERS = 32_000_000
# A row of which less is motion, at every joint, is left out.
MIN_SHARE_HEARD = 0.05
# States beside a pause that decimation reaches into it from.
STATES_BESIDE_PAUSE = 2


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of the problem.

    Attributes:
        A: (N, n, p) columns.
        tau: (N, n) torques.
        rate_of_tau: (N, n) time derivative of the torques, for finding delays.
        t: (N,) time [s].
        qd: (N, n) velocities at the rows.
        recording: index of the recording.
        segment: index of the segment within its source.
        heard: (N, n) share of each row in which the joint moves; None where all move all the time.
    """

    A: Array
    tau: Array
    rate_of_tau: Array
    t: Array
    qd: Array
    recording: int
    segment: int = 0
    heard: Array | None = None


@dataclass(frozen=True, eq=False)
class Stretch:
    """States of a segment around some rows, before columns are evaluated at them.

    Attributes:
        strides: samples per state, and states per row.
        t: (N,) time of the states [s].
        q, qd, qdd: (N, n) smoothed.
        tau: (N, n) torques, decimated as the states are.
        temperature: (N, n), where it was recorded.
        rows: (R,) places of the rows among the states.
        filters: as in RowSource.
        moving: (N, n) whether each joint moves: at rest both sides of its equation are taken for zero before they are
            filtered, for friction there balances any torque below its limit; None where all move all the time.
        heard: (R, n) share of each row in which the joint moves; None where all move all the time.
    """

    segment: Segment
    strides: tuple[int, int]
    t: Array
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    temperature: Array | None
    rows: AnyArray
    filters: Filters | None
    moving: AnyArray | None = None
    heard: Array | None = None

    @property
    def lowpass(self) -> Array:
        """Kernel that both sides pass before rows are taken."""
        if self.filters is None:
            return np.ones(1)
        return lowpass_kernel(self.segment.rate / self.strides[0], self.filters.torque)

    def of_motion(self, values: Array) -> Array:
        """Torques (N, n) that are zero where a joint is at rest."""
        return values if self.moving is None else values * self.moving


@dataclass(frozen=True, eq=False)
class RowSource:
    """All rows of some segments, in order; evaluated piece by piece, so memory does not grow with the recording.

    Attributes:
        filters: None leaves every sample as it is.
        smoother: how positions become velocities and accelerations.
        rest: (n,) speeds below which a joint counts as standing; rows where all stand are left out, and what a joint
            says while its positions show a rest, for friction may have any value there. None keeps all.
        silent: (n,) for each segment: joints that rest throughout it, whose rows are zero; empty keeps all rows.
        expected: samples of all sources with this design, where the segments are a few of many.
    """

    design: Design
    segments: tuple[Segment, ...]
    filters: Filters | None
    smoother: Smoother
    rest: Array | None = None
    silent: tuple[AnyArray, ...] = ()
    expected: int = 0

    def __iter__(self) -> Iterator[Rows]:
        for index, segment in enumerate(self.segments):
            for rows in self._of(segment):
                if self.silent:
                    # Zero rows weigh nothing, and keep all joints in step.
                    heard = ~self.silent[index]
                    # Copies: unfiltered torques are the recording's own.
                    rows = replace(rows, A=rows.A * heard[:, None], tau=rows.tau * heard)
                yield replace(rows, segment=index)

    def n_rows(self, segment: Segment) -> int:
        """Number of rows of a segment, and of those at rest among them."""
        return grid_of(segment.rate, self.filters).n_rows(segment.n_samples)

    @property
    def total_rows(self) -> int:
        """Number of rows, roughly."""
        return sum(self.n_rows(segment) for segment in self.segments)

    def __bool__(self) -> bool:
        return bool(self.segments)

    def kept(self) -> Sequence[Rows] | RowSource:
        """The rows themselves where they fit into memory, else this source."""
        fits = self.total_rows * self.design.n_columns * self.design.robot.n_joints < MAX_KEPT_NUMBERS
        return list(self) if fits else self

    def stretches(self) -> Iterator[Stretch]:
        """The states that rows are made of, in the same pieces as the rows."""
        for segment in self.segments:
            yield from self._stretches(segment)

    def _stretches(self, segment: Segment) -> Iterator[Stretch]:
        if self.filters is None:
            for part, _ in pieces(segment.n_samples, size=20_000):
                yield self._raw_stretch(segment, part)
            return
        # Rows stand at multiples of one stride, so that they do not depend on how a segment is divided.
        grid = grid_of(segment.rate, self.filters)
        stride, settle, count = grid.stride, grid.settle, grid.n_rows(segment.n_samples)
        for first in range(0, count, max(1, SAMPLES_PER_PIECE // stride)):
            last = min(count, first + max(1, SAMPLES_PER_PIECE // stride))
            yield self._stretch(segment, range(settle + first * stride, settle + last * stride, stride))

    def _raw_stretch(self, segment: Segment, part: slice) -> Stretch:
        q, qd, qdd = self.smoother.states(segment, part, None)
        t, tau = np.asarray(segment.t[part]), np.asarray(segment.tau[part])
        temperatures = segment.temperatures(part)
        return Stretch(segment, (1, 1), t, q, qd, qdd, tau, temperatures, np.arange(len(t)), None)

    def _stretch(self, segment: Segment, samples: range) -> Stretch:
        """States around rows at these samples of a segment."""
        assert self.filters is not None
        grid = grid_of(segment.rate, self.filters)
        first, second = grid.states, grid.rows
        # From the first sample on, or from a row's, so that states and rows stand where they are wanted.
        reach = self._reach(segment.rate)
        # Ceiling of reach over step: filters need so many samples before the first row, or begin with the segment.
        before = min(samples[0] // samples.step, -(-reach // samples.step))
        part = slice(samples[0] - before * samples.step, min(segment.n_samples, samples[-1] + reach + 1))
        q, qd, qdd = self.smoother.states(segment, part, self.filters, first)
        tau = np.asarray(segment.tau[part], dtype=np.float64)
        # The same filters on both sides keep the equation true, whatever they do to the signals.
        if first > 1:
            tau = filtered(tau, decimation(first)[None], first)[:, 0]
        rows = second * (before + np.arange(len(samples)))
        # All joints at rest: friction there balances any torque below its limit and says nothing about its size.
        if self.rest is not None:
            rows = rows[(np.abs(qd[rows]) > self.rest).any(axis=1)]
        t, temperatures = np.asarray(segment.t[part])[::first], segment.temperatures(part, first)
        moving = self.moving(segment, np.arange(part.start, part.start + first * len(t), first), first)
        found = Stretch(segment, (first, second), t, q, qd, qdd, tau, temperatures, rows, self.filters, moving)
        if moving is None:
            return found
        heard = filtered(moving.astype(np.float64), found.lowpass[None], second)[rows // second, 0]
        loud = (heard > MIN_SHARE_HEARD).any(axis=1)
        return replace(found, rows=rows[loud], heard=heard[loud])

    def moving(self, segment: Segment, samples: AnyArray, stride: int) -> AnyArray | None:
        """(N, n) whether each joint is seen to move, so far from rest that filters do not reach there."""
        if self.rest is None or self.filters is None:
            return None
        beside = STATES_BESIDE_PAUSE * stride if stride > 1 else 0
        moving = moves(segment.pauses, samples, self.filters.beside_pause * segment.rate + beside)
        moving &= moves(segment.creeping(self.filters.position), samples, beside)
        return None if moving.all() else moving

    def _of(self, segment: Segment) -> Iterator[Rows]:
        for stretch in self._stretches(segment):
            if len(stretch.rows):
                yield self._rows(stretch)

    @on_one_thread
    def _rows(self, stretch: Stretch) -> Rows:
        q, qd, qdd, tau = stretch.q, stretch.qd, stretch.qdd, stretch.tau
        (first, second), segment, rows = stretch.strides, stretch.segment, stretch.rows
        # `total` decides whether a kernel pays, however the segment is divided.
        total = max(segment.n_samples, self.expected) // first
        A = self.design.columns(q, qd, qdd, total=total, temperature=stretch.temperature)
        if self.filters is None:
            rate_of_tau = np.gradient(tau, 1.0 / segment.rate, axis=0) if len(tau) > 1 else 0 * tau
            return Rows(A, tau, rate_of_tau, stretch.t, qd, segment.recording)
        if first > 1:
            self._decimate_steps(A, (q, qd, qdd), first)
        # The rate of the torque comes from the same kernel, differentiated.
        kernels = with_derivatives(stretch.lowpass, segment.rate / first)
        if stretch.moving is None:
            tau, rate_of_tau = np.moveaxis(filtered(tau, kernels[:2], second)[rows // second], 1, 0)
            A = self._filtered_columns(A, kernels[:1], second)[rows // second]
            return Rows(A, tau, rate_of_tau, stretch.t[rows], qd[rows], segment.recording)
        # tau = A x holds at every instant of motion: whatever is left out, nothing is made up.
        A[~stretch.moving] = 0.0
        A = self._filtered_columns(A, kernels[:1], second)[rows // second]
        # The torque's rate before rests are cut out: their edges are no change of the torque.
        both = np.stack([stretch.of_motion(x) for x in (tau, np.gradient(tau, first / segment.rate, axis=0))], axis=2)
        tau, rate_of_tau = np.moveaxis(filtered(both, kernels[:1], second)[rows // second, 0], 2, 0)
        return Rows(A, tau, rate_of_tau, stretch.t[rows], qd[rows], segment.recording, heard=stretch.heard)

    def _decimate_steps(self, A: Array, states: tuple[Array, Array, Array], stride: int) -> None:
        """Filter what jumps or bends before decimation, as the torques do; all else is unchanged by it."""
        length = (len(A) - 1) * stride + 1
        # Most steps of friction depend on velocities alone.
        needed = [name in self.design.sharp_reads for name in ("q", "qd", "qdd")]
        q, qd, qdd = (
            refined(x, stride)[:length] if used else np.broadcast_to(np.nan, (length, x.shape[1]))
            for x, used in zip(states, needed, strict=True)
        )
        steps = list(self.design.sharp_columns(q, qd, qdd))
        if steps:
            torques = filtered(np.column_stack([torque for *_, torque in steps]), decimation(stride)[None], stride)
            for k, (column, joint, _) in enumerate(steps):
                A[:, joint, column] = torques[:, 0, k]

    def _filtered_columns(self, A: Array, kernels: Array, stride: int) -> Array:
        """Columns (N, n, p) after a kernel; a joint feels nothing of the links before it, about half the entries."""
        out = np.zeros((-(-len(A) // stride), *A.shape[1:]))
        for j, part in enumerate(self.design.felt):
            out[:, j, part] = filtered(A[:, j, part], kernels, stride)[:, 0]
        return out

    def _reach(self, rate: float) -> int:
        """Samples on either side that a row depends on."""
        assert self.filters is not None
        grid = grid_of(rate, self.filters)
        first = grid.states
        # Eight more: two five-point differences widen a kernel by that.
        lengths = [len(lowpass_kernel(rate / first, f)) + 8 for f in (self.filters.position, self.filters.torque)]
        own = first * sum(lengths) // 2 + len(decimation(first)) if first > 1 else sum(lengths) // 2
        return max(own, 2 * grid.settle)
