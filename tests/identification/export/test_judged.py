"""The motion that a fit was judged on: its clock is that of the recordings, however they are divided."""

from __future__ import annotations

import numpy as np

import tauform as tf
from tauform.identification.export.judged import judged_motion
from tools.simulated_logs import simulated_log


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
