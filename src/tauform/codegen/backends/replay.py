"""Replay: recorded motion that a written torque function is run on, and the error that it must show there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tauform.arrays import AnyArray, Array

# Significant digits of stored numbers: below what any sensor resolves, half the length of exact ones.
DIGITS = 9
# What figures may differ by where rounding alone does not ask for more, as a share of the torque.
LEAST_ALLOWED = 1e-6


@dataclass(frozen=True, eq=False)
class Kernels:
    """Filters of one sampling rate: sum of kernel[k] x[i + k - half].

    Attributes:
        between: (m, L) the states at m places from one stored state to the next; (1, 1) where those suffice.
        decimate: (L,) that torques at all places pass before every m-th is kept.
        lowpass: (L,) that computed and measured torques pass before they are compared.
    """

    between: Array
    decimate: Array
    lowpass: Array


@dataclass(frozen=True, eq=False)
class Track:
    """States at a constant rate.

    Attributes:
        t: (N,) time [s].
        inputs: (N, m) the function's inputs, side by side.
        measured: (N, n) torques.
        rows: (N,) whether the torques are compared at this state.
        kernels: index of the filters.
        moving: (N, n) whether each joint moves; at rest both torques count as zero. None where all move.
    """

    t: Array
    inputs: Array
    measured: Array
    rows: AnyArray
    kernels: int = 0
    moving: AnyArray | None = None

    @cached_property
    def codes(self) -> AnyArray:
        """(N,) whole numbers: 1 where torques are compared, and 2^(j + 1) where joint j is at rest."""
        found = self.rows.astype(np.int64)
        if self.moving is None:
            return found
        return found + np.where(self.moving, 0, 2 << np.arange(self.moving.shape[1])).sum(axis=1)


@dataclass(frozen=True)
class Figure:
    """Torque error of a function: RMS error over RMS torque, all joints together.

    Attributes:
        function: the program's name.
        error: what was found before code was written.
        allowed: what the code's own figure may differ by.
    """

    function: str
    error: float
    allowed: float


@dataclass(frozen=True, eq=False)
class Replay:
    """Recorded motion with the figures of the functions that are run on it.

    Attributes:
        ports: names of the inputs, in the order of the tracks' columns.
        figures: one per function.
        motion: what was recorded, in words.
        verdict: sentence about the figure that the model was judged by.
    """

    ports: tuple[str, ...]
    tracks: tuple[Track, ...]
    kernels: tuple[Kernels, ...]
    figures: tuple[Figure, ...]
    motion: str
    verdict: str

    @cached_property
    def n_states(self) -> int:
        """States of all tracks."""
        return sum(len(track.t) for track in self.tracks)


def rounded(values: Array) -> Array:
    """The numbers as they are stored."""
    # By way of text, since that is how they are stored: the interpreter sees what C reads.
    return np.array([float(f"{value:.{DIGITS}g}") for value in np.ravel(values).tolist()]).reshape(np.shape(values))
