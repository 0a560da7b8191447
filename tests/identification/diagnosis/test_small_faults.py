"""Small faults and loads of single recordings are found by trying them; clean recordings are not suspected."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.diagnosis.readings import find_bad_readings
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.diagnosis.small import Tried, _gain
from tauform.identification.diagnosis.trial import Trial
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.recording.segments import Segment, uniform_segments


def recorded(robot: tf.Robot, seed: int = 1) -> tf.Recording:
    path = motion(robot, seed, duration=12.0)
    return simulated_recording(robot, path, np.random.default_rng(seed), torque_noise=0.5)


def said(fit: tf.Fit) -> str:
    return " ".join((*fit.verdict.reasons, *fit.findings))


def loaded(robot: tf.Robot) -> tf.Robot:
    return robot.with_payload(tf.Inertia.of(4.0, [0.05, 0.0, 0.1], np.eye(3) * 0.01, inertia_about="com"))


def test_a_load_of_the_validation_recording_alone_is_named() -> None:
    fit = tf.identify(arm(), recorded(arm()), validate=recorded(loaded(arm()), seed=2))
    assert "in the validation recordings the last link carries a load of about 4 kg" in fit.verdict.reasons[0]
    assert "something moves that the description holds still (a locked joint, a gripper)" not in said(fit)
    clean = tf.identify(arm(), recorded(arm()), validate=recorded(arm(), seed=2))
    assert "load" not in said(clean)


@pytest.mark.parametrize("which", [0, 1])
def test_a_load_of_one_of_several_recordings_is_named(which: int) -> None:
    several = [recorded(loaded(arm()) if k == which else arm(), seed=k + 1) for k in range(2)]
    fit = tf.identify(arm(), several)
    assert f"recording {which + 1} carries a load of about 4 kg that the others do not" in said(fit)
    assert fit.verdict.grade != "good"


def test_an_encoder_whose_zero_is_off_is_named_with_the_angle() -> None:
    recording = recorded(arm())
    fit = tf.identify(arm(), replace(recording, q=np.add(recording.q, [0.0, 0.15, 0.0])))
    found = re.search(r"the encoder of joint2 is off by (\S+) \+- (\S+) rad", said(fit))
    assert found is not None
    assert abs(float(found[1]) - 0.15) < float(found[2])
    assert fit.verdict.grade != "good"
    assert "encoder" not in said(tf.identify(arm(), recording))


def tilted(angle_deg: float, about: float) -> tf.Robot:
    angle = np.deg2rad(angle_deg)
    across = 9.81 * np.sin(angle) * np.array([np.cos(about), np.sin(about)])
    return arm().with_gravity((*across, -9.81 * np.cos(angle)))


@pytest.mark.parametrize(("angle", "about"), [(8.0, 0.0), (3.0, 0.5)])
def test_a_tilted_base_is_named_with_its_gravity(angle: float, about: float) -> None:
    fit = tf.identify(arm(), recorded(tilted(angle, about), seed=2))
    found = re.search(r"the base is tilted by (\S+) \+- (\S+) degrees", said(fit))
    assert found is not None, said(fit)
    assert abs(float(found[1]) - angle) < 1.5 * float(found[2])
    assert float(found[2]) < 0.6
    assert fit.verdict.grade != "good"
    # Ripple and springs that the tilt makes up are not offered as physics.
    assert not any(sentence.startswith("found ") for sentence in fit.findings)
    assert "no physics before that is mended" in said(fit)


def test_a_level_base_is_not_called_tilted() -> None:
    fit = tf.identify(arm(), recorded(arm()))
    assert "tilted" not in said(fit)
    assert "torque gain" not in said(fit)


@pytest.mark.parametrize("factor", [0.7, 1.6])
def test_a_gain_of_one_joint_is_named_with_its_factor(factor: float) -> None:
    recording = recorded(arm())
    fit = tf.identify(arm(), replace(recording, tau=np.multiply(recording.tau, [1.0, 1.0, factor])))
    found = re.search(r"the torque gain of joint3 is (\S+) \+- (\S+) times that of the other joints", said(fit))
    assert found is not None, said(fit)
    assert abs(float(found[1]) - factor) < 1.5 * float(found[2])
    assert fit.verdict.grade != "good"


def changed(recording: tf.Recording, kind: str) -> tf.Recording:
    q, tau = np.array(recording.q), np.array(recording.tau)
    if kind == "outlier":
        q[400:403, 1] += 0.4
    elif kind == "slip":
        q[500:, 1] += 0.3
    elif kind == "spike":
        tau[600, 2] += 20 * np.ptp(tau[:, 2])
    else:
        q[300:420], tau[300:420] = q[300], tau[300]
    return replace(recording, q=q, tau=tau)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("outlier", "3 position samples of joint2 off by 0.4"),
        ("slip", "the position of joint2 steps by 0.3"),
        ("spike", "1 torque sample of joint3 at "),
        ("frozen", "all columns stand still for 1.2 s from t = 3 s on"),
    ],
)
def test_readings_that_no_robot_makes_are_named_with_their_time(kind: str, words: str) -> None:
    verdict = tf.identify(arm(), changed(recorded(arm()), kind), friction="plain", couplings=None).verdict
    assert verdict.reasons[0].startswith("readings that no robot makes")
    assert words in verdict.reasons[0]
    assert verdict.grade != "good"
    clean = tf.identify(arm(), recorded(arm()), friction="plain", couplings=None).verdict
    assert "readings" not in str(clean)


def test_a_column_that_copies_another_is_refused() -> None:
    recording = recorded(arm())
    tau = np.array(recording.tau)
    tau[:, 2] = tau[:, 1]
    with pytest.raises(RecordingError, match=r"torques of 'joint2' and 'joint3' are the same .*columns="):
        tf.identify(arm(), replace(recording, tau=tau))


def contacts(q: np.ndarray, width: float) -> np.ndarray:
    """Deflections of contacts that slide from a width on: friction that builds up over positions."""
    z = np.zeros_like(q)
    for k in range(1, len(q)):
        z[k] = np.clip(z[k - 1] + q[k] - q[k - 1], -width, width)
    return np.asarray(z / width)


@pytest.mark.parametrize("seconds", [0.0, 0.02])
def test_friction_that_builds_up_over_positions_is_no_delay(seconds: float) -> None:
    robot = arm()
    path = motion(robot, 1, duration=20.0, rate=500.0)
    tau = tf.inverse_dynamics(robot, path.q, path.qd, path.qdd) + 30.0 * contacts(path.q, 5e-3)
    tau += 0.2 * np.random.default_rng(1).normal(size=tau.shape)
    late = round(500 * seconds)
    n = len(path.t) - late
    fit = tf.identify(robot, tf.Recording(path.t[:n], path.q[late:], tau[:n]))
    # Torques of an earlier sample belong to these positions: they lag.
    assert ("torques lag behind" in said(fit)) == (seconds > 0), said(fit)


def test_a_log_that_stands_still_is_named_and_its_velocities_are_not_blamed() -> None:
    path = motion(arm(), 1, duration=12.0)
    recording = simulated_recording(arm(), path, np.random.default_rng(1), torque_noise=0.5)
    held = {"q": np.array(recording.q), "qd": np.array(path.qd), "tau": np.array(recording.tau)}
    first = int(np.argmax(np.abs(path.qd).min(axis=1)))
    for column in held.values():
        column[first : first + 150] = column[first]
    assert "all columns stand still for 1.5 s" in said(tf.identify(arm(), tf.Recording(recording.t, **held)))
    # A column of another joint is refused all the same.
    with pytest.raises(RecordingError, match="columns look swapped"):
        tf.identify(arm(), tf.Recording(recording.t, **{**held, "qd": held["qd"][:, [1, 0, 2]]}))


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_log_that_stops_while_the_robot_stands_is_named_where_it_ends_elsewhere(goes_on: bool) -> None:
    """A rest of coarse sensors repeats its samples too, and goes on from where it was."""
    path = motion(arm(), 1, duration=12.0)
    rest, first = 60, 500
    # The motion slows down to a rest and out of it: the same path, at another pace.
    slower = np.linspace(1, 0, 50) ** 3
    pace = np.concatenate([np.ones(first), slower, np.zeros(rest), slower[::-1], np.ones(500)])
    clock = np.cumsum(pace)
    q = np.column_stack([np.interp(clock, np.arange(len(path.t)), column) for column in np.asarray(path.q).T])
    tau = tf.inverse_dynamics(arm(), q, np.gradient(q, 0.01, axis=0), 0 * q)
    q, tau = np.round(q, 4), np.round(tau, 1)
    if goes_on:  # the logger repeats the rest while the robot leaves it
        stands = first + 50 + rest // 2
        q[stands : stands + 150], tau[stands : stands + 150] = q[stands], tau[stands]
    bad = " ".join(own.what for own in find_bad_readings(uniform(q, tau), arm().joint_names))
    assert ("all columns stand still" in bad) == goes_on, bad


def uniform(q: Array, tau: Array) -> tuple[Segment, ...]:
    return uniform_segments(tf.Recording(0.01 * np.arange(len(q)), q, tau)).segments


def test_a_gain_whose_interval_holds_zero_is_no_gain() -> None:
    """Torques that have nothing to do with the links' are noise of a joint that carries next to nothing."""
    fit = tf.identify(arm(), recorded(arm()))
    assert fit.source is not None
    gain = _gain(fit.design, Tried(fit.design, sampled(fit.source)), 1)
    for value, spread, is_gain in ((-1.31, 0.23, False), (-0.5, 0.01, True), (-2.0, 0.01, True), (1.0, 0.1, True)):
        trial = Trial(0.1, 0, 0.5, 0.5, np.array([value]), np.array([spread]))
        assert gain.is_possible(trial) == is_gain
