"""The true reason comes first, and with it the remedy: short recordings, rests, motion beyond what was fitted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.errors import IdentificationError
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.motion.trajectory import Trajectory

NOISE = (1.0, 1.0, 0.5)
RATE = 100.0


def fitted(validate: tf.Recording, duration: float = 20.0) -> tf.Fit:
    path = motion(arm(), 1, duration=duration, harmonics=10)
    recording = simulated_recording(arm(), path, np.random.default_rng(0), torque_noise=NOISE, position_noise=1e-4)
    return tf.identify(arm(), replace(recording, reference=None), validate=validate, friction="plain", couplings=None)


def point_to_point(rest: float, friction_at_rest: bool) -> tf.Recording:
    """Five moves of 1.5 s, each followed by a rest in which friction holds whatever it can."""
    rng = np.random.default_rng(3)
    s = np.linspace(0, 1, int(1.5 * RATE))[:, None]
    steps = np.diff(rng.uniform(-1, 1, (6, 3)), axis=0)
    start = rng.uniform(-0.5, 0.5, 3)
    q, stick = [], []
    for step in steps:
        q += [start + step * (10 * s**3 - 15 * s**4 + 6 * s**5), np.tile(start + step, (int(rest * RATE), 1))]
        stick += [0 * q[-2], np.tile(rng.uniform(-1, 1, 3), (int(rest * RATE), 1))]
        start = start + step
    positions = np.concatenate(q)
    qd = np.gradient(positions, 1 / RATE, axis=0)
    path = Trajectory(np.arange(len(qd)) / RATE, positions, qd, np.gradient(qd, 1 / RATE, axis=0), arm().joint_names)
    recording = simulated_recording(arm(), path, rng, torque_noise=NOISE, position_noise=1e-4)
    held = np.concatenate(stick) * [joint.coulomb for joint in arm().joints]
    return replace(recording, reference=None, tau=recording.tau + friction_at_rest * held)


@pytest.mark.parametrize("rate", [100.0, 1000.0])
def test_a_recording_of_a_moment_is_too_short(rate: float) -> None:
    path = motion(arm(), 1, rate=rate)
    recording = simulated_recording(arm(), path, np.random.default_rng(0), torque_noise=NOISE)
    said = (
        r"^in 0\.\d+ s of motion joint1, joint2 never turn back, which does not show Fc_1, .*; record for longer, every"
    )
    with pytest.raises(IdentificationError, match=said):
        tf.identify(arm(), recording.between(0.5, 1.3))


def test_a_short_recording_is_called_short_before_what_follows_from_it() -> None:
    recording = simulated_recording(arm(), motion(arm(), 1), np.random.default_rng(0), torque_noise=NOISE)
    verdict = tf.identify(arm(), recording.between(0.5, 3.5), method="weighted").verdict
    assert "s of motion are too short, or too plain" in verdict.reasons[0]
    assert verdict.next[0].startswith("record for longer")


def test_errors_at_rest_are_not_blamed_on_the_fit(tmp_path: Path) -> None:
    fit = fitted(point_to_point(rest=6.0, friction_at_rest=True))
    assert fit.verdict.grade == "good", fit.verdict.reasons
    # Friction at rest is no error of the model: the same motion without rests, or without that friction, says as much.
    for other in (point_to_point(rest=0.0, friction_at_rest=True), point_to_point(rest=6.0, friction_at_rest=False)):
        assert fit.unseen.total == pytest.approx(fitted(other).unseen.total, rel=0.2)
    again = tf.load_fit(fit.save(tmp_path / "fit.npz"))
    assert again.verdict.reasons == fit.verdict.reasons


def test_motion_beyond_the_fitted_one_is_named() -> None:
    fast = motion(arm(), 2, duration=3.0, harmonics=5)
    recording = simulated_recording(arm(), fast, np.random.default_rng(2), torque_noise=NOISE)
    verdict = fitted(replace(recording, reference=None), duration=60.0).verdict
    assert verdict.reasons[0].startswith("validation recordings reach ")
    assert "times the speed of joint1" in verdict.reasons[0]
    assert verdict.next[0] == "fit a recording with such motion too"


def test_what_is_not_explained_is_not_called_short() -> None:
    """Another arm, heavier by a third: neither rests nor speeds differ."""
    heavier = arm().with_parameters(1.3 * arm().parameters)
    recording = simulated_recording(heavier, motion(arm(), 2, duration=20, harmonics=10), np.random.default_rng(2))
    verdict = fitted(recording).verdict
    assert "validation recordings move otherwise than the fitted ones" in verdict.reasons[0]
    assert verdict.next[0] == "fit recordings of both kinds of motion together"
