"""Rates of the two tasks, and how old what the background stored is when it is used."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arguments import check_fields
from tauform.arrays import Array
from tauform.errors import ModelError

N_AGES, FEW_TICKS = 6, 10
MOST_RUNS = 100  # between two renewals of the coefficients
MAX_SECONDS = 3600.0  # s; beyond it a time is a slip of the unit, and squares of it overflow


@dataclass(frozen=True)
class Rates:
    """Periods of the tasks [s].

    Attributes:
        control: period of the synchronous task.
        background: period of the background task.
        latency: from the state that the background reads to its results being used.
        coefficients_every: the mass matrix and gravity, which positions alone determine, are renewed at every so
            many-th run of the background; velocity torques at every one.
    """

    control: float
    background: float
    latency: float = 0.0
    coefficients_every: int = 1

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("control", "background"):
            period = getattr(self, name)
            if not 0 < period <= MAX_SECONDS:
                raise ModelError(f"{name} period: expected a positive time, at most {MAX_SECONDS:g} s, got {period}")
        if not 0 <= self.latency <= MAX_SECONDS:
            raise ModelError(f"latency: expected a time in seconds from 0 to {MAX_SECONDS:g}, got {self.latency}")
        if self.background < self.control:
            raise ModelError(
                f"the background period ({self.background:g} s) is shorter than the synchronous one "
                f"({self.control:g} s); compute everything in the synchronous task instead"
            )
        if not 1 <= self.coefficients_every <= MOST_RUNS:
            raise ModelError(
                f"coefficients_every: expected a number of background runs from 1 to {MOST_RUNS}, got "
                f"{self.coefficients_every}"
            )

    def ages(self) -> tuple[Array, Array, Array]:
        """Ages of the coefficients and of the velocity torques when they are used [s], and how often (shares).

        Ages of the velocity torques run in steps of the control period from the latency to one background period
        more, all of them where they are few, else as nodes and weights of a quadrature; those of the coefficients are
        whole background periods older.
        """
        ticks = self.background / self.control
        # Few ticks per run: each age is met exactly as often as the others.
        if ticks < FEW_TICKS and abs(ticks - round(ticks)) < 1e-9:
            fresh = self.latency + self.control * np.arange(round(ticks))
            weights = np.full(len(fresh), 1 / len(fresh))
        else:
            # Many: ages spread evenly, and the error is smooth in them, so that six nodes integrate it.
            nodes, weights = np.polynomial.legendre.leggauss(N_AGES)
            # Each age stands for the tick about it: the range begins half a tick before the first.
            first = self.latency - self.control / 2
            fresh = np.maximum(first + self.background * (nodes + 1) / 2, 0.0)
            weights = weights / 2
        runs = np.arange(self.coefficients_every)
        older = fresh[None, :] + self.background * runs[:, None]
        # Every run between two renewals is as frequent as the others.
        shares = np.broadcast_to(weights / len(runs), older.shape)
        return older.ravel(), np.tile(fresh, len(runs)), shares.ravel()

    def sources(self, times: Array) -> tuple[Array, Array]:
        """Times of the states that coefficients and velocity torques in use were computed from; times start at 0."""
        # The margin: a tick exactly at an update must not round to the run before.
        runs = np.maximum(np.floor((times - self.latency) / self.background + 1e-9), 0.0)
        renewed = self.coefficients_every * np.floor(runs / self.coefficients_every)
        return renewed * self.background, runs * self.background
