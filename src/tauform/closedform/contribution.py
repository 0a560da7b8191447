"""How much each term of a closed form contributes to the torque over a profile.  [Lloyd2021, Eqs. 65-66]"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.bound import BoundModel
from tauform.closedform.monomials import Products
from tauform.closedform.profile import Profile

# Medians are those of the first states: all of them would not fit the memory.
MEDIAN_STATES = 1000
STATES_PER_SLICE = 64

Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Contributions:
    """rho_k = |tau of term k| / |tau| over sampled states, (p,) each.

    Attributes:
        mean, maximum: over the states.
        median: over the first thousand states at most.
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
    first_states: list[Array] = []
    for first in range(0, n_states, STATES_PER_SLICE):
        q, qd, qdd = profile.sample(min(STATES_PER_SLICE, n_states - first), rng)
        tau = np.linalg.norm(bound.inverse_dynamics(q, qd, qdd), axis=1)
        rho = np.abs(products.terms(q.T, qd.T, qdd.T)) * size[:, None] / tau
        total += rho.sum(axis=1)
        np.maximum(maximum, rho.max(axis=1), out=maximum)
        if first < MEDIAN_STATES:
            first_states.append(rho.astype(np.float32))
        if progress:
            progress(first + len(q))
    median = np.median(np.concatenate(first_states, axis=1), axis=1).astype(np.float64)
    return Contributions(total / n_states, median, maximum, n_states)
