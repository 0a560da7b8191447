"""Terms that stand in for a law that is missing: such a fit is not called good, and its terms are no physics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import tauform as tf
from identification.arms import arm, motion
from tauform.arrays import Array
from tauform.identification.motion.simulate import simulated_recording


def pulled(seed: int, pull: Array | float) -> tf.Recording:
    path = motion(arm(), seed, duration=20.0)
    recording = simulated_recording(arm(), path, np.random.default_rng(seed), torque_noise=0.3)
    return replace(recording, tau=recording.tau + pull)


def balanced(seed: int) -> tf.Recording:
    """A pull at joint 1, which no candidate has the shape of."""
    q = np.asarray(pulled(seed, 0.0).q)
    pull = np.zeros_like(q)
    pull[:, 0] = 20.0 * np.sin(2 * q[:, 0])
    return pulled(seed, pull)


def test_a_pull_that_the_terms_only_come_near_to_is_not_called_good() -> None:
    fit = tf.identify(arm(), balanced(1), validate=balanced(2))
    assert any("q" in term.reads for term in fit.terms if isinstance(term, tf.Drive)), fit.terms
    (said,) = [reason for reason in fit.verdict.reasons if reason.startswith("something pulls at joint1 that ")]
    assert "beyond the recorded positions errors may be larger" in said
    assert fit.verdict.grade != "good"


def test_a_spring_that_is_found_is_good() -> None:
    springs = [np.zeros_like(np.asarray(pulled(seed, 0.0).q)) for seed in (1, 2)]
    for seed, pull in zip((1, 2), springs, strict=True):
        pull[:, 2] = 12.0 * np.asarray(pulled(seed, 0.0).q)[:, 2]
    fit = tf.identify(arm(), pulled(1, springs[0]), validate=pulled(2, springs[1]))
    assert any(finding.startswith("found K_3") for finding in fit.findings)
    assert fit.verdict.grade == "good", str(fit.verdict)


def test_a_slip_is_not_trusted_and_nothing_else_is_said_of_it() -> None:
    recording = pulled(1, 0.0)
    q = np.array(recording.q)
    q[len(q) // 2 :, 1] += 0.15
    verdict = tf.identify(arm(), replace(recording, q=q)).verdict
    assert verdict.grade == "not trustworthy"
    assert "the position of joint2 steps by 0.15" in verdict.reasons[0]
    assert not any("wrong sign" in reason or "known to no better" in reason for reason in verdict.reasons)
