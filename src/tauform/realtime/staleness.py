"""Rates of the two tasks, and how old what the background stored is when it is used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arguments import check_fields
from tauform.arrays import Array
from tauform.errors import ModelError

N_AGES = 6
LONGEST = 3600.0  # s; beyond it a time is a slip of the unit, and squares of it overflow


@dataclass(frozen=True)
class Rates:
    """When the tasks run [s].

    Attributes:
        control: period of the synchronous task.
        background: period of the background task.
        latency: from the state that the background reads to its results being used.
    """

    control: float
    background: float
    latency: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("control", "background"):
            period = getattr(self, name)
            if not 0 < period <= LONGEST:
                raise ModelError(f"{name} period: expected a positive time, at most {LONGEST:g} s, got {period}")
        if not 0 <= self.latency <= LONGEST:
            raise ModelError(f"latency: expected a time in seconds from 0 to {LONGEST:g}, got {self.latency}")
        if self.background < self.control:
            raise ModelError(
                f"the background period ({self.background:g} s) is shorter than the synchronous one "
                f"({self.control:g} s); compute everything in the synchronous task instead"
            )

    def ages(self) -> tuple[Array, Array]:
        """Ages of the stored results when they are used [s] and their shares, as nodes and weights of a quadrature.

        Ages run in steps of the control period from the latency to one background period more.
        """
        nodes, weights = np.polynomial.legendre.leggauss(N_AGES)
        first = self.latency - self.control / 2
        ages = np.maximum(first + self.background * (nodes + 1) / 2, 0.0)
        return ages, weights / 2

    def source(self, times: Array) -> Array:
        """Time of the state that the results in use at each time were computed from; times start at 0."""
        started = np.floor((times - self.latency) / self.background + 1e-9) * self.background
        latest: Array = np.maximum(started, 0.0)
        return latest
