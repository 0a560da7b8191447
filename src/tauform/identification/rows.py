"""Rows of the least-squares problem: states from positions, columns from states, both sides filtered alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.identification.design import Design
from tauform.identification.differentiate import Smoother
from tauform.identification.filters import STATES_FACTOR, Filters, lowpass
from tauform.identification.recording import pieces
from tauform.identification.segments import Segment

# Anti-alias filter before samples are thinned out, relative to the new rate; far above the torque's cut-off.
ANTI_ALIAS = 0.4
# Samples a piece that is filtered: its columns stay near the processor and its memory is used again.
PIECE = 40_000
# Columns of all rows are kept in memory below this many numbers (half a gigabyte), and evaluated anew on each pass
# above it.
KEPT_NUMBERS = 64_000_000


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
    """

    A: Array
    tau: Array
    rate_of_tau: Array
    t: Array
    qd: Array
    recording: int


@dataclass(frozen=True, eq=False)
class RowSource:
    """All rows of some segments, in order; evaluated piece by piece, so memory does not grow with the recording.

    Attributes:
        filters: None leaves every sample as it is.
        smoother: how positions become velocities and accelerations.
        rest: (n,) speeds below which a joint counts as standing; rows where all stand are left out, for friction at
            rest may have any value.
    """

    design: Design
    segments: tuple[Segment, ...]
    filters: Filters | None
    smoother: Smoother
    rest: Array | None = None

    def __iter__(self) -> Iterator[Rows]:
        for segment in self.segments:
            yield from self._of(segment)

    def n_rows(self, segment: Segment) -> int:
        """About how many rows a segment gives."""
        if self.filters is None:
            return segment.n_samples
        stride = np.prod(strides(segment.rate, self.filters))
        return max(0, int((segment.n_samples - 2 * self.filters.settle * segment.rate) / stride))

    @property
    def total_rows(self) -> int:
        """About how many rows there are."""
        return sum(self.n_rows(segment) for segment in self.segments)

    def __bool__(self) -> bool:
        return bool(self.segments)

    def kept(self) -> Sequence[Rows] | RowSource:
        """The rows themselves where they fit into memory, else this source."""
        fits = self.total_rows * self.design.n_columns * self.design.robot.n_joints < KEPT_NUMBERS
        return list(self) if fits else self

    def _of(self, segment: Segment) -> Iterator[Rows]:
        if self.filters is None:
            for part, _ in pieces(segment.n_samples, size=20_000):
                yield self._raw(segment, part)
            return
        settle = int(np.ceil(self.filters.settle * segment.rate))
        for part, own in pieces(segment.n_samples, overlap=2 * settle, size=PIECE):
            rows = self._filtered(segment, part, own, settle)
            if len(rows.t):
                yield rows

    def _raw(self, segment: Segment, part: slice) -> Rows:
        q, qd, qdd = self.smoother.states(segment, part, None)
        tau = np.asarray(segment.tau[part])
        rate_of_tau = np.gradient(tau, 1.0 / segment.rate, axis=0) if len(tau) > 1 else 0 * tau
        return Rows(self.design.columns(q, qd, qdd), tau, rate_of_tau, segment.t[part], qd, segment.recording)

    def _filtered(self, segment: Segment, part: slice, own: slice, settle: int) -> Rows:
        assert self.filters is not None
        q, qd, qdd = self.smoother.states(segment, part, self.filters)
        first, second = strides(segment.rate, self.filters)
        rate = segment.rate / first
        tau = np.asarray(segment.tau[part], dtype=np.float64)
        # The same filter on both sides keeps the equation true, whatever it does to the signals. What is smooth passes
        # the one before thinning out unchanged; steps of friction, like the torques, do not.
        steps = list(self.design.sharp_columns(q, qd, qdd)) if first > 1 else []
        if first > 1:
            tau = lowpass(tau, segment.rate, ANTI_ALIAS * rate)[::first]
        q, qd, qdd = q[::first], qd[::first], qdd[::first]
        A = self.design.columns(q, qd, qdd, total=segment.n_samples // first)
        for column, joint, torque in steps:
            A[:, joint, column] = lowpass(torque, segment.rate, ANTI_ALIAS * rate)[::first]
        flat = A.reshape(len(A), -1)
        active = np.flatnonzero(flat.any(axis=0))  # a joint feels nothing of the links before it: half the entries
        flat[:, active] = lowpass(flat[:, active], rate, self.filters.torque)
        tau = lowpass(tau, rate, self.filters.torque)
        rate_of_tau = np.gradient(tau, 1.0 / rate, axis=0)
        index = np.arange(part.start, part.stop, first)
        start, stop = max(part.start + own.start, settle), min(part.start + own.stop, segment.n_samples - settle)
        keep = np.flatnonzero((index >= start) & (index < stop))[::second]
        if self.rest is not None:
            keep = keep[(np.abs(qd[keep]) > self.rest).any(axis=1)]
        t = segment.t[index[keep]]
        return Rows(A[keep], tau[keep], rate_of_tau[keep], t, qd[keep], segment.recording)


def strides(rate: float, filters: Filters) -> tuple[int, int]:
    """How samples are thinned out: to the states that columns are evaluated at, then to the rows that are kept."""
    first = max(1, int(rate / (STATES_FACTOR * filters.position)))
    second = max(1, int(rate / first / filters.rows))
    return first, second
