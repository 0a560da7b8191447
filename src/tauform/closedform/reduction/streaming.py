"""Errors over any number of states in constant memory: states come in slices, errors are counted on a fine scale."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from decimal import Decimal
from typing import TypeVar

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import Profile, States

STATES_PER_SLICE = 50_000
# Errors are counted in bins of a logarithmic scale: so many per decade, from the first decade to the last.
BINS_PER_DECADE, FIRST_DECADE, LAST_DECADE = 2000, -17, 6

# Results much smaller than the largest, such as those at rest, are measured against this share of it.
SMALLEST_SHARE, SMALLEST_SIZE = 1e-12, 1e-100

T = TypeVar("T")


def sizes(results: Array) -> Array:
    """(N,) norms of results (N, m) that errors are relative to, kept above zero."""
    norms = np.linalg.norm(results, axis=1)
    # Relative errors of a torque that crosses zero say nothing: they are measured against a share of the largest.
    kept: Array = np.maximum(norms, max(SMALLEST_SHARE * norms.max(initial=0.0), SMALLEST_SIZE))
    return kept


class ErrorCounts:
    """Counts of errors by size; quantiles are exact to a bin, 0.12 %, and never below the true ones."""

    def __init__(self) -> None:
        self.n_states = 0
        self._counts = np.zeros(BINS_PER_DECADE * (LAST_DECADE - FIRST_DECADE), dtype=np.int64)

    def add(self, errors: Array) -> None:
        """Count more errors."""
        known = np.nan_to_num(errors, nan=np.inf)  # what is no number is as wrong as can be
        clipped = np.clip(known, 10.0**FIRST_DECADE, 10.0**LAST_DECADE)
        # Upper edges: a quantile is never below the true one.
        bins = np.ceil(BINS_PER_DECADE * (np.log10(clipped) - FIRST_DECADE)).astype(np.int64) - 1
        self._counts += np.bincount(np.maximum(bins, 0), minlength=len(self._counts))
        self.n_states += len(errors)

    def merge(self, other: ErrorCounts) -> None:
        """Count what another one has counted; whole numbers add up in any order."""
        self._counts += other._counts
        self.n_states += other.n_states

    def quantile(self, share: float) -> float:
        """The error that this share of the states stays below."""
        place = int(np.searchsorted(np.cumsum(self._counts), share * self.n_states))
        # The first bin holds everything below 1e-17, zeros among them.
        if place == 0:
            return 0.0
        return float(Decimal(10) ** (Decimal(place + 1) / BINS_PER_DECADE + FIRST_DECADE))


def over_states(
    work: Callable[[States], T],
    profile: Profile,
    n_states: int,
    rng: np.random.Generator,
    threads: int = 1,
    *,
    size: int = STATES_PER_SLICE,
    in_order: bool = False,
) -> Iterator[T]:
    """Results of some work on slices of a profile's states, in order.

    Slices have random numbers of their own, so the states do not depend on the number of threads. NumPy and kernels
    release the interpreter lock; no more slices are under way than there are threads.

    Args:
        size: states of a slice.
        in_order: take all states of a recording, as they stand, instead of drawing from them.
    """
    recorded = profile.recorded if in_order else None
    if recorded is not None:
        n_states = recorded.shape[1]
    firsts = range(0, n_states, size)

    def one(first: int, own: np.random.Generator) -> T:
        if recorded is None:
            return work(profile.sample(min(size, n_states - first), own))
        return work(tuple(recorded[:, first : first + size]))

    # seeds are drawn one by one: a list of a million generators would not be constant memory
    if threads == 1:
        for first in firsts:
            yield one(first, *rng.spawn(1))
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="tauform") as pool:
        running: deque[Future[T]] = deque()
        for first in firsts:
            running.append(pool.submit(one, first, *rng.spawn(1)))
            # As many slices as threads are under way: more would only fill the memory with results.
            if len(running) > threads:
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
