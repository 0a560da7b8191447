"""Identification from the energy model: no acceleration enters, and the same robot comes out."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from tauform.errors import IdentificationError


def recorded(robot: tf.Robot, seconds: float, noise: float = 0.0) -> tuple[tf.Recording, tuple[np.ndarray, ...]]:
    rng, n = np.random.default_rng(0), robot.n_joints
    t, w = np.arange(0, seconds, 0.005), 2 * np.pi / 10 * np.arange(1, 6)
    a, b = 0.5 * rng.normal(size=(2, 5, n))
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd, qdd = s @ a + c @ b, (c * w) @ a - (s * w) @ b, -(s * w**2) @ a - (c * w**2) @ b
    tau = tf.inverse_dynamics(robot, q, qd, qdd) + 0.3 * qd + 0.2 * np.sign(qd)
    tau = tau + noise * np.abs(tau).mean(axis=0) * rng.normal(size=q.shape)
    return tf.Recording(t, q, tau), (q, qd, qdd)


@pytest.mark.parametrize("name", ["two_link", "four_bar"])
def test_energy_model_finds_the_torques(name: str) -> None:
    robot = tf.load(name)
    recording, states = recorded(robot, 30.0, noise=0.01)
    fit = tf.identify(robot, recording, friction="plain", couplings=None, method="energy")
    expected = tf.inverse_dynamics(robot, *states) + 0.3 * states[1] + 0.2 * np.sign(states[1])
    error = np.sqrt(((fit.predict(*states) - expected) ** 2).mean(axis=0) / (expected**2).mean(axis=0))
    assert error.max() < 0.01
    assert "energy" in fit.method
    assert (np.diag(fit.covariance) > 0).all()


def test_its_errors_are_its_own() -> None:
    """Deviations of least squares on torques would hide what the energy of a wrist does not tell."""
    robot = tf.load("four_bar")
    recording, _ = recorded(robot, 12.0, noise=0.05)
    options = {"friction": "plain", "couplings": None}
    energy, torque = (tf.identify(robot, recording, method=m, **options) for m in ("energy", "weighted"))
    assert energy.held_out.total > torque.held_out.total


def test_terms_that_need_accelerations_are_refused() -> None:
    recording, _ = recorded(tf.load("two_link"), 10.0)
    with pytest.raises(IdentificationError, match="method energy takes no friction that depends on load"):
        tf.identify(tf.load("two_link"), recording, friction="load", couplings=None, method="energy")
