"""Mistakes that leave a fit without an error of its own: columns of other joints, torques in another unit."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, real_robot, scorer, with_drives
from sampling import representatives
from tauform.errors import RecordingError
from tauform.identification.diagnosis.diagnose import find_clipping
from tauform.identification.diagnosis.explained import Explained
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.diagnosis.swaps import Swap, find_swap
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import choose_filters

MOTION, TORQUE = ("q", "qd", "qdd", "reference"), ("tau",)
FIELDS = {"torques": TORQUE, "positions": MOTION, "positions and torques": MOTION + TORQUE}


def recorded(robot: tf.Robot, seed: int = 1) -> tf.Recording:
    return simulated_recording(robot, motion(robot, seed), np.random.default_rng(seed), torque_noise=0.5)


def reordered(recording: tf.Recording, fields: tuple[str, ...], order: list[int]) -> tf.Recording:
    held = {name: getattr(recording, name) for name in fields}
    return replace(recording, **{name: x[:, order] for name, x in held.items() if x is not None})


def swap_in(robot: tf.Robot, recordings: list[tf.Recording]) -> Swap | None:
    segments = tuple(s for k, recording in enumerate(recordings) for s in uniform_segments(recording, k).segments)
    source = RowSource(Design.of(robot), segments, choose_filters(segments), Smoother())
    return find_swap(Explained(source.design, sampled(source)))


@pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("kind", FIELDS)
def test_swapped_columns_are_named(kind: str, pair: tuple[int, int]) -> None:
    order = [0, 1, 2]
    order[pair[0]], order[pair[1]] = order[pair[1]], order[pair[0]]
    wrong = reordered(recorded(arm()), FIELDS[kind], order)
    verdict = tf.identify(arm(), wrong, friction="plain", couplings=None).verdict
    names = " and ".join(arm().joint_names[j] for j in pair)
    assert verdict.reasons[0].startswith(f"the columns of {names} look swapped ({kind}): exchanged, they leave ")
    assert verdict.grade == "not trustworthy"
    assert "columns=" in verdict.next[0]


def test_an_order_that_is_all_wrong_is_found_whole(tmp_path: Path) -> None:
    wrong = reordered(recorded(arm()), TORQUE, [2, 0, 1])
    fit = tf.identify(arm(), wrong, friction="plain", couplings=None)
    assert (
        "the columns of joint1, joint2 and joint3 look mixed up (torques): taken as those of joint2, joint3, joint1"
        in (fit.verdict.reasons[0])
    )
    again = tf.load_fit(fit.save(tmp_path / "fit.npz"), arm())
    assert again.verdict.reasons == fit.verdict.reasons


def test_velocities_of_another_joint_are_named() -> None:
    recording = recorded(arm())
    qd = np.gradient(recording.q, recording.t, axis=0)[:, [0, 2, 1]]
    with pytest.raises(
        RecordingError, match=r"velocity of joint 'joint2' .* it is that of 'joint3': columns look swapped"
    ):
        tf.identify(arm(), replace(recording, qd=qd))


@pytest.mark.parametrize("robot", [arm(), with_drives(tf.load("two_link")), with_drives(tf.load("kr6_r700"))])
def test_columns_in_order_are_not_suspected(robot: tf.Robot) -> None:
    assert swap_in(robot, [recorded(robot)]) is None
    # Noise that explains nothing is no reason either.
    noise = np.random.default_rng(0).normal(size=recorded(robot).tau.shape)
    assert swap_in(robot, [replace(recorded(robot), tau=100 * noise)]) is None


@pytest.mark.parametrize("seed", [1, 2])
def test_an_exchange_that_makes_up_for_another_mistake_is_not_named(seed: int) -> None:
    """With gravity along x, positions of other joints explain some torques of an LBR7 better, and others worse."""
    robot = with_drives(tf.load("lbr7"))
    path = motion(robot, seed, duration=10.0)
    recording = simulated_recording(robot, path, np.random.default_rng(seed), torque_noise=0.3)
    assert swap_in(replace(robot, gravity=np.array([9.81, 0.0, 0.0])), [recording]) is None


@pytest.mark.parametrize("name", representatives(["tx40", "panda", "lwr4", "ur10"], "ur10"))
def test_real_recordings_are_suspected_where_columns_are_swapped_and_only_there(name: str) -> None:
    robot = real_robot(name)
    recordings = [tf.Recording(t, q, tau, qd) for t, q, qd, tau in scorer().train(name)]
    assert swap_in(robot, recordings) is None
    order = list(range(robot.n_joints))
    order[1], order[2] = 2, 1
    for kind, fields in FIELDS.items():
        found = swap_in(robot, [reordered(recording, fields, order) for recording in recordings])
        assert found is not None
        assert (found.kind, list(found.order)) == (kind, order)
    fit = tf.identify(robot, recordings, friction="plain", couplings=None)
    assert "described masses" not in str(fit.verdict)
    ratios = fit.verdict.gravity_ratios
    assert np.isfinite(ratios).sum() >= 2
    assert ((ratios > 0.8) & (ratios < 1.2) | np.isnan(ratios)).all()


@pytest.mark.parametrize(
    ("gains", "factor"), [(1000.0, "1e+03"), (0.001, "0.001"), (1 / np.array([88.0, 110.0, 45.0]), "0.013"), (8.0, "8")]
)
def test_torques_in_another_unit_are_suspected(gains: float, factor: str) -> None:
    recording = recorded(arm())
    verdict = tf.identify(
        arm(), replace(recording, tau=gains * recording.tau), friction="plain", couplings=None
    ).verdict
    assert f"torques are {factor} times those of the described masses" in str(verdict)
    assert verdict.grade != "good"
    advice = next(sentence for sentence in verdict.next if "gains=" in sentence)
    told = [float(number) for number in re.findall(r"([\d.e+-]+) for joint\d", advice)]
    np.testing.assert_allclose(told, 1 / np.broadcast_to(gains, 3), rtol=0.1)


@pytest.mark.parametrize("gains", [0.5, 2.0, [1.0, 0.5, 0.5], [1.0, 1.7, 1.7]])
def test_a_wrong_gain_shows_in_gravity(gains: float | list[float]) -> None:
    """It leaves no error of its own: the ratio of identified and described gravity tells."""
    recording, names = recorded(arm()), arm().joint_names
    scaled = replace(recording, tau=np.array(gains) * recording.tau)
    fit = tf.identify(arm(), scaled, friction="plain", couplings=None)
    verdict = fit.verdict
    told = np.isfinite(verdict.gravity_ratios)
    assert told.tolist() == [False, True, True]  # the first turns about the vertical
    np.testing.assert_allclose(verdict.gravity_ratios[told], np.broadcast_to(gains, 3)[told], rtol=0.1)
    assert verdict.grade == "usable"
    said = str(verdict)
    # Of both joints, by the described masses or by the fit's values.
    assert f"{verdict.gravity_ratios[1]:.1g}"[:3] in said
    assert f"times at {names[1]}" in said
    assert f"times at {names[2]}" in said
    assert "a torque gain" in said or "the torque gain or gear ratio of joint2, joint3 is wrong" in said
    assert "joint1 is" not in said
    assert any("gains=" in sentence for sentence in verdict.next)


def test_gravity_as_described_is_a_ratio_of_one() -> None:
    fit = tf.identify(arm(), recorded(arm()), friction="plain", couplings=None)
    np.testing.assert_allclose(fit.verdict.gravity_ratios[1:], 1.0, rtol=0.02)
    assert fit.verdict.grade == "good"
    assert "gravity" not in str(fit.verdict)


@pytest.mark.parametrize("masses", ["none", "a third", "all alike"])
def test_other_masses_than_described_are_no_unit(masses: str) -> None:
    """A robot without masses, one with a third of its true ones, and one with a converter's placeholders."""
    recording = recorded(arm())
    links = np.array(arm().parameters)
    if masses == "none":
        links[:30] = 0.0
    elif masses == "a third":
        links[:30] /= 3.0
    else:
        links[:30] = np.tile([1e-3, 0, 0, 0, 1e-5, 0, 1e-5, 0, 0, 1e-5], 3)
    verdict = tf.identify(arm().with_parameters(links), recording, friction="plain", couplings=None).verdict
    if masses == "a third":  # not to be told from a gain
        assert verdict.grade == "usable"
        assert re.search(r"torques are 3 times at joint1, .* those of .* or other masses\)", str(verdict))
    else:
        assert verdict.grade == "good"
        assert "no masses to compare with" in str(verdict)
        assert np.isnan(verdict.gravity_ratios).all()


