"""Friction at rest may have any value: neither what is identified nor how well it is known may depend on it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sampling import representatives
from verdicts.rests import ENCODERS, LENGTHS, RAMPS, Moves, arm, errors, slide

FEWEST_WITHIN = 0.9
CASES = list(itertools.product(LENGTHS, RAMPS, ENCODERS))


@pytest.mark.parametrize("which", representatives(["slide", "arm"], "slide"))
@pytest.mark.parametrize("held", ["any", "full"])
def test_what_friction_balances_at_rest_changes_nothing(which: str, held: str) -> None:
    robots = slide() if which == "slide" else arm()
    moves = [Moves((2.0, 4.0), 0.1, 1e-5, held, pause=0.3) for held in ("none", held)]
    (one, half, fit), (other, _, _) = (errors(robots, own, 1) for own in moves)
    # Only what filters leave of a rest: a small part of the interval.
    assert (np.abs(one - other) < 0.1 * half).all()
    assert (fit.evidence.rows_heard < fit.evidence.n_rows).all()


@pytest.mark.parametrize("n_draws", representatives([2, 20], 2))
def test_the_mass_of_a_slide_lies_within_its_interval(n_draws: int) -> None:
    """Short and long moves, steep and gentle ramps, exact and noisy encoders."""
    drawn = itertools.product(CASES, range(n_draws))
    found = [errors(slide(), Moves(*case, held="any"), seed) for case, seed in drawn]
    within = np.array([abs(off[0]) < half[0] for off, half, _ in found])
    assert within.mean() >= FEWEST_WITHIN


@pytest.mark.parametrize("n_draws", representatives([1, 12], 1))
def test_values_of_an_arm_lie_within_their_intervals(n_draws: int) -> None:
    found = [errors(arm(), Moves((2.0, 4.0), 0.3, 1e-5, "any", pause=0.5), seed) for seed in range(n_draws)]
    assert np.concatenate([np.abs(off) < half for off, half, _ in found]).mean() >= FEWEST_WITHIN
