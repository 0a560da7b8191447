"""Errors counted slice by slice: quantiles, the same states for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from tauform.closedform.profile import Profile, States
from tauform.closedform.reduction.streaming import ErrorCounts, over_states, sizes


@pytest.mark.parametrize("share", [0.5, 0.95, 0.999])
def test_quantiles_are_those_of_the_errors_to_a_bin_and_never_below(share: float) -> None:
    errors = np.random.default_rng(0).lognormal(-5, 2, 100_000)
    counts = ErrorCounts()
    for part in np.array_split(errors, 7):
        counts.add(part)
    exact = np.quantile(errors, share, method="inverted_cdf")
    assert exact <= counts.quantile(share) <= 1.0012 * exact
    assert counts.n_states == 100_000


def test_errors_of_nothing_are_nothing() -> None:
    counts = ErrorCounts()
    counts.add(np.zeros(10))
    assert counts.quantile(0.99) == 0.0


def test_errors_that_are_no_numbers_are_the_worst() -> None:
    counts = ErrorCounts()
    counts.add(np.array([0.0, np.nan, np.inf, 1e-3]))
    assert counts.n_states == 4
    assert counts.quantile(0.5) < 1.01e-3
    assert counts.quantile(0.75) > 1e5


def test_sizes_stay_above_zero() -> None:
    assert (sizes(np.zeros((3, 2))) > 0).all()
    assert sizes(np.array([[0.0, 0.0], [3.0, 4.0]])).tolist() == [5e-12, 5.0]


def test_states_do_not_depend_on_the_number_of_threads() -> None:
    def seen(threads: int) -> list[float]:
        rng = np.random.default_rng(3)
        return list(over_states(lambda states: float(states[0].sum()), Profile.slow(3), 1000, rng, threads, size=64))

    assert seen(1) == seen(3)
    assert len(seen(1)) == 16


def test_states_of_a_recording_come_in_order_or_are_drawn() -> None:
    t = np.arange(100.0)[:, None]
    profile = Profile.trajectory(t, t, t)

    def first_column(states: States) -> list[float]:
        return states[0][:, 0].tolist()

    rng = np.random.default_rng(0)
    in_order = [x for part in over_states(first_column, profile, 5, rng, size=30, in_order=True) for x in part]
    assert in_order == t[:, 0].tolist()
    drawn = [x for part in over_states(first_column, profile, 5, rng, size=30) for x in part]
    assert len(drawn) == 5