@pytest.mark.parametrize("shape", ["clipped for a moment", "coarse", "coarse and clipped"])
def test_torques_are_clipped_where_they_stay_at_their_end_and_not_where_a_sensor_is_coarse(shape: str) -> None:
    t = np.arange(2000) / 100.0
    step = 0.1 if "coarse" in shape else 0.0
    tau = np.sin(t) + 0.3 * np.sin(3.1 * t) + 1e-3 * np.random.default_rng(0).normal(size=len(t))
    tau = np.round(tau / step) * step if step else tau
    limit = float(np.sort(tau)[-8]) if shape == "clipped for a moment" else 0.6 if "clipped" in shape else np.inf
    segments = uniform_segments(tf.Recording(t, np.sin(t)[:, None], np.minimum(tau, limit)[:, None])).segments
    found = find_clipping(segments, ("elbow",))
    assert len(found) == ("clipped" in shape)
    assert all("clipped: elbow at " in suspicion.what for suspicion in found)


def test_clipped_torques_of_the_validation_recording_are_named() -> None:
    """They bias the quoted error, though not the values."""
    robot = arm()
    fitted = simulated_recording(robot, motion(robot, 3), np.random.default_rng(0), torque_noise=0.1)
    unseen = simulated_recording(robot, motion(robot, 4), np.random.default_rng(1), torque_noise=0.1)
    limit = 0.6 * np.abs(unseen.tau).max(axis=0)
    cut = tf.Recording(unseen.t, unseen.q, np.clip(unseen.tau, -limit, limit))
    for other, is_named in ((unseen, False), (cut, True)):
        fit = tf.identify(robot, fitted, validate=other, friction="plain", couplings=None)
        said = [suspicion.what for suspicion in fit.suspicions if "validation recording are clipped" in suspicion.what]
        assert bool(said) is is_named


def test_a_joint_that_moves_and_is_not_described_is_named_and_noise_is_not() -> None:
    """A forearm swings that the description holds still: the fit is near, and what is left follows the motion."""
    robot = arm()
    still = robot.locked({robot.joint_names[2]: 0.0})
    path = motion(robot, 3)
    gentle = replace(path, q=path.q * [1, 1, 0.15], qd=path.qd * [1, 1, 0.15], qdd=path.qdd * [1, 1, 0.15])
    whole = simulated_recording(robot, gentle, np.random.default_rng(0), torque_noise=0.5)
    part = tf.Recording(whole.t, whole.q[:, :2], whole.tau[:, :2])
    named = re.compile(
        r"something moves or pulls at joint2 that is not described \(a joint that the description holds still"
    )
    assert any(map(named.search, tf.identify(still, part, friction="plain", couplings=None).verdict.reasons))
    assert not any(map(named.search, tf.identify(robot, whole, friction="plain", couplings=None).verdict.reasons))
