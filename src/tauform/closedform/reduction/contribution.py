"""Contribution of each term of a closed form to the torque over a profile.  [Lloyd2021, Eqs. 65-66]"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.equations import term_names
from tauform.closedform.profile import Profile, States, usual_temperatures
from tauform.closedform.reduction.streaming import over_states, sizes
from tauform.closedform.terms.monomials import TermProducts
from tauform.deferred import deferred
from tauform.errors import ModelError

# Medians are those of the first states: all of them would not fit the memory.
MEDIAN_STATES = 1000
STATES_PER_SLICE = 128
# A term's row in print; the others are summed up.
SHOWN_TERMS = 20

TermsDone = Callable[[int], None]
Speed = Literal["slow", "fast"]


@dataclass(frozen=True, eq=False)
class Contributions:
    """rho_k = |tau of term k| / |tau| over sampled states, (p,) each.  [Lloyd2021, Eqs. 65-66]

    Terms cancel one another, so a share may exceed one.

    Attributes:
        robot, profile: whose terms, over which states.
        names: the terms, as `model.equations` writes them: "s2*qd1**2"; gravity's functions of q alone too.
        mean, maximum: over the states.
        median: over the first thousand states at most.
        n_states: how many states were sampled.
    """

    robot: str
    profile: str
    names: tuple[str, ...]
    mean: Array
    median: Array
    maximum: Array
    n_states: int

    @property
    def order(self) -> NDArray[np.int64]:
        """(p,) the terms by their mean share, the largest first."""
        return _order(self.mean)

    @property
    def n_median_states(self) -> int:
        """How many states the medians are of."""
        return min(self.n_states, MEDIAN_STATES)

    def plot(self, path: str | Path) -> Path:
        """Draw how many terms contribute how much: .png, .svg or .pdf.  [Lloyd2021, Figure 2]

        Raises:
            ModelError: another ending, or the file cannot be written.
            MissingExtraError: matplotlib is not installed.
        """
        return deferred("plot_contributions")(self, Path(path))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Contributions(of {len(self)} terms over {self.n_states} states)"

    def __str__(self) -> str:
        """The largest, a line each."""
        rows = [
            f"{self.mean[k]:10.2e} {self.median[k]:10.2e} {self.maximum[k]:10.2e}  {self.names[k] or '1'}"
            for k in self.order[:SHOWN_TERMS]
        ]
        left = len(self) - len(rows)
        more = (
            [f"and {left} more, together {self.mean[self.order[SHOWN_TERMS:]].sum():.2e} in the mean"] if left else []
        )
        return "\n".join([f"{'mean':>10} {'median':>10} {'maximum':>10}  term", *rows, *more])


def contributions(
    bound: BoundModel,
    profile: Profile,
    n_states: int = 10_000,
    rng: np.random.Generator | None = None,
    threads: int = 1,
    progress: TermsDone | None = None,
) -> Contributions:
    """Mean, median and maximum relative contribution of every term.

    Args:
        n_states: states to sample.
        rng: source of the states; a fixed one if not given.
        progress: called with the number of states done.
    """
    # A ranking decides which terms go: the same call must give the same model.
    rng = np.random.default_rng(0) if rng is None else rng
    parts = _Parts.of(bound)
    total, maximum, n_done = np.zeros(bound.n_terms), np.zeros(bound.n_terms), 0
    first_states: list[Array] = []

    def work(states: States) -> tuple[Array, Array, tuple[Array, Array]]:
        factors = parts.factors(states)
        return *parts.statistics(*factors), factors

    for summed, largest, factors in over_states(work, profile, n_states, rng, threads, size=STATES_PER_SLICE):
        total += summed
        np.maximum(maximum, largest, out=maximum)
        # Single precision: a median needs no more, and these shares are the largest array of all.
        if n_done < MEDIAN_STATES:
            first_states.append(parts.shares(*factors).astype(np.float32))
        n_done += factors[0].shape[1]
        if progress:
            progress(n_done)
    # Slices do not end at the thousandth state.
    median = np.median(np.concatenate(first_states, axis=1)[:, :MEDIAN_STATES], axis=1).astype(np.float64)
    names = term_names(bound.exponents, bound.coordinates)
    return Contributions(bound.name, profile.name, names, total / n_states, median, maximum, n_states)


def ranked_terms(bound: BoundModel, profile: Profile, n_states: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(p,) the terms by their mean share, the largest first: `contributions(...).order`, in a third of the time."""
    parts = _Parts.of(bound)

    def work(states: States) -> Array:
        return parts.statistics(*parts.factors(states))[0]

    # Neither medians nor maxima: the ranking needs the means alone.
    total = np.zeros(bound.n_terms)
    for summed in over_states(work, profile, n_states, rng, size=STATES_PER_SLICE):
        total += summed
    return _order(total / n_states)


