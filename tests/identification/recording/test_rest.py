"""Recordings in which joints rest: validated, simulated and weighed with, and refused where nothing moves."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.errors import IdentificationError, RecordingError
from tauform.identification.motion.simulate import simulated_recording

LOAD = tf.Inertia.of(8.0, com=[0.03, -0.02, 0.08], inertia=[0.05, 0.05, 0.04, 0.0, 0.0, 0.0], inertia_about="com")


@cache
def fit() -> tf.Fit:
    rng = np.random.default_rng(0)
    records = [simulated_recording(arm(), motion(arm(), k), rng, torque_noise=0.2) for k in (1, 2)]
    return tf.identify(arm(), records, friction="plain", couplings=None)


def resting_recording(
    moving: tuple[bool, ...], robot: tf.Robot | None = None, friction: float = 0.0, noise: float = 0.2
) -> tf.Recording:
    """Joints that do not move are held by torques that hide a share of their friction; encoders flicker."""
    rng, path = np.random.default_rng(4), motion(arm(), 5)
    q, qd, qdd = np.where(moving, path.q, [0.2, -0.7, 0.9]), path.qd * moving, path.qdd * moving
    held = np.where(moving, 0.0, friction * np.array([joint.coulomb for joint in arm().joints]))
    tau = tf.inverse_dynamics(robot or arm(), q, qd, qdd) + held + noise * rng.normal(size=q.shape)
    return tf.Recording(path.t, q + 1e-6 * rng.normal(size=q.shape) * (noise > 0), tau, name="resting")


def test_joints_at_rest_are_not_judged_and_the_others_are() -> None:
    moving = (True, True, False)
    # Friction at rest of any value must not count against the model.
    judged = [
        tf.identify(
            arm(),
            [simulated_recording(arm(), motion(arm(), 1), np.random.default_rng(0), torque_noise=0.2)],
            friction="plain",
            couplings=None,
            validate=resting_recording(moving, friction=share),
        )
        for share in (0.0, 0.9)
    ]
    for found in judged:
        assert found.validation is not None
        assert found.validation.joints[2] == 0
        assert 0 < found.validation.joints[:2].max() < 0.05
        assert any("resting: joint3 at rest there, and not judged" in finding for finding in found.findings)
    assert judged[0].validation.total == pytest.approx(judged[1].validation.total, rel=1e-9)


def test_a_joint_at_rest_may_need_no_torque_at_all() -> None:
    """Simulations log exact zeros there; a joint that moves without torque stays suspicious."""
    moving = (True, True, False)
    recording = resting_recording(moving, noise=0.0)
    silent = tf.Recording(recording.t, recording.q, recording.tau * moving)
    assert tf.validate_by_simulation(fit(), silent).held.tolist() == [False, False, True]
    with pytest.raises(RecordingError, match="torque of joint 'joint1' is 0"):
        tf.validate_by_simulation(fit(), tf.Recording(recording.t, recording.q, recording.tau * (False, True, True)))


def test_a_held_joint_stays_and_the_others_go_where_the_robot_went() -> None:
    found = tf.validate_by_simulation(fit(), resting_recording((False, True, True), friction=0.9))
    assert found.held.tolist() == [True, False, False]
    assert np.ptp(found.q[:, 0]) < 1e-5
    assert found.relative[0] == 0
    assert (found.relative[1:] < 0.1).all()


@pytest.mark.parametrize(("moving", "share"), [((False, True, True), 0.9), ((False, False, True), -0.9)])
def test_a_load_is_weighed_while_joints_rest(moving: tuple[bool, ...], share: float) -> None:
    """Friction that hides at rest widens the deviations, which hold the truth."""
    recording = resting_recording(moving, arm().with_payload(LOAD), share)
    found, free = tf.identify_payload(fit(), recording), tf.identify_payload(fit(), loaded_recording())
    off = np.abs(found.inertia.parameters - LOAD.parameters) / found.deviations
    assert (off < 4).all()
    assert found.deviations[0] > free.deviations[0]
    assert found.mass == pytest.approx(LOAD.mass, rel=0.25)


def loaded_recording() -> tf.Recording:
    return resting_recording((True, True, True), arm().with_payload(LOAD))


def test_recordings_without_any_motion_are_refused() -> None:
    recording = resting_recording((False, False, False), noise=0.0)
    for use in (tf.validate_by_simulation, tf.identify_payload):
        with pytest.raises(IdentificationError, match="no joint moves"):
            use(fit(), recording)
