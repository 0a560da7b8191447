"""Profiles and bandwidths of recorded motions; measured ones are used where they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.errors import ModelError
from tauform.identification.recording.recording import Recording
from tauform.realtime.multirate.bandwidth import bandwidths
from tauform.realtime.reduction.recorded import recorded_profile, recorded_states


def swinging(robot: tf.Robot, noise: float = 0.0) -> Recording:
    t = np.arange(0.0, 20.0, 0.005)
    w = 2.0 + 0.5 * np.arange(robot.n_joints)
    phase = np.outer(t, w)
    q, qd, qdd = np.sin(phase), w * np.cos(phase), -(w**2) * np.sin(phase)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    return Recording(t, q + noise * np.random.default_rng(0).normal(size=q.shape), tau, name="swing")


def test_recorded_states_are_the_motion() -> None:
    robot = tf.load("two_link")
    (rate, (q, qd, qdd)) = recorded_states(swinging(robot))[0]
    assert rate == pytest.approx(200.0)
    w = np.array([2.0, 2.5])
    np.testing.assert_allclose(qdd, -(w**2) * q, atol=0.02)
    np.testing.assert_allclose(np.abs(qd).max(axis=0), w, rtol=0.01)


def test_a_program_reduced_for_a_recording_keeps_its_promise_there() -> None:
    robot = tf.load("sr6ia")
    profile = recorded_profile(swinging(robot))
    reduction = tf.reduce(robot, profile, 0.02, 0.99, routes=("parameters", "operations"))
    assert profile.recorded is not None
    exact = tf.inverse_dynamics(robot, *profile.recorded)
    error = np.linalg.norm(reduction.compile()(*profile.recorded) - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert np.quantile(error, 0.99) <= 0.02


def test_no_recording_is_refused() -> None:
    with pytest.raises(ModelError, match="no recording"):
        recorded_profile([])


def test_measured_motions_keep_the_promise_on_a_run_that_was_not_used(shared_data: Path) -> None:
    folder = shared_data / "kuka_lwr4"
    robot = tf.load(folder / "kuka_lwr4.urdf")
    runs = [tf.read_recording(folder / f"lwr4_run{k}.csv", robot) for k in (1, 2, 3)]
    reduction = tf.reduce(robot, recorded_profile([runs[0], runs[2]]), 0.01, 0.99, routes=("parameters",))
    assert reduction.program.n_operations < reduction.exact.n_operations
    held_out = recorded_profile(runs[1]).recorded
    assert held_out is not None
    exact = tf.inverse_dynamics(robot, *held_out)
    error = np.linalg.norm(reduction.compile()(*held_out) - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert np.quantile(error, 0.99) <= 0.01


def test_measured_motions_keep_the_promise_on_blocks_that_were_held_out(shared_data: Path) -> None:
    arm = tf.load(shared_data / "kuka_lwr4" / "kuka_lwr4.urdf")
    profile = recorded_profile(tf.read_recording(shared_data / "kuka_lwr4" / "lwr4_run3.csv", arm))
    reduction = tf.reduce(arm, profile, 0.01, 0.99, routes=("parameters",))
    assert reduction.program.n_operations < reduction.exact.n_operations
    unseen = profile.halves()[1].recorded
    assert unseen is not None
    for states in (unseen, profile.recorded):
        assert states is not None
        exact = tf.inverse_dynamics(arm, *states)
        error = np.linalg.norm(reduction.compile()(*states) - exact, axis=1) / np.linalg.norm(exact, axis=1)
        assert (error > 0.01).mean() <= 0.01


def test_accelerations_of_a_measured_motion_have_the_widest_band(shared_data: Path) -> None:
    folder = shared_data / "kuka_lwr4"
    robot = tf.load(folder / "kuka_lwr4.urdf")
    rate, states = recorded_states(tf.read_recording(folder / "lwr4_run1.csv", robot))[0]
    found = bandwidths(robot, *states, rate)
    assert 0 < found.position <= found.velocity <= found.acceleration < 10
    assert found.gravity < 5
