"""Encoders that count within one turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.recording import turns
from tauform.identification.recording.stored import is_lazy

TURN = 2 * np.pi


def wrapped(q: np.ndarray) -> np.ndarray:
    return (q + np.pi) % TURN - np.pi


def test_a_fit_does_not_mind_where_the_encoder_jumps() -> None:
    robot = arm()
    record = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=[2.0, 1.0, 0.5])
    # the first axis is vertical: torques do not depend on where its zero is
    middle = record.q[:, 0].mean()
    shifted = np.array(record.q)
    shifted[:, 0] += np.pi - middle
    smooth = replace(record, q=shifted)
    jumping = replace(record, q=wrapped(shifted))
    np.testing.assert_allclose(np.diff(jumping.q, axis=0), np.diff(smooth.q, axis=0), atol=1e-12)
    fits = [tf.identify(robot, r, friction="plain", couplings=None) for r in (smooth, jumping)]
    np.testing.assert_allclose(fits[1].values, fits[0].values, rtol=1e-6, atol=1e-9)
    told = [finding for finding in fits[1].findings if "jump by a turn" in finding]
    assert len(told) == 1
    assert "(joint 1)" in told[0]
    assert not any("jump" in finding for finding in fits[0].findings)


def test_jumps_are_found_between_pieces_and_in_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SAMPLES_PER_PIECE", 7)
    t = np.linspace(0, 30, 500)
    q = np.stack([2 * t, np.sin(t)], axis=1)
    kept = np.memmap(tmp_path / "q", dtype=np.float64, mode="w+", shape=q.shape)
    kept[:] = wrapped(q)
    for values in (wrapped(q), kept):
        found, jumps = turns.unwrapped(values)
        np.testing.assert_allclose(np.asarray(found[:]), q, atol=1e-12)
        assert jumps.tolist() == [int((np.abs(np.diff(wrapped(q)[:, 0])) > np.pi).sum()), 0]
        assert is_lazy(found) == is_lazy(values)


def test_what_is_no_angle_within_a_turn_is_left_alone() -> None:
    t = np.linspace(0, 10, 200)
    degrees = np.stack([100 * np.sin(2 * t), 3 * t], axis=1)  # steps of up to ten
    found, jumps = turns.unwrapped(degrees)
    assert found is degrees
    assert not jumps.any()
