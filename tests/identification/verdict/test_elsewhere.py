"""What a motion never tells apart leaves no error on its own blocks: the figure says what it makes elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.motion.trajectory import Trajectory


def together(share: float, seed: int = 1) -> Trajectory:
    """The arm's motion, its last joint by that share with the second one and else on its own."""
    path = motion(arm(), seed, duration=20.0, harmonics=12)
    q, qd, qdd = (np.array(x) for x in (path.q, path.qd, path.qdd))
    for x in (q, qd, qdd):
        x[:, 2] = share * x[:, 1] + (1 - share) * x[:, 2]
    return replace(path, q=q, qd=qd, qdd=qdd)


def fitted(share: float, method: str = "weighted") -> tf.Fit:
    recording = simulated_recording(arm(), together(share), np.random.default_rng(0), torque_noise=1.0)
    return tf.identify(arm(), recording, friction="plain", couplings=None, method=method)


def error(fit: tf.Fit) -> float:
    """On motions of independent joints, beside what the sensors' noise leaves."""
    squares = np.zeros(2)
    for seed in range(20, 26):
        path = motion(arm(), seed, duration=20.0, harmonics=12)
        true = tf.inverse_dynamics(arm(), path.q, path.qd, path.qdd)
        squares += ((fit.predict(path.q, path.qd, path.qdd) - true) ** 2).mean(), (true**2).mean()
    return float(np.hypot(np.sqrt(squares[0] / squares[1]), fit.held_out.total))


@pytest.mark.parametrize("method", ["weighted", "robust"])
def test_joints_that_move_together_are_quoted_with_the_error_of_joints_that_do_not(method: str) -> None:
    fit = fitted(0.99, method)
    assert error(fit) > 2 * fit.held_out.total
    assert 0.5 * error(fit) < fit.unseen.expected < 3 * error(fit)
    assert fit.verdict.grade != "good"
    assert "not together as they did" in str(fit.verdict)
    assert "expected in postures between the recorded ones" in fit.verdict.figure


def test_joints_that_move_on_their_own_are_quoted_by_their_blocks() -> None:
    fit = fitted(0.0)
    assert fit.unseen.expected < 1.1 * fit.held_out.total
    assert "postures" not in str(fit.verdict)
    assert error(fit) < 1.3 * fit.unseen.expected


def test_refits_and_files_say_what_is_expected_elsewhere(tmp_path: Path) -> None:
    fit = fitted(0.99)
    again = tf.load_fit(fit.save(tmp_path / "fit.json"))
    assert again.unseen.expected == fit.unseen.expected
    assert again.verdict.sentences == fit.verdict.sentences
    # Fewer values scatter less.
    reduced = fit.reduced()
    assert reduced.unseen.elsewhere is not None
    assert reduced.unseen.expected < fit.unseen.expected
    pytest.importorskip("clarabel")
    physical = fit.physically_consistent()
    assert physical.unseen.elsewhere is not None
    assert physical.unseen.expected < fit.unseen.expected
