"""Springs and couplings are found where the whole motion shows them, and the report says what they buy."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.identification.motion.simulate import simulated_recording


def recorded(stiffness: float, stretch: slice, seed: int = 3) -> tf.Recording:
    """A recording in which a spring pulls at the third joint during part of the motion."""
    path = motion(arm(), seed, duration=16.0)
    recording = simulated_recording(arm(), path, np.random.default_rng(seed), torque_noise=0.3)
    tau = recording.tau.copy()
    tau[stretch, 2] += stiffness * path.q[stretch, 2]
    return tf.Recording(recording.t, recording.q, tau)


def springs(fit: tf.Fit) -> list[str]:
    return [term.name for term in fit.terms if term.name.startswith("K")]


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_spring_that_one_stretch_shows_is_not_part_of_the_drive(seed: int) -> None:
    assert springs(tf.identify(arm(), recorded(8.0, slice(600, 800), seed))) == []


def test_a_spring_is_found_with_what_it_buys() -> None:
    fit = tf.identify(arm(), recorded(8.0, slice(None)))
    assert springs(fit) == ["K_3"]
    (told,) = [finding for finding in fit.findings if finding.startswith("found K_3")]
    figures = re.search(
        r"a spring .*; it lowers the held-out error of 'joint3' from ([\d.]+) to ([\d.]+) %, on (\d) of 8", told
    )
    assert figures is not None, told
    before, after, blocks = map(float, figures.groups())
    without = tf.identify(arm(), recorded(8.0, slice(None)), friction="plain", couplings=None)
    assert 5 * after < before < 1.2 * 100 * without.held_out.joints[2]
    assert after == pytest.approx(100 * fit.held_out.joints[2], rel=0.3)
    assert blocks == 8


def test_smooth_steps_need_no_more_evidence_than_they_cost() -> None:
    """A width takes the place of a sharp step without a further column: moderate evidence is enough."""
    path, errors = motion(arm(), 21, duration=20.0), []
    speed = np.percentile(np.abs(path.qd), 95, axis=0)
    rng = np.random.default_rng(21)
    extra = 5.0 * np.tanh(path.qd / (0.03 * speed))
    tau = tf.inverse_dynamics(arm(), path.q, path.qd, path.qdd) + extra
    noise = 0.03 * tau.std(axis=0) * rng.normal(size=tau.shape)
    fit = tf.identify(arm(), tf.Recording(path.t, path.q, tau + noise), couplings=None)
    for friction in (fit, tf.identify(arm(), tf.Recording(path.t, path.q, tau + noise), friction="plain")):
        errors.append(np.sqrt(((friction.predict(path.q, path.qd, path.qdd) - tau) ** 2).mean() / (tau**2).mean()))
    assert np.count_nonzero(fit.design.widths) >= 2
    assert errors[0] < 0.7 * errors[1]
