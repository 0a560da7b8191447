"""An arm and a log of it, for verbs that identify."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tauform as tf

WriteLog = Callable[[Callable[[np.ndarray], np.ndarray], float], Path]


@pytest.fixture
def write_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteLog:
    """Write arm.urdf, and log.csv of it with some friction and noise, into the working folder."""

    def write(friction: Callable[[np.ndarray], np.ndarray], noise: float) -> Path:
        monkeypatch.chdir(tmp_path)
        tf.planar_chain(2).save("arm.urdf")
        t = np.arange(0.0, 10.0, 0.01)
        phase, rate = np.outer(t, [2.0, 3.1]), np.array([2.0, 3.1])
        q, qd, qdd = np.sin(phase), rate * np.cos(phase), -(rate**2) * np.sin(phase)
        tau = tf.inverse_dynamics(tf.load("arm.urdf"), q, qd, qdd) + friction(qd)
        tau += np.random.default_rng(0).normal(0, noise, tau.shape)
        np.savetxt("log.csv", np.column_stack([t, q, tau]), delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
        return tmp_path

    return write
