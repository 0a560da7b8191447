"""A fit as data: reduced, by recording, beside the robot as described, with and without filters."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from identification.fits import NOISE, fit, states
from tauform.errors import IdentificationError
from tauform.identification.motion.simulate import simulated_recording


def test_reduction_drops_what_does_not_matter_and_improves_the_condition() -> None:
    small = fit().reduced()
    assert len(small.values) < len(fit().values)
    assert small.raw_condition < fit().raw_condition
    assert small.held_out.total < 1.1 * fit().held_out.total
    np.testing.assert_allclose(small.residuals.relative, fit().residuals.relative, rtol=0.2)


def test_scatter_over_recordings_has_the_statistics_of_the_paper() -> None:
    scatter = fit().per_recording()
    assert scatter.estimates.shape == (3, len(fit().values))
    np.testing.assert_allclose(scatter.mean, fit().values, rtol=0, atol=5 * fit().deviations.max())
    assert (scatter.minimum <= scatter.mean).all()
    assert (scatter.mean <= scatter.maximum).all()


def test_the_identified_robot_has_the_dynamics_of_the_fit() -> None:
    q = states(arm())
    np.testing.assert_allclose(tf.inverse_dynamics(fit().identified_robot, *q), fit().predict(*q), rtol=0, atol=1e-9)


def test_a_fit_stands_beside_the_model_as_it_was_shipped() -> None:
    shipped = arm().with_parameters(arm().parameters * np.where(np.arange(3 * 14) < 30, 1.3, 0.0))
    rng = np.random.default_rng(0)
    recordings = [simulated_recording(arm(), motion(arm(), k), rng, torque_noise=NOISE) for k in (1, 2)]
    found = tf.identify(shipped, recordings, friction="plain", couplings=None)
    beside = found.compared_with()
    assert (beside.improvement > 3).all()
    np.testing.assert_allclose(beside.error_after.rms, np.sqrt((found.residuals.error**2).mean(axis=0)))
    # The truth is as near as the deviations say, the file is far off.
    assert np.abs(found.compared_with(arm()).moved).max() < 4
    assert np.abs(beside.moved).max() > 30
    with pytest.raises(IdentificationError, match="the fit is of"):
        found.compared_with(tf.load("two_link"))


def test_errors_are_told_with_and_without_filters() -> None:
    unfiltered = fit().unfiltered
    assert unfiltered is not None
    # White noise loses the part above the cut-off: here rows are kept at 2.5 times that.
    np.testing.assert_allclose(unfiltered.rms, NOISE, rtol=0.1)
    assert (fit().sigma < 0.6 * unfiltered.rms).all()
