"""Friction at rest may have any value: neither what is identified nor how well it is known may depend on it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.arrays import Array
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


def test_a_joint_that_creeps_says_nothing_of_its_friction() -> None:
    """Half of the moves are so slow that the encoder does not tell their direction."""
    _, true = slide()
    t, q, qd, qdd = creeping_moves(np.random.default_rng(4))
    tau = tf.inverse_dynamics(true, q, qd, qdd)
    rng = np.random.default_rng(5)
    tau += 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    fit = tf.identify(true, tf.Recording(t, q + 2e-5 * rng.normal(size=q.shape), tau), friction="plain", couplings=None)
    # Signs of noise would leave twice the friction: 15 N beside 118 N of weight.
    assert fit.residuals.total < 0.05
    coulomb = fit.names.index("Fc_1")
    assert fit.values[coulomb] == pytest.approx(15.0, abs=min(0.3, 3 * fit.deviations[coulomb]))


def creeping_moves(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Time, positions and rates of smooth moves to and fro, every other one of some millimetres in two seconds."""
    parts, here = [], 0.0
    s = np.arange(0.0, 1.0, 1 / 400.0)
    bends = 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * (s**2 - 2 * s**3 + s**4), 60 * (s - 3 * s**2 + 2 * s**3)
    for k in range(40):
        length, duration = (rng.uniform(0.2, 0.4) * (-1) ** (k // 2), 0.6) if k % 2 == 0 else (5e-3, 2.0)
        # As many samples per second in all moves.
        count = round(duration * 100.0)
        own = [np.interp(np.arange(count) / count, s, bend) for bend in bends]
        parts.append(
            np.column_stack([here + length * own[0], length / duration * own[1], length / duration**2 * own[2]])
        )
        here += length
    rows = np.concatenate(parts)
    return np.arange(len(rows)) / 100.0, *(rows[:, k : k + 1] for k in range(3))


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
