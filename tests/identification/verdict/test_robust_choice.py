"""Rows that leave far more than the others: held-out blocks choose robust values, and what follows from them is robust.

Pushes of a tenth of a second to half of one are no part of any model; a fit that counts all rows alike bends to them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from sampling import representatives
from tauform.arrays import Array
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.outliers import has_heavy_tails
from tauform.identification.verdict.refit import with_columns
from verdicts.tails import error, recorded

PLAIN = {"friction": "plain", "couplings": None}


def pushed(seed: int) -> tf.Recording:
    return recorded(arm(), "pushes", seed)


@cache
def robust_fit() -> tf.Fit:
    fit = tf.identify(arm(), pushed(1), **PLAIN)
    assert "robust" in fit.method
    return fit


def plain_fit() -> tf.Fit:
    return tf.identify(arm(), pushed(1), method="weighted", **PLAIN)


def test_held_out_blocks_choose_robust_values_where_something_pushed() -> None:
    fit, plain = robust_fit(), plain_fit()
    assert any("held-out blocks chose robust values (free " in finding for finding in fit.findings)
    # Fewer blocks choose otherwise: what that costs is part of the error.
    assert fit.choice_cost >= plain.choice_cost
    assert fit.held_out.total / fit.choice_cost < 0.98 * plain.held_out.total / plain.choice_cost
    assert error(fit, arm(), 0) < 0.7 * error(plain, arm(), 0)


@pytest.mark.parametrize("seed", representatives(range(10), 0))
def test_where_nothing_pushed_all_rows_count_alike(seed: int) -> None:
    recording = recorded(arm(), "white noise", seed)
    fit, plain = (tf.identify(arm(), recording, method=method, **PLAIN) for method in ("auto", "weighted"))
    assert not has_heavy_tails(fit.residuals)
    np.testing.assert_array_equal(fit.values, plain.values)
    assert fit.evidence.counted is None


def test_what_filters_leave_of_exact_data_has_no_tails() -> None:
    log = simulated_recording(arm(), motion(arm(), 0, duration=10.0, rate=200.0), np.random.default_rng(0))
    fit = tf.identify(arm(), log)
    assert fit.residuals.total < 1e-4
    assert "robust" not in fit.method


def test_a_choice_of_robust_values_makes_predictions_better_as_a_rule() -> None:
    ratios = []
    for seed in (2, 3, 4, 5):
        recording = pushed(seed)
        fit, plain = (tf.identify(arm(), recording, method=method, **PLAIN) for method in ("auto", "weighted"))
        ratios.append(error(fit, arm(), 0) / error(plain, arm(), 0))
    assert max(ratios) < 1.1
    assert np.median(ratios) < 0.9


def test_refits_of_a_robust_fit_are_robust() -> None:
    """Fewer values, physical links and values of the same columns: what was judged is what is shipped."""
    fit, plain = robust_fit(), plain_fit()
    same = with_columns(fit, range(len(fit.values)))
    np.testing.assert_allclose(same.values, fit.values, rtol=1e-6, atol=1e-9)
    assert "robust" in same.method
    physical = fit.physically_consistent()
    assert "robust" in physical.method
    assert error(physical, arm(), 0) < 0.8 * error(plain.physically_consistent(), arm(), 0)
    # With all values of the links, so that none that was left out counts.
    kept = range(fit.design.base.n)
    assert error(with_columns(physical, kept), arm(), 0) < 0.8 * error(with_columns(plain, kept), arm(), 0)
    assert "robust" in fit.reduced().method


def test_a_saved_robust_fit_reduces_to_the_same_values(tmp_path: Path) -> None:
    fit = robust_fit()
    again = tf.load_fit(fit.save(tmp_path / "fit.npz"))
    assert again.evidence.counted is not None
    np.testing.assert_array_equal(again.evidence.counted, fit.evidence.counted)
    small = fit.reduced()
    np.testing.assert_allclose(again.reduced().values, small.values, rtol=1e-9, atol=1e-12)
    reloaded = tf.load_fit(small.save(tmp_path / "small.npz"))
    np.testing.assert_allclose(whole(reloaded), whole(small), rtol=1e-9, atol=1e-12)


def whole(fit: tf.Fit) -> Array:
    """The values that a reduced fit has when all that it left out takes part again."""
    assert fit.unreduced is not None
    evidence, weights = fit.unreduced.evidence, fit.weights
    assert evidence.counted is not None
    assert weights is not None
    stack = evidence.stacked(weights)
    return np.asarray(np.linalg.lstsq(stack[:, :-1], stack[:, -1], rcond=None)[0])


def test_intervals_of_robust_fits_cover_the_truth() -> None:
    inside = []
    for seed in range(8):
        fit = tf.identify(arm(), pushed(seed), method="robust", **PLAIN)
        z = np.abs(fit.values - fit.design.values_of(arm())) / fit.deviations
        inside.append((z < 1.96).mean())
    assert np.mean(inside) > 0.9