def _order(mean: Array) -> NDArray[np.int64]:
    # Stable: equal shares (entries of a symmetric matrix) keep the order of the terms on every machine.
    return np.argsort(-mean, kind="stable")


@dataclass(frozen=True, eq=False)
class _Parts:
    """Terms by their two factors: |term k| / |tau| = size_k |monomial(q)| (|acceleration(qd, qdd)| / |tau|).

    Attributes:
        size: (p,) norm of each term's coefficients.
        groups: the terms of each acceleration.
    """

    bound: BoundModel
    products: TermProducts
    size: Array
    groups: list[NDArray[np.int64]]

    @classmethod
    def of(cls, bound: BoundModel) -> _Parts:
        products = TermProducts.of(bound.exponents, bound.coordinates)
        # The norm over joints is taken once per term, since its coefficients do not depend on the state.
        groups = [np.flatnonzero(products.acceleration == a) for a in range(products.rates.shape[1])]
        return cls(bound, products, np.linalg.norm(bound.coefficients, axis=0), groups)

    def factors(self, states: States) -> tuple[Array, Array]:
        """(m, N) size of the monomials, and (a, N) of the accelerations relative to the torque."""
        q, qd, qdd = states[:3]
        tau = sizes(self.bound.textbook.inverse_dynamics(*states))
        return np.abs(self.products.monomials(q.T)), np.abs(self.products.accelerations(qd.T, qdd.T)) / tau

    def statistics(self, monomials: Array, accelerations: Array) -> tuple[Array, Array]:
        """(p,) sum and maximum of each term over the states."""
        summed, largest = np.empty((2, len(self.size)))
        # All shares at once would need terms times states numbers; groups of one acceleration share a factor instead.
        for group, acceleration in zip(self.groups, accelerations, strict=True):
            shares = monomials[self.products.monomial[group]] * acceleration
            summed[group], largest[group] = shares.sum(axis=1), shares.max(axis=1)
        return self.size * summed, self.size * largest

    def shares(self, monomials: Array, accelerations: Array) -> Array:
        """(p, N) all of them."""
        shares: Array = monomials[self.products.monomial] * accelerations[self.products.acceleration]
        return shares * self.size[:, None]


def model_contributions(
    bound: BoundModel, profile: Profile | Speed | None = None, n_states: int = 10_000, seed: int = 0
) -> Contributions:
    """Contribution of each term; see `BoundModel.contributions`.

    Raises:
        ModelError: fewer than one state, or a profile of another robot.
    """
    if n_states < 1:
        raise ModelError(f"n_states: expected at least 1, got {n_states}")
    return contributions(bound, known_profile(bound, profile), n_states, np.random.default_rng(seed))


def known_profile(bound: BoundModel, profile: Profile | Speed | None) -> Profile:
    """A profile of the model's joints, by name or as it stands.

    Raises:
        ModelError: no such name, or another number of joints.
    """
    if isinstance(profile, Profile):
        n = profile.lower.shape[1]
        if n != bound.n_joints:
            raise ModelError(f"profile: {profile.name!r} is of {n} joints, {bound.name} has {bound.n_joints}")
        return profile.suited(bound.beside.robot)
    speeds = {"slow": Profile.slow, "fast": Profile.fast}
    if (profile or "slow") not in speeds:
        raise ModelError(f'profile: expected "slow", "fast" or a tf.Profile, got {profile!r}')
    return speeds[profile or "slow"](bound.n_joints, usual_temperatures(bound.beside.robot))
