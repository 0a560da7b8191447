"""How much each term of a closed form contributes to the torque over a profile.  [Lloyd2021, Eqs. 65-66]"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.bound import BoundModel
from tauform.closedform.monomials import Products
from tauform.closedform.profile import Profile

# Medians come from a histogram of decades: this many bins each, from 1 downwards.
BINS_PER_DECADE, DECADES = 50, 12
STATES_PER_SLICE = 64

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Contributions:
    """rho_k = |tau of term k| / |tau| over sampled states, (p,) each.

    Attributes:
        mean, maximum: over the states.
        median: to about 5 %, from a histogram; contributions below 1e-12 count as 1e-12.
        n_states: how many states were sampled.
    """

    mean: Array
    median: Array
    maximum: Array
    n_states: int


def contributions(
    bound: BoundModel,
    profile: Profile,
    n_states: int = 10_000,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
) -> Contributions:
    """Mean, median and maximum relative contribution of every term.

    Args:
        n_states: states to sample.
        rng: source of the states; a fixed one if not given.
        progress: called with the number of states done.
    """
    rng = np.random.default_rng(0) if rng is None else rng
    products = Products.of(bound.exponents)
    size = np.linalg.norm(bound.coefficients, axis=0)
    p = bound.n_terms
    total, maximum = np.zeros(p), np.zeros(p)
    n_bins = BINS_PER_DECADE * DECADES
    counts = np.zeros((p, n_bins), dtype=np.int32)
    row = np.arange(p)[:, None]
    for first in range(0, n_states, STATES_PER_SLICE):
        q, qd, qdd = profile.sample(min(STATES_PER_SLICE, n_states - first), rng)
        tau = np.linalg.norm(bound.inverse_dynamics(q, qd, qdd), axis=1)
        rho = np.abs(products.terms(q.T, qd.T, qdd.T)) * size[:, None] / tau
        total += rho.sum(axis=1)
        np.maximum(maximum, rho.max(axis=1), out=maximum)
        place = -BINS_PER_DECADE * np.log10(np.maximum(rho, 1e-300))
        np.add.at(counts, (row, np.clip(place, 0, n_bins - 1).astype(np.int64)), 1)
        if progress:
            progress(first + len(q))
    middle = np.argmax(np.cumsum(counts, axis=1) >= n_states / 2, axis=1)
    return Contributions(total / n_states, 10.0 ** (-(middle + 0.5) / BINS_PER_DECADE), maximum, n_states)
