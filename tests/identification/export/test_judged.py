"""The motion that a fit was judged on: its clock is that of the recordings, however they are divided."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.identification.export.judged import judged_motion
from tools.simulated_logs import simulated_log
from verdicts.rests import Moves, recorded, slide


def test_a_long_motion_keeps_the_clock_of_its_recording() -> None:
    """Longer than a piece that is filtered at once: pieces overlap, and their seconds count once."""
    robot = tf.load("two_link")
    log = simulated_log(robot, 2, seconds=120.0, rate=500.0)
    fit = tf.identify(robot, simulated_log(robot, 1), validate=[log, simulated_log(robot, 3)], friction="plain")
    motion = judged_motion(fit)
    assert motion is not None
    assert len(motion.stretches) > 2
    times, first = motion.times(), log.duration
    # States are a few samples apart, and the last may lie that much before the end.
    np.testing.assert_allclose(motion.seconds, first + 9.99, atol=0.1)
    steps = np.diff(times[times < first])
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)
    assert times[-1] < motion.seconds


@pytest.mark.parametrize("rate", [500.0, 2000.0])
def test_pauses_count_alike_in_the_verdict_in_torques_and_in_the_shipped_check(rate: float, tmp_path: Path) -> None:
    """One rule leaves rests out of fits, of validation and of the recording beside the C, whatever friction does."""
    described, true = slide()
    moves = Moves((2.0, 4.0), 0.1, 1e-5, "full", pause=0.3)
    fit = tf.identify(
        described, recorded(true, moves, 1, rate), validate=recorded(true, moves, 2, rate), friction="plain"
    )
    motion = judged_motion(fit)
    assert motion is not None
    assert any(stretch.moving is not None for stretch in motion.stretches)
    assert fit.unseen.total < 0.02
    torque = partial(tf.inverse_dynamics, fit.identified_robot)
    assert motion.error_of(torque) == pytest.approx(fit.unseen.total, abs=1e-6)
    fit.write_code(tmp_path / "c", "slide")
    subprocess.run(["make", "-s", "check"], cwd=tmp_path / "c", check=True, capture_output=True)
    # The table holds what was measured, at rest too: another fit may start from it.
    table = np.genfromtxt(tmp_path / "c" / "recording.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(table["tau1"], np.concatenate([stretch.tau[:, 0] for stretch in motion.stretches]))


def test_a_saved_fit_of_moves_with_pauses_reduces_to_the_same_deviations(tmp_path: Path) -> None:
    described, true = slide()
    fit = tf.identify(described, recorded(true, Moves((0.7, 1.5), 0.04, 0.0, "any"), 1), friction="plain")
    again = tf.load_fit(fit.save(tmp_path / "fit.npz"))
    assert (fit.evidence.factors > 1).any()
    np.testing.assert_array_equal(again.evidence.heard, fit.evidence.heard)
    np.testing.assert_allclose(again.reduced().deviations, fit.reduced().deviations, rtol=1e-9)
