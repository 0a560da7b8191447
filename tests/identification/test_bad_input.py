"""What can be wrong with a recording is said in one clear sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from tauform.cli import main
from tauform.errors import IdentificationError, RecordingError
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.motion.trajectory import Trajectory
from tauform.identification.recording.segments import uniform_segments


def good(noise: tuple[float, ...] = (0.1, 1.0, 0.5), position_noise: float = 0.0) -> tf.Recording:
    """Eight seconds with noise of some percent of each joint's torque."""
    robot, rng = arm(), np.random.default_rng(1)
    return simulated_recording(robot, motion(robot, 1), rng, torque_noise=noise, position_noise=position_noise)


def test_nan_is_named_with_sample_and_joint() -> None:
    recording = good()
    tau = np.array(recording.tau)
    tau[17, 1] = np.nan
    with pytest.raises(RecordingError, match="tau is not a number at sample 17, joint 2"):
        tf.Recording(recording.t, recording.q, tau)


def test_missing_joints_are_named() -> None:
    recording = good()
    with pytest.raises(RecordingError, match="joint3"):
        tf.identify(arm(), tf.Recording(recording.t, recording.q[:, :2], recording.tau[:, :2]))


def test_degrees_are_recognised() -> None:
    recording = good()
    with pytest.raises(RecordingError, match="degrees"):
        tf.identify(arm(), tf.Recording(recording.t, np.rad2deg(recording.q), recording.tau))


def test_velocities_in_degrees_are_recognised() -> None:
    recording = good()
    qd = np.gradient(recording.q, recording.t, axis=0)
    with pytest.raises(RecordingError, match="degrees per second"):
        tf.identify(arm(), tf.Recording(recording.t, recording.q, recording.tau, np.rad2deg(qd)))


def test_milliseconds_are_recognised() -> None:
    recording = good()
    with pytest.raises(RecordingError, match="milliseconds"):
        tf.Recording(1000 * recording.t, recording.q, recording.tau)


def test_time_that_runs_backwards_is_refused() -> None:
    recording = good()
    t = np.array(recording.t)
    t[50] = t[40]
    with pytest.raises(RecordingError, match="backwards after sample 49"):
        tf.Recording(t, recording.q, recording.tau)


def test_a_dead_torque_column_is_named() -> None:
    recording = good()
    tau = np.array(recording.tau)
    tau[:, 2] = 0.0
    with pytest.raises(RecordingError, match="torque of joint 'joint3' is 0"):
        tf.identify(arm(), tf.Recording(recording.t, recording.q, tau))


def test_a_joint_that_never_moves_is_named_with_the_remedy() -> None:
    recording = good()
    q = np.array(recording.q)
    q[:, 1] = 0.25
    with pytest.raises(IdentificationError, match=r"joint 'joint2' never moves.*lock=\{'joint2': 0.25\}"):
        tf.identify(arm(), tf.Recording(recording.t, q, recording.tau))


def test_a_motion_that_does_not_excite_names_parameters_and_motion() -> None:
    robot = arm()
    path = motion(robot, 1)
    # All joints move as one: their parameters cannot be told apart.
    same = Trajectory(path.t, *(np.tile(x[:, :1], (1, 3)) for x in (path.q, path.qd, path.qdd)), path.joint_names)
    recording = simulated_recording(robot, same, np.random.default_rng(0), torque_noise=0.1, exact_states=True)
    with pytest.raises(IdentificationError, match=r"does not show .*_\d.*(accelerate|turn)"):
        tf.identify(robot, recording, filters=None, friction="plain", couplings=None)


def test_a_delay_is_found_and_put_right() -> None:
    recording = good(position_noise=1e-5)
    late = 0.06
    tau = np.column_stack([np.interp(recording.t - late, recording.t, column) for column in recording.tau.T])
    shifted = tf.Recording(recording.t, recording.q, tau)
    with pytest.raises(IdentificationError, match=r"torques lag behind positions by about (5\d|6\d) ms"):
        tf.identify(arm(), shifted)
    in_step, put_right = tf.identify(arm(), recording), tf.identify(arm(), shifted, delay=late)
    assert put_right.held_out.total == pytest.approx(in_step.held_out.total, rel=0.05)
    assert in_step.verdict.grade == "good"
    assert put_right.verdict.grade == "good"


def test_a_joint_whose_torque_is_half_noise_is_not_known_well() -> None:
    fit = tf.identify(arm(), good((2.0, 1.0, 0.5), position_noise=1e-5))
    assert np.sqrt((fit.residuals.measured[:, 0] ** 2).mean()) < 2.0 / 0.4
    assert fit.held_out.total < 0.02
    assert fit.verdict.grade == "usable"
    assert "Ixy_2 is known to no better than 50 % and matters" in str(fit.verdict)


def test_gaps_and_repeats_are_reported_in_words() -> None:
    recording = good()
    keep = np.r_[0:300, 420:801]
    t, q, tau = recording.t[keep], recording.q[keep], recording.tau[keep]
    t, q, tau = np.insert(t, 10, t[10]), np.insert(q, 10, q[10], axis=0), np.insert(tau, 10, tau[10], axis=0)
    parts = uniform_segments(tf.Recording(t, q, tau))
    assert [segment.n_samples for segment in parts.segments] == [300, 381]
    words = " ".join(parts.findings)
    assert "1 sample with a time stamp that was there before" in words
    assert "1 gap," in words


def test_the_command_line_says_one_sentence_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log.csv"
    log.write_text("t,q1,q2\n" + "\n".join(f"{k / 100},0.1,0.2" for k in range(50)))
    report = tmp_path / "report.html"
    assert main(["identify", "two_link", str(log), "--report", str(report)]) == 2
    assert "found no torques of 2 joints" in capsys.readouterr().err
    assert not report.exists()


def test_a_model_that_runs_away_is_a_finding_and_the_rest_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot = with_drives(tf.load("two_link"))
    # Torques as of a rotor with a negative inertia, which friction drives ever faster.
    parameters = np.array(robot.parameters)
    parameters[-3] = 30.0
    parameters[-4] -= tf.mass_matrix(robot, [0.0, 0.0])[1, 1] + 0.05
    wrong = robot.with_parameters(parameters)
    recording = simulated_recording(wrong, motion(robot, 1), np.random.default_rng(1), torque_noise=0.1)
    log, saved = tmp_path / "log.csv", tmp_path / "fit.npz"
    columns = np.column_stack([recording.t, recording.q, recording.tau])
    np.savetxt(log, columns, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    options = ["--simulate", "--friction", "plain", "--no-couplings", "--save", str(saved)]
    assert main(["identify", "two_link", str(log), *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "simulation along log.csv: the model runs away" in said
    assert "take a physically consistent fit, --physical" in said
    assert saved.exists()
