"""Monte-Carlo verification: counts agree with plain NumPy, and depend on neither workers nor how states are divided."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tauform as tf
from tauform.cli import main
from tauform.errors import ModelError
from tauform.realtime import verify as module

N = 25_000


@pytest.fixture(scope="module")
def small() -> tf.Reduction:
    return tf.reduce(tf.load("two_link"), "slow", 0.02, 0.99, n_fresh=20_000, routes=["velocity", "operations"])


def drawn(profile: tf.Profile, seed: int) -> list[np.ndarray]:
    """All states, slice by slice, as NumPy's documentation describes spawned generators."""
    size = module.STATES_PER_SLICE
    parts = [
        profile.sample(min(size, N - first), rng)
        for first, rng in zip(range(0, N, size), np.random.default_rng(seed).spawn(-(-N // size)), strict=True)
    ]
    return [np.concatenate(vectors) for vectors in zip(*parts, strict=True)]


def test_counts_and_quantiles_are_those_of_the_textbook_function(small: tf.Reduction) -> None:
    found = tf.verify(small, n_states=N, seed=3, tolerance=0.005)
    states = drawn(small.profile, 3)
    tau = tf.textbook.inverse_dynamics(small.robot, *states)
    error = np.linalg.norm(small.program(*states) - tau, axis=1) / np.linalg.norm(tau, axis=1)
    assert found.n_above == (error > 0.005).sum()
    assert 0 < found.n_above < N
    assert found.largest == pytest.approx(error.max(), rel=1e-9)
    np.testing.assert_array_equal(found.worst, [vector[error.argmax()] for vector in states])
    for share in (0.5, 0.99, 0.9999):
        true = np.quantile(error, share, method="inverted_cdf")
        assert true * (1 - 1e-9) <= found.quantile(share) <= true * 1.0013
    assert found.quantile(1.0) == found.largest


def test_division_changes_nothing(small: tf.Reduction, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = tf.verify(small, n_states=N)
    monkeypatch.setattr(module, "SLICES_PER_TASK", 1)
    parts = tf.verify(small, n_states=N)
    assert (parts.n_above, parts.largest) == (whole.n_above, whole.largest)
    np.testing.assert_array_equal(parts.worst, whole.worst)
    np.testing.assert_array_equal(parts.counts._counts, whole.counts._counts)


@pytest.mark.nightly
def test_workers_change_nothing(small: tf.Reduction) -> None:
    pytest.importorskip("distributed")
    here, there = (tf.verify(small, n_states=300 * module.STATES_PER_SLICE, workers=workers) for workers in (0, 2))
    assert (here.n_above, here.largest) == (there.n_above, there.largest)
    np.testing.assert_array_equal(here.counts._counts, there.counts._counts)


@pytest.mark.parametrize("function", ["gravity_torque", "mass_matrix", "forward_dynamics"])
def test_exact_programs_of_every_function_are_exact(function: str) -> None:
    robot = tf.load("two_link")
    found = tf.verify(tf.generate(robot, function), robot, "fast", 2000)
    assert found.n_above == 0
    assert found.largest < 1e-11


def test_a_program_of_another_robot_is_found_out() -> None:
    robot = tf.load("two_link")
    other = tf.generate(robot.with_payload(tf.Inertia.of(0.001)), "inverse_dynamics")
    found = tf.verify(other, robot, n_states=2000)
    assert found.n_above > 1900
    assert "above 1e-09" in repr(found)


def test_tolerances_of_joints_are_verified_as_they_were_kept() -> None:
    robot = tf.load("two_link")
    small = tf.reduce(robot, "slow", [0.02, 0.1], 0.99, n_fresh=20_000, routes=["operations"])
    found = tf.verify(small, n_states=N)
    assert found.tolerance == 0.1
    assert found.n_above < 0.012 * N


def test_bad_input_is_one_sentence(small: tf.Reduction) -> None:
    robot = tf.load("two_link")
    program = tf.generate(robot, "inverse_dynamics")
    with pytest.raises(ModelError, match="give it too"):
        tf.verify(program)
    with pytest.raises(ModelError, match="n_states: expected 1 to"):
        tf.verify(program, robot, n_states=0)
    with pytest.raises(ModelError, match="run time"):
        tf.verify(tf.generate(robot, "inverse_dynamics", parameters="runtime"), robot)
    with pytest.raises(ModelError, match="recorded states"):
        tf.verify(program, robot, tf.Profile.trajectory(*np.zeros((3, 4, 2))))
    with pytest.raises(ModelError, match="share"):
        tf.verify(program, robot, n_states=10).quantile(1.5)
    bound = tf.derive(robot, fixed={"joint2": 0.3}).bind(robot)
    fixed = bound.reduce("slow", 0.02, 0.99, n_fresh=2000, routes=["operations"])
    with pytest.raises(ModelError, match=r"reference=reduction\.exact"):
        tf.verify(fixed, n_states=10)


def test_the_command_lists_exact_and_reduced(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["reduce", "two_link", "--tolerance", "0.02", "--confidence", "0.99", "--samples", "20000"]
    assert main([*words, "--route", "velocity", "--verify", "20000", "--json"]) == 0
    held = json.loads(capsys.readouterr().out)["verified"]
    assert held["exact"]["above"] == 0
    assert held["velocity"]["states"] == 20000
    assert held["velocity"]["quantiles"]["0.99"] < 0.02
    assert main([*words, "--workers", "2"]) == 2
    assert "--verify" in capsys.readouterr().err
