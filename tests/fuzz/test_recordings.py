"""Damaged logs: reading one, and identifying from what could be read, ends well or is refused in one sentence."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

import tauform as tf
from fuzz.mutations import damaged
from fuzz.runs import cases
from tauform.errors import TauformError

ROBOT = tf.load("two_link")


def log(separator: str, names: str, n_samples: int = 60) -> bytes:
    """A short recording of a swing."""
    t = np.arange(n_samples) * 0.01
    q = np.stack([np.sin(9 * t), np.cos(13 * t)], axis=-1)
    qd = np.stack([9 * np.cos(9 * t), -13 * np.sin(13 * t)], axis=-1)
    tau = tf.inverse_dynamics(ROBOT, q, qd, np.stack([-81 * q[:, 0], -169 * q[:, 1]], axis=-1))
    buffer = io.StringIO()
    header = separator.join(names.split())
    np.savetxt(buffer, np.column_stack([t, q, tau]), delimiter=separator, header=header, comments="", fmt="%.6g")
    return buffer.getvalue().encode()


LOGS = [log(",", "time q1 q2 tau1 tau2"), log(";", "t position_joint1 position_joint2 effort_joint1 effort_joint2")]


def is_sentence(error: TauformError) -> bool:
    return 0 < len(str(error).splitlines()) <= 1


@cases(400)
@given(data=damaged(LOGS))
def test_damaged_csv(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "log.csv"
    path.write_bytes(data)
    assert ends_well(path, identify=len(data) % 8 == 0)


def ends_well(path: Path, identify: bool) -> bool:
    """Whether all that was refused was refused in one line; anything but our own errors passes through."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            recording = tf.read_recording(path, ROBOT)
            assert recording.q.shape == recording.tau.shape == (recording.n_samples, 2)
            if identify:
                fit = tf.identify(ROBOT, recording, friction="plain", couplings=None)
                assert np.isfinite(fit.values).all()
        except TauformError as error:
            return is_sentence(error)
    return True
